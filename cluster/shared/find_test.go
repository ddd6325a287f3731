package shared

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/arcrawl/arcrawl/internal/postgres"
)

// wordsHaveNumbersOfTheirOwn lets many commands say at the same time that files are lost. No two words have the same
// number: a node that has read one of them would skip the other.
func wordsHaveNumbersOfTheirOwn(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := open(t, db, "a"), open(t, db, "b")
	const each = 10
	var commands sync.WaitGroup
	for n := range 8 {
		commands.Go(func() {
			for i := range each {
				if err := []*Store{a, b}[n%2].Lose(ctx, []string{fmt.Sprintf("%d-%d.warc.gz", n, i)}, "lost"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	commands.Wait()
	all, err := a.Losses(ctx, 0)
	must(t, err)
	numbers := map[int64]bool{}
	for _, l := range all {
		numbers[l.Order] = true
	}
	if len(all) != 8*each || len(numbers) != len(all) {
		t.Errorf("%d words have %d numbers, want %d of each", len(all), len(numbers), 8*each)
	}

	var files []string
	for n := range maxLosses + 5 {
		files = append(files, fmt.Sprintf("more-%d.warc.gz", n))
	}
	must(t, a.Lose(ctx, files, "moved"))
	must(t, b.Lose(ctx, []string{"last.warc.gz"}, "found"))
	all, err = a.Losses(ctx, 8*each-1) // one word, and the first ones of the next, which has more than is read at once
	if must(t, err); len(all) != 1+len(files) || all[0].Is != "lost" || all[1].Is != "moved" {
		t.Errorf("%d words were read, want %d", len(all), 1+len(files))
	}
	all, err = a.Losses(ctx, 8*each+1)
	if want := (Loss{"last.warc.gz", "found", 8*each + 2}); err != nil || len(all) != 1 || all[0] != want {
		t.Errorf("the last words are %v, %v; want %v", all, err, want)
	}
}

// payloadsAreShared ships payloads of two nodes. Of each key the last value stays, or the greatest one; and a shipment
// that fails leaves none.
func payloadsAreShared(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := sharing(t, db)
	payload := func(of Table, k, v string) Row { return Row{Key: []byte(k), Value: []byte(v), Of: of} }
	must(t, a.Ship(ctx, All(payload(Payload, "first", "of a"), payload(Greatest, "count", "2"), row("first", "of a part"))))
	broken := errors.New("the store is broken")
	wantErr(t, b.Ship(ctx, func(ship func([]Row) error) error {
		return errors.Join(ship([]Row{payload(Payload, "unshipped", "of b")}), broken)
	}), broken)
	must(t, b.Ship(ctx, All(payload(Payload, "first", "of b"), payload(Greatest, "count", "1"))))
	must(t, b.Ship(ctx, All(payload(Greatest, "count b", "1"))))
	must(t, a.Ship(ctx, All(payload(Greatest, "count b", "3"))))
	var keys [][]byte
	for _, k := range []string{"none", "first", "count", "first", "count b", "unshipped"} {
		keys = append(keys, []byte(k))
	}
	for _, s := range []*Store{a, b} {
		found, err := s.Payloads(ctx, keys...)
		must(t, err)
		if got, want := fmt.Sprintf("%q", found), `["" "of b" "2" "of b" "3" ""]`; got != want || found[0] != nil {
			t.Errorf("found %s, want %s", got, want)
		}
	}
	if got := stored(t, a); len(got) != 1 || got["first"] != "of a part" {
		t.Errorf("the rows of parts are %q", got)
	}
	r, err := Look(ctx, db.URL(db.Address()), func() error { return nil })
	if must(t, err); r.Bytes < 6*8192 { // of both, a table has a page or more, and an index two
		t.Errorf("not all tables are counted in %d bytes", r.Bytes)
	}
}
