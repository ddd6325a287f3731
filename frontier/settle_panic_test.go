package frontier_test

import (
	"errors"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
)

// A settlement that panics before it is committed leaves everything as it was. The same claim can be settled in another
// way, and settlements of others that shared the transaction are kept.
func TestAPanicWhileSettlingChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/", "http://b.example/", "http://c.example/")
	results := make(chan error)
	var bad frontier.Claim
	var poisoned frontier.Settlement
	for range 3 {
		c := w.claimAny(day)
		o := visited(c, day, time.Hour)
		if c.Record.URI.Host() == "b.example" {
			bad = c
			o.Found = []frontier.Candidate{{URI: parse(t, "http://b.example/found"), Hops: "L"}}
			o.AlsoWrite = func(txn *badger.Txn) error { panic("poison") }
			poisoned = o
		}
		go func() {
			_, err := w.Settle(c, o)
			results <- err
		}()
	}
	var failed []error
	for range 3 {
		if err := <-results; err != nil {
			failed = append(failed, err)
		}
	}
	if p := (*panics.Error)(nil); len(failed) != 1 || !errors.As(failed[0], &p) {
		t.Fatalf("the settlements ended with %v, want one panic", failed)
	}
	w.check()
	if _, ok, err := w.Get(parse(t, "http://b.example/found")); ok || err != nil {
		t.Errorf("Get = %t, %v; want nothing of the settlement that panicked", ok, err)
	}
	poisoned.AlsoWrite, poisoned.Found = nil, nil
	w.settle(bad, poisoned)
	w.check()
	for _, text := range []string{"http://a.example/", "http://b.example/", "http://c.example/"} {
		if r := w.get(text); r.Visits != 1 {
			t.Errorf("%s has %d visits, want 1", text, r.Visits)
		}
	}
}
