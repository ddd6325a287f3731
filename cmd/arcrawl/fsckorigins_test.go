package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// An earlier version archived an answer with a status line in lower case as a metadata record, and put it into the
// dedup index.
func TestFsckNamesRecordsThatAreNotResponses(t *testing.T) {
	t.Parallel()
	conf := stock(t, "http://a.example/1")
	dir := filepath.Dir(conf)
	now := time.Now()
	w, _, err := warcout.Open(warcout.Options{Dir: filepath.Join(dir, "warc")}, now)
	if err != nil {
		t.Fatal(err)
	}
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	index, err := dedup.Open(f.DB(), dedup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []string{"http/1.1 200 OK", "HTTP/1.1 200 OK"} {
		block := status + "\r\n\r\n"
		written, err := w.Write(now, warcout.Visit{
			URI: uri.FromCanonical("http://a.example/" + status[:1]), Date: now, Response: &warcout.Response{
				Block: strings.NewReader(block), Size: int64(len(block)), BlockDigest: digest.Of([]byte(block)),
				PayloadDigest: digest.Of([]byte(status)),
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := index.Put(dedup.Key{Payload: digest.Of([]byte(status)), Status: 200}, written.Origin); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(now); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	code, out, errs := command("fsck", "--config", conf)
	named := strings.Contains(out, "1 record that") && strings.Contains(out, `"http://a.example/h"`)
	if code != cli.ExitOK || !named || strings.Contains(out, "http://a.example/H") {
		t.Errorf("exit code %d, want 0 and the name of the one record:\n%s%s", code, out, errs)
	}
}
