package warcout

import (
	"bytes"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// briefRecords returns short records like the records of real visits.
func briefRecords(t testing.TB) (texts [][]byte) {
	t.Helper()
	v := visit("http://www.example.org/world/2026/11/21/a-story-of-some-length.html", nil)
	v.Revisit = &Revisit{Profile: NotModified, Origin: original, ETag: `W/"5f3c-1a2b3c4d"`, LastModified: "Thu, 01 Jan 2026 12:00:00 GMT"}
	v.Head = []byte("HTTP/1.1 304 Not Modified\r\nServer: nginx\r\nDate: Sat, 21 Nov 2026 09:00:00 GMT\r\nETag: W/\"5f3c-1a2b3c4d\"\r\nCache-Control: max-age=300\r\n\r\n")
	v.Request = []byte("GET /world/2026/11/21/a-story-of-some-length.html HTTP/1.1\r\nHost: www.example.org\r\n" +
		"User-Agent: Mozilla/5.0 (compatible; arcrawl/1.0; +https://library.example/crawler)\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\r\n")
	v.Metadata = append(v.Metadata, Field{"via", "http://www.example.org/"}, Field{"contentState", "unchanged"})
	records, err := compose(nil, v, "urn:uuid:0f9619ff-8b86-8d01-b42d-00cf00000000", 1)
	must(t, err)
	for _, r := range records {
		texts = append(texts, r.text)
	}
	return texts
}

func newBrief() *brief { return &brief{code: newBriefCode()} }

func TestShortRecordsAreReadBackUnchanged(t *testing.T) {
	t.Parallel()
	b := newBrief()
	texts := briefRecords(t)
	for c := byte(' '); c <= '~'; c++ { // covers each literal, and matches of all lengths and distances
		texts = append(texts, bytes.Repeat([]byte{c}, 60+2*int(c)), []byte(strings.Repeat(" ", int(c))+"abcdefgh"+strings.Repeat(string(c), 30*int(c))+"abcdefgh"+strings.Repeat("\r\n", int(c))))
	}
	for _, text := range texts {
		member, ok := b.member([]byte("before"), text)
		if !ok {
			if len(text) > 100 && len(text) <= briefLimit {
				t.Errorf("%.80q… was not accepted", text)
			}
			continue
		}
		got, err := readMember(bytes.NewReader(bytes.TrimPrefix(member, []byte("before"))))
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%.80q… is read back as %.80q…: %v", text, got, err)
		}
	}
}

func TestBriefRefusesOtherRecords(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"too long":               strings.Repeat("a", briefLimit+1),
		"not ASCII":              strings.Repeat("a", 100) + "é",
		"a control character":    strings.Repeat("a", 100) + "\x00",
		"shorter as it is":       "ABCDEFG",
		"nothing":                "",
		"a tab between the rest": strings.Repeat("a", 100) + "\tb",
	} {
		if out, ok := newBrief().member([]byte("before"), []byte(text)); ok || string(out) != "before" {
			t.Errorf("%s: taken, %d bytes", name, len(out))
		}
	}
}

// If the code tables fit the records badly, this test fails first.
func TestShortRecordsAreNotLongerThanWithTheGeneralEncoder(t *testing.T) {
	t.Parallel()
	for _, text := range briefRecords(t) {
		var general bytes.Buffer
		zip, err := gzip.NewWriterLevel(&general, DefaultLevel)
		must(t, err)
		_, _ = zip.Write(text)
		_ = zip.Close()
		if member, _ := newBrief().member(nil, text); len(member) > general.Len()*102/100 {
			t.Errorf("%d bytes, by the general encoder %d:\n%s", len(member), general.Len(), text)
		}
	}
}

func FuzzBrief(f *testing.F) {
	for _, text := range briefRecords(f) {
		f.Add(text)
	}
	f.Add([]byte(strings.Repeat("abcd", 900)))
	b := newBrief() // reused for all inputs, without a reset
	f.Fuzz(func(t *testing.T, text []byte) {
		member, ok := b.member(nil, text)
		if !ok {
			return
		}
		if got, err := readMember(bytes.NewReader(member)); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q is read back as %q: %v", text, got, err)
		}
	})
}

// BenchmarkShortRecord compares a short record with the general encoder.
func BenchmarkShortRecord(b *testing.B) {
	texts := briefRecords(b)
	b.Run("brief", func(b *testing.B) {
		short := newBrief()
		var out []byte
		for i := 0; b.Loop(); i++ {
			out, _ = short.member(out[:0], texts[i%len(texts)])
		}
	})
	b.Run("general", func(b *testing.B) {
		var out bytes.Buffer
		zip, err := gzip.NewWriterLevel(&out, DefaultLevel)
		must(b, err)
		for i := 0; b.Loop(); i++ {
			out.Reset()
			zip.Reset(&out)
			_, _ = zip.Write(texts[i%len(texts)])
			_ = zip.Close()
		}
	})
}
