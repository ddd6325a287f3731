package cluster

import (
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestAPayloadIsFoundInAnotherShard archives a payload on one node of a divided crawl. The other node finds it there as
// soon as it is shipped, until an operator says that its file is lost.
func TestAPayloadIsFoundInAnotherShard(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newPlace(t, db, "a"), newPlace(t, db, "b")
	a.run(func(f *frontier.Frontier) { a.crawl(f, 0, 20) })
	a.split(2)
	one, two := a.ship(), b.ship()
	index := func(s *shipping) *dedup.Index {
		i, err := dedup.Open(s.f.DB(), dedup.Options{Elsewhere: s.n.Payloads()})
		s.must(err)
		return i
	}
	first, second := index(one), index(two)
	key := dedup.Key{Payload: digest.Of([]byte("p")), Strong: digest.SHA256(sha256.Sum256([]byte("p"))).Half(), Status: 200}
	o := digest.Origin{
		RecordID: "urn:uuid:00000000-0000-4000-8000-000000000001", URI: "http://a.example/", Date: time.Now(),
		Payload: key.Payload, File: "of-a.warc.gz", Length: 2, Size: 3,
	}
	one.must(first.Put(key, o))
	query := dedup.Query{Key: key, URI: "http://b.example/"}
	two.eventually("the payload of the other shard", func() bool {
		two.n.foreign.rows = nil // do not wait until rows are read again
		second = index(two)
		m, err := second.Find(query)
		return err == nil && m.Origin.RecordID == o.RecordID && m.Hit == dedup.Other
	})

	heard := func(s *shipping, after int64) []shared.Loss {
		s.Helper()
		list, err := s.n.Losses(t.Context(), after)
		s.must(err)
		return list
	}
	one.must(one.n.Lose(t.Context(), []string{"of-a.warc.gz", "other.warc.gz"}, "lost"))
	one.must(one.n.Lose(t.Context(), []string{"other.warc.gz"}, "found"))
	list := heard(two, 0)
	if want := []shared.Loss{{File: "of-a.warc.gz", Is: "lost", Order: 1}, {File: "other.warc.gz", Is: "found", Order: 2}}; !slices.Equal(list, want) {
		t.Fatalf("node b hears %+v, want %+v", list, want)
	}
	if len(heard(two, 1)) != 1 || len(heard(two, 2)) != 0 {
		t.Error("node b hears again what it has heard")
	}
	two.must(two.n.NoteLosses(t.Context(), 1))
	if got := heard(two, 0); len(got) != 1 || got[0].Order != 2 || len(heard(one, 0)) != 2 {
		t.Errorf("after a start node b hears %+v", got)
	}
	one.leave()
	two.leave()
}
