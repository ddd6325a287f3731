package importer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// TestACollectionIsImportedOnce imports a collection in two parts, again under another name, removes it, and restores
// it.
func TestACollectionIsImportedOnce(t *testing.T) {
	t.Parallel()
	i := openIndex(t)
	start := func(c dedup.Collection) *collecting {
		t.Helper()
		m, err := begin(i, c, archivetest.Start)
		archivetest.Must(t, err)
		return m
	}
	original := func(payload string, n int64) dedup.Found {
		o := digest.Origin{
			RecordID: payload, URI: "http://a.example/", Date: archivetest.Start, Payload: digest.Of([]byte(payload)),
			File: "a.warc.gz", Offset: n, Length: 1, Size: int64(len(payload)),
		}
		return dedup.Found{Key: dedup.Key{Payload: o.Payload, Status: 200, MIME: "text/html"}, Origin: o}
	}
	one, two := original("one", 1), original("two", 2)
	revisit := dedup.Found{Key: dedup.Key{Payload: one.Payload}, Revisit: true, Origin: one.Origin}
	c := dedup.Collection{Name: "a.wacz", Hash: "sha256:a", Size: 9, Crawl: "c1"}
	m := start(c)
	archivetest.Must(t, m.add([]dedup.Found{one, revisit}, 1, 100))

	m = start(dedup.Collection{Name: "renamed.wacz", Hash: "sha256:a", Crawl: "c1"}) // the process died
	if m.Position != 100 || m.Entries != 1 || m.Refs != 1 || m.Skipped != 1 {
		t.Fatalf("the import continues with %+v", m.Collection)
	}
	archivetest.Must(t, m.add([]dedup.Found{two}, 0, 200))
	archivetest.Must(t, m.activate(archivetest.Start))
	if originOf(t, i, "one", "text/html").Offset != 1 || originOf(t, i, "two", "text/html").Offset != 2 {
		t.Error("the records of a complete collection do not count")
	}
	before := i.Collections()
	if start(c) != nil {
		t.Error("a complete collection is imported again")
	}
	if diff := cmp.Diff(before, i.Collections()); diff != "" {
		t.Errorf("importing the same twice changed (-before +after):\n%s", diff)
	}

	archivetest.Must(t, Remove(i, before[0], archivetest.Start))
	if !originOf(t, i, "one", "text/html").IsZero() || !i.Lost(one.Origin) {
		t.Error("a record of a removed collection still counts")
	}
	rows, err := Inventory(t.Context(), i)
	archivetest.Must(t, err)
	want := []Row{{Name: "(this crawl)", State: "active"}, {
		Number: 1, Name: "a.wacz", State: "removed", Crawl: "c1", Hash: "sha256:a", Size: 9, Originals: 2, Bytes: 6,
		Changed: archivetest.Start.Format("2006-01-02T15:04:05Z"),
	}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("the index holds -want +got:\n%s", diff)
	}
	if start(c) != nil || originOf(t, i, "one", "text/html").IsZero() || i.Lost(one.Origin) {
		t.Error("importing a removed collection again does not restore it")
	}
	if start(dedup.Collection{Name: "a.wacz", Hash: "sha256:a", Crawl: "c2"}) == nil {
		t.Error("the same file of another crawl is not imported")
	}
}
