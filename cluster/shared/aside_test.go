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
	a := owner(t, db, "a")
	for _, v := range []string{"one", "two", "two", "three", "one"} {
		must(t, a.Ship(ctx, All(row("x", v))))
		must(t, a.SetRowsAside(ctx, []Row{row("x", v)}))
		if got := stored(t, a); len(got) != 0 {
			t.Errorf("the rows %q are left", got)
		}
	}
	kept, err := a.pool.Query(ctx, `SELECT k, v FROM arcrawl.aside WHERE of = 0 AND part = 0`)
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
		letters = append(letters, Letter{Part: 1, Key: r.Key, Value: r.Value})
	}
	must(t, a.SetAside(ctx, letters))
	must(t, a.SetAside(ctx, []Letter{{Part: 1, Key: []byte("more"), Value: []byte("more")}}))
	must(t, a.SetRowsAside(ctx, many("row")[:maxAside-3]))
	must(t, a.SetRowsAside(ctx, []Row{row("more", "more")}))
	for kind, condition := range map[string]string{"rows": "of = 0", "letters": "of = 1"} {
		var n int
		must(t, a.pool.QueryRow(ctx, `SELECT count(*) FROM arcrawl.aside WHERE `+condition).Scan(&n))
		if n != maxAside {
			t.Errorf("%d damaged %s are kept, want %d", n, kind, maxAside)
		}
	}
}

// lettersAreSetAside moves a damaged letter out of the way of others. A whole store replaces the rows of an earlier
// attempt without removing one after the other.
func lettersAreSetAside(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a := owner(t, db, "a")
	onlyPostgres(t, a)
	must(t, a.Ship(ctx, All(row("old", "1"))))
	for _, text := range []string{
		`CREATE FUNCTION arcrawl.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''one by one''; END'`,
		`CREATE TRIGGER slow BEFORE DELETE ON arcrawl.row FOR EACH ROW EXECUTE FUNCTION arcrawl.slow()`,
	} {
		_, err := a.pool.Exec(ctx, text)
		must(t, err)
	}
	must(t, a.Clear(ctx))
	must(t, a.Ship(ctx, All(row("new", "1"))))
	if got := stored(t, a); !maps.Equal(got, map[string]string{"new": "1"}) {
		t.Errorf("the rows are %q", got)
	}

	must(t, a.Ship(ctx, All(letter(1, "a", "fine"), letter(1, "b", "damaged"))))
	damaged := []Letter{{1, []byte("b"), []byte("damaged")}}
	must(t, a.SetAside(ctx, damaged))
	must(t, a.SetAside(ctx, damaged)) // the answer to the first was lost
	must(t, a.SetAside(ctx, []Letter{{1, []byte("a"), []byte("read before it changed")}}))
	if list, err := a.Letters(ctx, every(), 10); err != nil || len(list) != 1 || string(list[0].Value) != "fine" {
		t.Errorf("the letters are %v, %v", list, err)
	}
	r, err := Look(ctx, db.URL(db.Address()), func() error { return nil })
	if err != nil || r.Damaged != 2 || r.Letters != 1 {
		t.Errorf("the state is %+v, %v", r, err)
	}
}

// aReaderDelaysNoWholeStore ships a store again while a transaction reads the table, as a running pg_dump does.
func aReaderDelaysNoWholeStore(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a := owner(t, db, "a")
	onlyPostgres(t, a)
	var many []Row
	for i := range clearRows + 3 {
		many = append(many, row(fmt.Sprintf("k%06d", i), "1"))
	}
	many = append(many, Row{Key: []byte("of another store"), Of: Payload}, inPart(OwnPart(7), "of no host", ""), letter(9, "k", "v"))
	must(t, a.Ship(ctx, All(many...)))
	reader, err := a.pool.Begin(ctx)
	must(t, err)
	defer func() { must(t, reader.Rollback(context.Background())) }()
	_, err = reader.Exec(ctx, `LOCK TABLE arcrawl.row IN ACCESS SHARE MODE`)
	must(t, err)
	brief, cancel := context.WithTimeout(ctx, time.Minute) // a busy machine needs most of it
	defer cancel()
	must(t, a.Clear(brief))
	must(t, a.Ship(brief, All(row("new", "1"))))
	if got := stored(t, a); !maps.Equal(got, map[string]string{"new": "1"}) {
		t.Errorf("%d rows are there, want the new one", len(got))
	}
	if found, err := a.Payloads(ctx, []byte("of another store")); err != nil || found[0] != nil {
		t.Errorf("a payload of another store is left: %q, %v", found, err)
	}
	if left, err := a.Letters(ctx, every(), 10); err != nil || len(left) != 0 {
		t.Errorf("letters of another store are left: %v, %v", left, err)
	}
	must(t, a.Complete(ctx))
	wantErr(t, a.Clear(brief), ErrOwner)
	wantErr(t, a.clearByPortions(brief), ErrOwner)
}
