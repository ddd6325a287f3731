package shared

import (
	"maps"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/postgres"
)

// aCrawlIsDivided divides a crawl among nodes, which exchange letters.
func aCrawlIsDivided(t *testing.T, db *postgres.Server) {
	ctx, url := t.Context(), db.URL(db.Address())
	a := open(t, db, "a")
	refused := func(n int, why string) {
		t.Helper()
		if _, err := Split(ctx, url, n); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("divided into %d: %v, want %q", n, err, why)
		}
	}
	refused(2, "never shipped")
	_, epoch, err := a.Take(ctx, 1, "")
	must(t, err)
	must(t, a.Ship(ctx, epoch, All(row("x", "1"), row("y", "2"), inPart(1, "x", "odd"), inPart(1, "y", "odd too"),
		inPart(OwnPart(1), "z", "of no host"))))
	must(t, a.Complete(ctx, epoch))
	refused(2, "node a crawls")
	must(t, a.Leave(ctx, epoch, false))
	refused(2, "not stopped properly")
	_, epoch, err = a.Take(ctx, 1, "")
	must(t, err)
	must(t, a.Leave(ctx, epoch, true))
	refused(1, "larger multiple")
	refused(MaxShards+1, "larger multiple")
	all, err := Look(ctx, url, func() error { return nil })
	if err != nil || len(all.Shards) != 1 || !all.Shards[0].Whole || all.Shards[0].Epoch != epoch || all.Bytes == 0 {
		t.Errorf("the state of a crawl that is not divided is %+v, %v", all, err)
	}
	if before, err := Split(ctx, url, 2); err != nil || before != 1 {
		t.Fatalf("divided %d shards: %v", before, err)
	}
	refused(3, "larger multiple")

	b := open(t, db, "b")
	st, err := b.Beat(ctx)
	divided := State{Epoch: epoch, Clean: true, Whole: true}
	if err != nil || len(st.Shards) != 2 || st.Shards[1] != divided {
		t.Fatalf("the shards are %+v, %v", st.Shards, err)
	}
	_, one, err := a.Take(ctx, 1, "")
	must(t, err)
	_, _, err = b.Take(ctx, 2, "groups of before")
	wantErr(t, err, ErrGroups)
	_, two, err := b.Take(ctx, 2, "")
	must(t, err)
	must(t, a.Ship(ctx, one, All(row("x", "of a"))))
	must(t, b.Ship(ctx, two, All(Row{Part: 1, Key: []byte("y"), Gone: true}, inPart(1, "ya", "1"), inPart(1, "yb", "2"))))
	must(t, b.Ship(ctx, two, All(Row{Part: 1, Key: []byte("y"), Gone: true, Begins: true})))
	wantErr(t, b.Ship(ctx, two+1, All(row("x", "other epoch"))), ErrOwner)
	if of, got := map[string]string{"0 x": "of a", "0 y": "2", "-1 z": "of no host"}, allRows(t, a); !maps.Equal(got, of) {
		t.Errorf("the rows of shard 1 are %q", got)
	}
	if of, got := map[string]string{"1 x": "odd", "-2 z": "of no host"}, allRows(t, b); !maps.Equal(got, of) {
		t.Errorf("the rows of shard 2 are %q", got)
	}
	if v, err := b.Read(ctx, 0, []byte("x")); err != nil || string(v) != "of a" {
		t.Errorf("a row of another shard is %q, %v", v, err)
	}
	if v, err := b.Read(ctx, 0, []byte("none")); err != nil || v != nil {
		t.Errorf("a row that does not exist is %q, %v", v, err)
	}
	exchange(t, a, b, one, two)

	r, err := Look(ctx, url, func() error { _, err := a.Beat(ctx); return err })
	must(t, err)
	var text strings.Builder
	must(t, r.Write(&text))
	for _, want := range []string{"a     crawls shard 1", "b     does not answer", "its node does not answer"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, &text)
		}
	}

	st, err = a.Beat(ctx)
	must(t, err)
	fence(t, a, st.Shards[1])
	wantErr(t, b.Send(ctx, two, nil), ErrFenced)
	wantErr(t, b.Taken(ctx, two, nil), ErrFenced)
	c := open(t, db, "c")
	if before, three, err := c.Take(ctx, 2, ""); err != nil || three != two+1 || before.Clean {
		t.Errorf("node c took shard 2: %+v, %d, %v", before, three, err)
	}
}

