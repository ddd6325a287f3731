package shared

import (
	"fmt"
	"testing"

	"github.com/arcrawl/arcrawl/internal/postgres"
)

// nodesReport lets two nodes report, of which one owns nothing. The last report of each counts.
func nodesReport(t *testing.T, db *postgres.Server) {
	ctx, url := t.Context(), db.URL(db.Address())
	_, err := Reports(ctx, url)
	wantErr(t, err, ErrUnused)
	a, b := owner(t, db, "a"), open(t, db, "b")
	must(t, a.Tell(ctx, []byte("one")))
	must(t, a.Tell(ctx, []byte("two")))
	for range 3 {
		beat(t, a)
	}
	must(t, b.Tell(ctx, []byte("idle")))
	if err := a.Tell(ctx, make([]byte, maxTold+1)); err == nil {
		t.Error("a report without bound was stored")
	}
	all, err := Reports(ctx, url)
	want := map[string]Told{"a": {3, []byte("two")}, "b": {0, []byte("idle")}}
	if fmt.Sprint(all) != fmt.Sprint(want) || err != nil {
		t.Errorf("the reports are %v, %v; want %v", all, err, want)
	}
}
