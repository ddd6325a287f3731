package warcout

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/digest"
)

func TestAResourceIsARecordOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	long := []byte(strings.Repeat("a key = \"a value\"\n", 100_000))
	for _, content := range [][]byte{[]byte("a = 1\n"), long} {
		out, err := w.WriteResource(start, Resource{URI: "urn:arcrawl:x", Date: start, ContentType: "application/toml", Content: content})
		if err != nil || out.IsResponse || out.Origin.Payload != digest.Of(content) || out.Origin.URI != "urn:arcrawl:x" {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	mustWrite(t, w, start, visit("http://www.example.org/", page("hello")))
	if _, err := w.WriteResource(start, Resource{URI: "urn:a", Date: start, ContentType: "text/plain"}); !errors.Is(err, ErrRefused) {
		t.Errorf("an empty resource: %v, want that it is refused", err)
	}
	must(t, w.Close(start))
	all := readDir(t, dir)
	if len(all) != 6 || all[1].get("WARC-Type") != "resource" || string(all[2].block) != string(long) {
		t.Fatalf("the file has %d records: %+v", len(all), all)
	}
	ids := map[string]bool{}
	for _, r := range all {
		ids[r.get("WARC-Record-ID")] = true
	}
	if len(ids) != len(all) || all[1].get("WARC-Payload-Digest") != digest.Of([]byte("a = 1\n")).String() ||
		all[1].get("WARC-Warcinfo-ID") != all[0].get("WARC-Record-ID") {
		t.Errorf("ids %v; the resource has %+v", ids, all[1].header)
	}
}

// TestALookupIsARecordAsHeritrixWritesIt reads a record of a look-up back.
func TestALookupIsARecordAsHeritrixWritesIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	out, err := w.WriteLookup(start, Lookup{Host: "www.example.org.", Date: start, Addresses: []netip.Addr{
		netip.MustParseAddr("::ffff:192.0.2.7"), netip.MustParseAddr("2001:db8::1"),
	}, TTLs: map[netip.Addr]uint32{netip.MustParseAddr("192.0.2.7"): 300}})
	must(t, errors.Join(err, w.Close(start)))
	const block = "20261121090000\nwww.example.org.\t300\tIN\tA\t192.0.2.7\nwww.example.org.\tIN\tAAAA\t2001:db8::1\n"
	all := readDir(t, dir)
	if len(all) != 2 || string(all[1].block) != block || out.Origin.URI != "dns:www.example.org" {
		t.Fatalf("%d records, %+v; block %q", len(all), out.Origin, all[len(all)-1].block)
	}
	for name, want := range map[string]string{
		"WARC-Type": "response", "WARC-Target-URI": "dns:www.example.org", "Content-Type": "text/dns",
		"WARC-Protocol": "dns", "WARC-Warcinfo-ID": all[0].get("WARC-Record-ID"), "WARC-Concurrent-To": "",
	} {
		if got := all[1].get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// Some readers look an original up by the text of its date.
func TestRevisitsRepeatTheDateOfTheirOriginal(t *testing.T) {
	t.Parallel()
	second := time.Date(2019, 3, 1, 10, 0, 0, 0, time.UTC)
	own, other := "urn:uuid:11111111-2222-8333-8444-555555555555", "urn:uuid:11111111-2222-4333-8444-555555555555"
	for _, c := range []struct {
		id   string
		date time.Time
		want string
	}{
		{other, second, "2019-03-01T10:00:00Z"},
		{"", second, "2019-03-01T10:00:00Z"},
		{other, second.Add(120 * time.Millisecond), "2019-03-01T10:00:00.120Z"},
		{other, second.Add(120 * time.Microsecond), "2019-03-01T10:00:00.000120Z"},
		{own, second, "2019-03-01T10:00:00.000000Z"},
		{own, second.Add(1200 * time.Microsecond), "2019-03-01T10:00:00.001200Z"},
	} {
		o := digest.Origin{RecordID: c.id, URI: "http://www.example.org/", Date: c.date, Payload: digest.Of([]byte("hello"))}
		v := visit("http://www.example.org/", nil)
		v.Revisit = &Revisit{Profile: IdenticalPayload, Head: []byte("HTTP/1.1 200 OK\r\n\r\n"), Origin: o}
		_, all := written(t, Options{}, v)
		if got := all[1].get("WARC-Refers-To-Date"); got != c.want {
			t.Errorf("the revisit of %s at %s refers to %s, want %s", c.id, c.date, got, c.want)
		}
	}
}
