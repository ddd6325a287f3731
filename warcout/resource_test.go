package warcout

import (
	"errors"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/digest"
)

func TestAResourceIsARecordOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	long := []byte(strings.Repeat("a key = \"a value\"\n", 100_000))
	for _, content := range [][]byte{[]byte("a = 1\n"), long} {
		out, err := w.WriteResource(start, Resource{"urn:arcrawl:x", start, "application/toml", content})
		if err != nil || out.IsResponse || out.Origin.Payload != digest.Of(content) || out.Origin.URI != "urn:arcrawl:x" {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	if _, err := w.Write(start, visit("http://www.example.org/", page("hello"))); err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteResource(start, Resource{URI: "urn:a", Date: start, ContentType: "text/plain"}); !errors.Is(err, ErrRefused) {
		t.Errorf("an empty resource: %v, want that it is refused", err)
	}
	if err := w.Close(start); err != nil {
		t.Fatal(err)
	}
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
