package archive

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// damage is one way in which a record is wrong although it can be read. Those that are chosen must have a text in their
// header.
type damage struct {
	kind   string
	chosen string                                      // a pattern of the whole record
	change func(header, block string) (string, string) // digests and length are made to fit
	want   string                                      // severity, kind and a part of the text
}

// each is how often the corpus has each kind of damage.
const each = 10

// replaced returns a change of the header by a pattern.
func replaced(pattern, by string) func(header, block string) (string, string) {
	return func(header, block string) (string, string) {
		return regexp.MustCompile(pattern).ReplaceAllString(header, by), block
	}
}

// withBlock returns a change of the block, or of its part that a pattern describes.
func withBlock(pattern, by string) func(header, block string) (string, string) {
	return func(header, block string) (string, string) {
		return header, regexp.MustCompile(pattern).ReplaceAllString(block, by)
	}
}

var damages = []damage{
	{"a request record with a response", `^WARC-Type: request`, withBlock(`(?s)^.*$`, "HTTP/1.1 200 OK\r\n\r\n"), "error http request record holds a response"},
	{"a response record with a request", `^WARC-Type: response(?s:.*)/leaf`, withBlock(`(?s)^.*$`, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "error http response record holds a request"},
	{"msgtype=response in a request", `^WARC-Type: request`, replaced(`msgtype=\w+`, "msgtype=response"), "error header says msgtype=response"},
	{"msgtype=request in a response", `^WARC-Type: response`, replaced(`msgtype=\w+`, "msgtype=request"), "error header says msgtype=request"},
	{"a request of another date", `^WARC-Type: request`, replaced(`(WARC-Date: )\d{4}`, "${1}2001"), "error request-differs different dates"},
	{"a payload revisit with another profile", `^WARC-Type: revisit(?s:.*)HTTP/1.1 200`, replaced(`identical-payload-digest`, "server-not-modified"), "error header answered 304"},
	{"a revisit of another status", `^WARC-Type: revisit(?s:.*)HTTP/1.1 200`, withBlock(`^HTTP/1.1 200 OK`, "HTTP/1.1 404 Not Found"), "error revisit-differs status 404"},
	{"no block digest", `^WARC-Type: response`, replaced(`WARC-Block-Digest: .*\r\n`, ""), "warning header WARC-Block-Digest is missing"},
	{"no payload digest", `^WARC-Type: response(?s:.*)/leaf`, replaced(`WARC-Payload-Digest: .*\r\n`, ""), "warning header WARC-Payload-Digest is missing"},
	{"a date in the future", `^WARC-Type: metadata`, replaced(`(WARC-Date: )\d{4}`, "${1}2199"), "warning header in the future"},
	{"an original after its revisit", `^WARC-Type: revisit`, replaced(`(WARC-Refers-To-Date: )\d{4}`, "${1}2199"), "warning header after the date of the revisit"},
	{"an unknown reason", `^WARC-Type: metadata`, replaced(`$`, "WARC-Truncated: whim\r\n"), "warning header whim"},
	{"another file name", `^WARC-Type: warcinfo`, replaced(`(WARC-Filename: )`, "${1}other-"), "warning warcinfo another name"},
	{"a coding that the payload does not have", `^WARC-Type: response(?s:.*)/leaf(?s:.*)Content-Encoding: (gzip|br|zstd|deflate)`, withBlock(`(?s)\r\n\r\n.*$`, "\r\n\r\n\x00plain text"), "warning http cannot be decoded"},
}

// TestVerifyFindsEachDamage writes a sound archive of each form and verifies it. Then it damages it at random places,
// each kind of damage [each] times. ARCRAWL_RECORDS is how many sound records it writes at least, ARCRAWL_SEED
// chooses the places.
func TestVerifyFindsEachDamage(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, onlyReaders)
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	records, r := number("ARCRAWL_RECORDS", 5000), rand.New(rand.NewPCG(uint64(number("ARCRAWL_SEED", 1)), 0))
	full, brief := archivetest.New(t), archivetest.NewBrief(t)
	fill(full, r, records/2/3+20)
	fill(brief, r, records*2/9+20) // a visit that finds nothing new has two records
	var sum int
	for _, l := range []*archivetest.Archive{full, brief} {
		o := VerifyOptions{Now: l.Now}
		found, sound := verified(t, o, l.Dir)
		for _, f := range found {
			t.Errorf("in a sound archive: %v", f.Error())
		}
		for _, n := range sound.Records {
			sum += n
		}
		dir, damaged := damagedCopy(t, l, r)
		found, _ = verified(t, o, dir)
		for _, f := range found {
			d, is := damaged[f.Record]
			if !is {
				t.Errorf("in a sound record: %v", f.Error())
				continue
			}
			if words := strings.SplitN(d.want, " ", 3); len(words) == 3 &&
				fmt.Sprint(f.Severity, " ", f.Kind) == words[0]+" "+words[1] && strings.Contains(f.Text, words[2]) {
				d.want = "" // found
			}
		}
		for id, d := range damaged {
			if d.want != "" {
				t.Errorf("not found: %s in %s", d.kind, id)
			}
		}
	}
	if t.Logf("%d sound records", sum); sum < records {
		t.Errorf("%d sound records, want at least %d", sum, records)
	}
}

