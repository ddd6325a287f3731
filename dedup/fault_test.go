package dedup_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/dedup"
)

// A store that fails makes each method return the cause in a sentence. What was known before is still known, and what
// was not stored is not taken for stored.
func TestEachMethodReturnsTheErrorOfTheStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openStore(t, dir)
	i := openIndex(t, db)
	one, other := original("http://a.example/", "one", "a.warc.gz", 1), original("http://a.example/", "two", "b.warc.gz", 2)
	must(t, i.Put(one.Key, one.Origin))
	must(t, i.Store(dedup.Collection{Number: 1, Name: "removed", State: dedup.Removed}))
	_, err := i.Compare(dir, nil, []string{"gone.warc.gz"}, func(string) bool { return false })
	must(t, err)
	must(t, i.Refer(one.Origin))
	must(t, db.Close())

	lost := i.Losses()
	compare := func(cut map[string]int64, absent ...string) error {
		_, err := i.Compare(dir, cut, absent, func(string) bool { return false })
		return err
	}
	calls := map[string]func() error{
		"Put":        func() error { return i.Put(other.Key, other.Origin) },
		"Put again":  func() error { return i.Put(one.Key, one.Origin) },
		"Replace":    func() error { return i.Replace(one.Key, one.Origin) },
		"Find":       func() error { _, err := i.Find(dedup.Query{Key: one.Key, URI: "http://a.example/"}); return err },
		"Spent":      func() error { _, err := i.Spent(dedup.Policy{Copies: 1}, other.Origin, time.Now()); return err },
		"Flush":      i.Flush,
		"Forget":     func() error { return i.Forget("a.warc.gz", 0) },
		"Lose":       func() error { _, err := i.Lose(dedup.Loss{File: "a.warc.gz"}); return err },
		"Recall":     func() error { return i.Recall("gone.warc.gz") },
		"Healed":     func() error { return i.Healed(lost) },
		"Store":      func() error { return i.Store(dedup.Collection{Number: 2, Name: "imported"}, other) },
		"Purge":      func() error { _, err := i.Purge(t.Context()); return err },
		"each":       func() error { return i.EachPayload(t.Context(), func([]dedup.Held) {}) },
		"Declare":    func() error { _, err := i.Declare(dir, []string{"a.warc.gz"}, dedup.AreLost); return err },
		"Open":       func() error { _, err := dedup.Open(db, dedup.Options{}); return err },
		"a cut":      func() error { return compare(map[string]int64{"c.warc.gz": 1}, "gone.warc.gz") },
		"an absence": func() error { return compare(nil, "c.warc.gz", "gone.warc.gz") },
		"a return":   func() error { return compare(nil) },
	}
	for name, call := range calls {
		err := call()
		if !errors.Is(err, badger.ErrDBClosed) && !errors.Is(err, badger.ErrBlockedWrites) || !strings.Contains(err.Error(), ": ") {
			t.Errorf("%s: %v, want what was attempted and why it failed", name, err)
		}
	}
	if now := i.Losses(); len(now) != len(lost) || now[0] != lost[0] {
		t.Errorf("the losses were %v, and are %v", lost, now)
	}
	if len(i.Collections()) != 1 {
		t.Error("a collection that was not stored is known")
	}
	if err := i.Flush(); err == nil {
		t.Error("the count of a revisit was dropped when it could not be stored")
	}
}

// A record is not stored without the number of its file. Here the transaction is of a store that works, and the numbers
// are in one that fails.
func TestARecordWhoseFileCannotBeNumberedIsNotStored(t *testing.T) {
	t.Parallel()
	db, working := openStore(t, t.TempDir()), openStore(t, t.TempDir())
	i := openIndex(t, db)
	one, same := original("http://a.example/", "one", "a.warc.gz", 1), original("http://b.example/", "one", "b.warc.gz", 2)
	must(t, i.Put(one.Key, one.Origin)) // a.warc.gz has a number
	must(t, openIndex(t, working).Put(one.Key, one.Origin))
	gone := dedup.Collection{Number: 1, Name: "removed", State: dedup.Removed, Files: []string{"gone.warc.gz"}}
	must(t, i.Store(gone))
	bad := dedup.Collection{Number: 2, Name: "bad"}
	if err := i.Store(bad, dedup.Found{}); err == nil || len(i.Collections()) != 1 {
		t.Errorf("Store of a record without a key: %v, %d collections; want an error and only the one of before", err, len(i.Collections()))
	}
	must(t, db.Close())
	for name, change := range map[string]dedup.Change{
		"Put": i.Putting(same.Key, same.Origin, dedup.Digest), "Replace": i.Replacing(same.Key, same.Origin, dedup.Digest),
	} {
		err := working.Update(change)
		if !errors.Is(err, badger.ErrDBClosed) && !errors.Is(err, badger.ErrBlockedWrites) || !strings.Contains(err.Error(), "b.warc.gz") {
			t.Errorf("%s: %v, want an error with the name of the file", name, err)
		}
	}
	if _, err := i.Purge(t.Context()); err == nil {
		t.Error("a collection was purged from a store that fails")
	}
	m, err := openIndex(t, working).Find(dedup.Query{Key: one.Key, URI: "http://b.example/"})
	if err != nil || m.Origin.URI != one.Origin.URI {
		t.Errorf("Find = %+v, %v; want the record of before", m, err)
	}
}
