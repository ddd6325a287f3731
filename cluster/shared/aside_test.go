package shared

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/arcrawl/arcrawl/internal/postgres"
)

// damagedRowsAreKept sets rows aside twice under one key, with another value. Both values stay, and a repetition adds
// nothing. Damaged letters leave room for damaged rows, and neither grows without bound.
func damagedRowsAreKept(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, epoch := owner(t, db, "a")
	for _, v := range []string{"one", "two", "two", "three", "one"} {
		must(t, a.Ship(ctx, epoch, All(row("x", v))))
		must(t, a.SetRowsAside(ctx, epoch, []Row{row("x", v)}))
		if got := stored(t, a); len(got) != 0 {
			t.Errorf("the rows %q are left", got)
		}
	}
	kept, err := a.pool.Query(ctx, `SELECT k, v FROM arcrawl.aside WHERE sender = 0`)
	must(t, err)
	values := map[string]bool{}
	var k, v []byte
	_, err = pgx.ForEachRow(kept, []any{&k, &v}, func() error {
		values[string(v)] = true
		if k[0] != 'x' {
			t.Errorf("the value %q has the key %q, which does not begin with its own", v, k)
		}
		return nil
	})
	must(t, err)
	if want := map[string]bool{"one": true, "two": true, "three": true}; !maps.Equal(values, want) {
		t.Errorf("the values %v were kept, want %v", values, want)
	}

	many := func(kind string) (list []Row) {
		for i := range maxAside {
			list = append(list, row(fmt.Sprintf("%s%d", kind, i), kind))
		}
		return list
	}
	var letters []Letter
	for _, r := range many("letter") {
		letters = append(letters, Letter{Sender: 2, Shard: 1, Key: r.Key, Value: r.Value})
	}
	must(t, a.SetAside(ctx, epoch, letters))
	must(t, a.SetAside(ctx, epoch, []Letter{{Sender: 2, Shard: 1, Key: []byte("more"), Value: []byte("more")}}))
	must(t, a.SetRowsAside(ctx, epoch, many("row")[:maxAside-3]))
	must(t, a.SetRowsAside(ctx, epoch, []Row{row("more", "more")}))
	for kind, condition := range map[string]string{"rows": "sender = 0", "letters": "sender > 0"} {
		var n int
		must(t, a.pool.QueryRow(ctx, `SELECT count(*) FROM arcrawl.aside WHERE `+condition).Scan(&n))
		if n != maxAside {
			t.Errorf("%d damaged %s are kept, want %d", n, kind, maxAside)
		}
	}
}

// aReaderDelaysNoWholeStore ships a store again while a transaction reads the table, as a running pg_dump does.
func aReaderDelaysNoWholeStore(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, epoch := owner(t, db, "a")
	var many []Row
	for i := range clearRows + 3 {
		many = append(many, row(fmt.Sprintf("k%06d", i), "1"))
	}
	must(t, a.Ship(ctx, epoch, All(append(many, Row{Key: []byte("of another store"), Of: Payload})...)))
	reader, err := a.pool.Begin(ctx)
	must(t, err)
	defer func() { must(t, reader.Rollback(context.Background())) }()
	_, err = reader.Exec(ctx, `LOCK TABLE arcrawl.row IN ACCESS SHARE MODE`)
	must(t, err)
	brief, cancel := context.WithTimeout(ctx, time.Minute) // a busy machine needs most of it
	defer cancel()
	must(t, a.Clear(brief, epoch))
	must(t, a.Ship(brief, epoch, All(row("new", "1"))))
	if got := stored(t, a); !maps.Equal(got, map[string]string{"new": "1"}) {
		t.Errorf("%d rows are there, want the new one", len(got))
	}
	if found, err := a.Payloads(ctx, []byte("of another store")); err != nil || found[0] != nil {
		t.Errorf("a payload of another store is left: %q, %v", found, err)
	}
	wantErr(t, a.Clear(brief, epoch+1), ErrOwner)
	wantErr(t, a.clearByPortions(brief, epoch+1, payloads), ErrOwner)
}