// fill writes visits of all kinds. Nothing refers to pages whose URI has /leaf.
func fill(l *archivetest.Archive, r *rand.Rand, visits int) {
	type page struct {
		uri, head string
		origin    digest.Origin
	}
	var pages []page
	for i := range visits {
		at := l.Now
		if i%60 == 59 {
			l.Seal()
		}
		coding := []string{"", "", "gzip", "deflate", "br", "zstd"}[r.IntN(6)]
		head := []string{archivetest.HTMLHead, archivetest.ChunkedHead, "HTTP/1.1 200 OK"}[r.IntN(3)]
		if coding != "" {
			head += "\r\nContent-Encoding: " + coding
		}
		uri := fmt.Sprintf("http://h%d.example/%d", r.IntN(20), i)
		body := archivetest.Coded(l.T, coding, strings.Repeat(fmt.Sprint("text ", i), 1+r.IntN(50)))
		switch kind := r.IntN(10); {
		case kind < 3 || len(pages) == 0:
			pages = append(pages, page{uri, head, l.Page(uri, head, body)})
		case kind < 6:
			l.Page(uri+"/leaf", head, body)
		case kind < 8:
			p := pages[r.IntN(len(pages))]
			l.Revisit(p.uri, p.head+"\r\nX-Again: yes", p.origin)
		default:
			p := pages[r.IntN(len(pages))]
			l.NotModified(p.uri, p.origin)
		}
		l.Now = at.Add(time.Minute)
	}
	l.Seal()
}

// damagedCopy copies an archive with damage at random places. damaged has the kind of damage of each id.
func damagedCopy(t *testing.T, l *archivetest.Archive, r *rand.Rand) (dir string, damaged map[string]*damage) {
	t.Helper()
	var files [][]string
	type place struct{ file, record int }
	var places []place
	for _, path := range l.Files() {
		records := splitRecords(string(archivetest.Unzipped(t, path)))
		for i := range records {
			places = append(places, place{len(files), i})
		}
		files = append(files, records)
	}
	r.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	damaged, dir = map[string]*damage{}, t.TempDir()
	id := regexp.MustCompile(`WARC-Record-ID: <([^>]*)>`)
	for _, d := range damages {
		left, fits := each, regexp.MustCompile(`(?m)`+d.chosen)
		for _, p := range places {
			text := &files[p.file][p.record]
			name := id.FindStringSubmatch(*text)[1]
			if damaged[name] != nil || left == 0 || !fits.MatchString(*text) {
				continue
			}
			header, block, _ := strings.Cut(strings.TrimSuffix(*text, "\r\n\r\n"), "\r\n\r\n")
			*text = rebuilt(d.change(header+"\r\n", block))
			damaged[name], left = &damage{kind: d.kind, want: d.want}, left-1
		}
		if left > 0 {
			t.Errorf("%s: %d of %d places found", d.kind, each-left, each)
		}
	}
	for i, path := range l.Files() {
		archivetest.Must(t, os.WriteFile(filepath.Join(dir, filepath.Base(path)), archivetest.Zipped(t, files[i]...), 0o600))
	}
	return dir, damaged
}

var lengthLine = regexp.MustCompile(`Content-Length: (\d+)\r\n`)

// splitRecords returns the records of a file.
func splitRecords(text string) (records []string) {
	for text != "" {
		end := strings.Index(text, "\r\n\r\n") + 4
		n, _ := strconv.Atoi(lengthLine.FindStringSubmatch(text[:end])[1])
		records = append(records, text[:end+n+4])
		text = text[end+n+4:]
	}
	return records
}

// rebuilt returns a record with the digests and the length of its block, as far as the header has them.
func rebuilt(header, block string) string {
	set := func(name, value string) {
		header = regexp.MustCompile(name+`: .*\r\n`).ReplaceAllString(header, name+": "+value+"\r\n")
	}
	set("Content-Length", strconv.Itoa(len(block)))
	set("WARC-Block-Digest", digest.Of([]byte(block)).String())
	if head, body, ok := strings.Cut(block, "\r\n\r\n"); ok && strings.Contains(header, "WARC-Type: response") && !strings.Contains(head, "chunked") {
		set("WARC-Payload-Digest", digest.Of([]byte(body)).String())
	}
	return header + "\r\n" + block + "\r\n\r\n"
}
