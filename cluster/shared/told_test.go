package shared

import (
	"testing"

	"github.com/arcrawl/arcrawl/internal/postgres"
)

// ownersReport lets the owner of a shard report. A node that is not the owner reports nothing.
func ownersReport(t *testing.T, db *postgres.Server) {
	ctx, url := t.Context(), db.URL(db.Address())
	if all, err := Reports(ctx, url); err != nil || len(all) != 0 {
		t.Errorf("a database without tables has %v, %v", all, err)
	}
	a, b := open(t, db, "a"), open(t, db, "b")
	_, epoch, err := a.Take(ctx, 1, "")
	must(t, err)
	must(t, a.Tell(ctx, epoch, []byte("one")))
	must(t, a.Tell(ctx, epoch, []byte("two")))
	for range 3 {
		_, err := a.Beat(ctx)
		must(t, err)
	}
	wantErr(t, b.Tell(ctx, epoch, []byte("stranger")), ErrOwner)
	wantErr(t, a.Tell(ctx, epoch+1, []byte("other epoch")), ErrOwner)
	if err := a.Tell(ctx, epoch, make([]byte, maxTold+1)); err == nil {
		t.Error("a report without bound was stored")
	}
	all, err := Reports(ctx, url)
	if got := all[1]; err != nil || len(all) != 1 || got.Node != "a" || got.Epoch != epoch || got.Beats != 3 || string(got.Text) != "two" {
		t.Errorf("the reports are %+v, %v", all, err)
	}
}
