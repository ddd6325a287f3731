package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// The index of an earlier version has an entry of a metadata record. The daemon drops it once; the next start does not
// look again.
func TestADaemonDropsEntriesOfRecordsThatAreNotResponses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	odd := uri.FromCanonical("http://odd.example/")
	w, _, err := warcout.Open(warcout.Options{Dir: filepath.Join(dir, "warc")}, now)
	must(err)
	block := "http/1.1 200 OK\r\n\r\n"
	written, err := w.Write(now, warcout.Visit{URI: odd, Date: now, Response: &warcout.Response{
		Block: strings.NewReader(block), Size: int64(len(block)), BlockDigest: digest.Of([]byte(block)),
		PayloadDigest: digest.Of([]byte("payload")),
	}})
	must(err)
	must(w.Close(now))
	must(os.MkdirAll(filepath.Join(dir, "state"), 0o750))
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Now: now})
	must(err)
	_, err = f.Add(now, frontier.Candidate{URI: odd, Seed: odd.String(), Due: now.Add(time.Hour)})
	must(err)
	index, err := dedup.Open(f.DB(), dedup.Options{})
	must(err)
	must(index.Put(dedup.Key{Payload: digest.Of([]byte("payload")), Status: 200}, written.Origin))
	must(f.Close())

	l := daemontest.StartIn(t, dir, nil)
	l.WaitFor(t, "dropped a record that is not a response", odd.String(), "this happens once for each store")
	must(l.End())
	must(os.RemoveAll(filepath.Join(dir, "hosts.d")))
	l = daemontest.StartIn(t, dir, nil)
	l.WaitFor(t, "STATUS=crawling")
	must(l.End())
	if strings.Contains(l.Text(), "once for each store") {
		t.Errorf("the second start looked again:\n%s", l.Text())
	}
}