// hostsFollowTheirGroups lets two nodes take a divided crawl, while the groups change and change back. The rows of
// hosts follow, and what their new part has already stays.
func hostsFollowTheirGroups(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, epoch := owner(t, db, "a")
	must(t, a.Ship(ctx, epoch, All(row("x", "1"), row("y", "2"), inPart(1, "x", "odd"), inPart(1, "z", "odd too"))))
	must(t, a.Complete(ctx, epoch))
	must(t, a.Leave(ctx, epoch, true))
	_, err := Split(ctx, db.URL(db.Address()), 2)
	must(t, err)
	to := func(part int16) func(k, _ []byte) (int16, bool) {
		return func(k, _ []byte) (int16, bool) { return part, k[0] == 'x' }
	}
	b := open(t, db, "b")
	_, _, err = b.Take(ctx, 2, "other groups")
	wantErr(t, err, ErrRegroup)
	if moved, err := b.Regroup(ctx, "other groups", to(7)); err != nil || moved != 2 {
		t.Errorf("moved %d rows of x, %v; want the rows of two parts", moved, err)
	}
	if moved, err := b.Regroup(ctx, "other groups", to(9)); err != nil || moved != 0 {
		t.Errorf("moved %d rows although the groups are agreed: %v", moved, err)
	}
	_, taken, err := b.Take(ctx, 2, "other groups")
	if must(t, err); taken != epoch+2 {
		t.Errorf("the epoch is %d after the rows have moved, so copies of %d seem to be the newest", taken, epoch)
	}
	_, _, err = a.Take(ctx, 1, "")
	wantErr(t, err, ErrGroups)
	_, err = a.Regroup(ctx, "", to(0))
	wantErr(t, err, ErrGroups)
	if v, err := a.Read(ctx, 7, []byte("x")); err != nil || string(v) != "1" {
		t.Errorf("the row in its new part is %q, %v; want the first one", v, err)
	}
	must(t, b.Leave(ctx, taken, true))
	if moved, err := a.Regroup(ctx, "", to(0)); err != nil || moved != 1 || len(stored(t, a)) != 3 {
		t.Errorf("moved %d rows back, and have %q, %v", moved, stored(t, a), err)
	}
}

// exchange sends letters from shard 1 to shard 2.
func exchange(t *testing.T, a, b *Store, one, two int64) {
	t.Helper()
	ctx := t.Context()
	send := func(value string) {
		t.Helper()
		must(t, a.Send(ctx, one, []Letter{{Shard: 2, Key: []byte("k"), Value: []byte(value)}}))
	}
	send("1")
	send("1") // the answer to the first was lost
	first, err := b.Letters(ctx, 10)
	if err != nil || len(first) != 1 || string(first[0].Value) != "1" || first[0].Sender != 1 {
		t.Fatalf("the letters are %+v, %v", first, err)
	}
	if own, err := a.Letters(ctx, 10); err != nil || len(own) != 0 {
		t.Errorf("shard 1 has letters: %+v, %v", own, err)
	}
	send("2")
	must(t, b.Taken(ctx, two, first))
	second, err := b.Letters(ctx, 10)
	if err != nil || len(second) != 1 || string(second[0].Value) != "2" {
		t.Fatalf("a letter that was replaced is gone: %+v, %v", second, err)
	}
	must(t, b.Taken(ctx, two, second))
	must(t, b.Taken(ctx, two, second))
	if left, err := b.Letters(ctx, 10); err != nil || len(left) != 0 {
		t.Errorf("the letters %+v are left: %v", left, err)
	}
}
