package shared

import (
	"fmt"
	"sync"
	"testing"

	"github.com/arcrawl/arcrawl/internal/postgres"
)

// wordsHaveNumbersOfTheirOwn lets many commands say at the same time that files are lost. No two words have the same
// number: a shard that has read one of them would skip the other.
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
}
