package shared

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/arcrawl/arcrawl/internal/postgres"
)

// oneNodeUntilTheCopyIsWhole lets nodes ask for parts before the first one has shipped its store. One gets all of them,
// and nobody takes them from it: it has the only copy.
func oneNodeUntilTheCopyIsWhole(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := open(t, db, "a"), open(t, db, "b")
	none := func(s *Store, parts []int16, what string) {
		t.Helper()
		if taken, err := s.Take(ctx, parts, "groups of "+s.node); err != nil || len(taken) != 0 {
			t.Errorf("%s: took %d parts, %v", what, len(taken), err)
		}
	}
	none(a, between(0, Parts-1), "all parts except one")
	wantErr(t, a.Clear(ctx), ErrOwner)
	for range 2 { // the answer to the first was lost
		if taken, err := a.Take(ctx, every(), "groups of a"); err != nil || len(taken) != Parts {
			t.Fatalf("took %d parts, %v", len(taken), err)
		}
	}
	none(b, every(), "another node")
	wantErr(t, b.Clear(ctx), ErrOwner)
	fence(t, b, "a")
	none(b, every(), "the node is fenced")
	a = open(t, db, "a")
	if taken, err := a.Take(ctx, every(), "new groups of a"); err != nil || len(taken) != Parts {
		t.Fatalf("a new process took %d parts, %v", len(taken), err)
	}
	must(t, a.Clear(ctx))
	must(t, a.Leave(ctx, []int16{8}, true))
	wantErr(t, a.Complete(ctx), ErrOwner)
	none(b, []int16{8}, "one part is free")
	if taken, err := a.Take(ctx, every(), "new groups of a"); err != nil || len(taken) != Parts {
		t.Fatalf("took %d parts after one was released, %v", len(taken), err)
	}
	must(t, a.Complete(ctx))
	_, err := b.Take(ctx, []int16{8}, "groups of b")
	wantErr(t, err, ErrGroups)
	taken, err := b.Take(ctx, []int16{8}, "new groups of a")
	if must(t, err); len(taken) != 0 {
		t.Errorf("took %+v of another node", taken)
	}
}

// rowsFollowTheirParts divides a crawl between two nodes, and moves parts while both crawl.
func rowsFollowTheirParts(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := sharing(t, db)
	must(t, a.Ship(ctx, All(row("x", "1"), row("y", "2"), inPart(OwnPart(a.Number()), "z", "of no host"))))
	must(t, b.Ship(ctx, All(inPart(600, "x", "3"), inPart(600, "y", "4"), inPart(600, "ya", "1"), inPart(600, "yb", "2"),
		inPart(OwnPart(b.Number()), "z", "of b"), inPart(OwnPart(b.Number()), "a", "of b too"))))
	must(t, b.Ship(ctx, All(Row{Part: 600, Key: []byte("y"), Gone: true, Begins: true}, inPart(600, "yc", "after it"))))
	must(t, b.Leave(ctx, []int16{600}, true))
	if taken := take(t, a, []int16{600}); taken[0].Before.Owner != "" || !taken[0].Before.Clean {
		t.Errorf("took %+v from a node that released it", taken)
	}
	want := map[string]string{"0 x": "1", "0 y": "2", "600 x": "3", "600 yc": "after it"}
	if got := allRows(t, a, every()); !maps.Equal(got, want) {
		t.Errorf("the rows are %q, want %q", got, want)
	}
	if got := allRows(t, a, []int16{1, 600}); len(got) != 2 {
		t.Errorf("the rows of two parts are %q", got)
	}
	var own []string
	must(t, a.OwnRows(ctx, func(number int, k, v []byte) error {
		own = append(own, fmt.Sprintf("%d %s=%s", number, k, v))
		return nil
	}))
	if want := []string{"1 z=of no host", "2 a=of b too", "2 z=of b"}; !slices.Equal(own, want) {
		t.Errorf("the rows of no host are %q, want %q", own, want)
	}
	if v, err := b.Read(ctx, 0, []byte("x")); err != nil || string(v) != "1" {
		t.Errorf("a row of another node is %q, %v", v, err)
	}
	if v, err := b.Read(ctx, 0, []byte("none")); err != nil || v != nil {
		t.Errorf("a row that does not exist is %q, %v", v, err)
	}
	st := beat(t, b)
	if got := fmt.Sprint(st.Crawler(0), st.Crawler(600), st.Crawler(601)); got != "aab" && got != "a a b" {
		t.Errorf("the parts 0, 600 and 601 are crawled by %s", got)
	}
}

// partsHaveOneOwner lets nodes take and release the same parts at the same moment, in any order. Each free part goes to
// exactly one of them.
func partsHaveOneOwner(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := owner(t, db, "a"), open(t, db, "b")
	must(t, a.Complete(ctx))
	must(t, a.Leave(ctx, every(), true))
	nodes := []*Store{a, b, open(t, db, "c")}
	epochs := map[int64]string{}
	for range 20 {
		asked, got := make([][]int16, len(nodes)), make([][]Taken, len(nodes))
		at := func(do func(i int) error) {
			var all sync.WaitGroup
			for i := range nodes {
				all.Go(func() {
					if err := do(i); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
		free := map[int16]bool{}
		for i := range nodes {
			for _, part := range rand.Perm(Parts)[:600] {
				asked[i] = append(asked[i], int16(part))
				free[int16(part)] = true
			}
		}
		at(func(i int) (err error) { got[i], err = nodes[i].Take(ctx, asked[i], ""); return err })
		st, owners := beat(t, b), map[int16]string{}
		for i, taken := range got {
			for _, p := range taken {
				if other, found := owners[p.Part]; found {
					t.Fatalf("part %d was taken by %s and %s", p.Part, other, nodes[i].node)
				}
				owners[p.Part] = nodes[i].node
				if st.Parts[p.Part] != (Part{Owner: nodes[i].node, Epoch: p.Epoch}) || p.Epoch > st.Moves || !p.Before.Clean {
					t.Fatalf("part %d is %+v, but was taken as %+v", p.Part, st.Parts[p.Part], p)
				}
				if who := epochs[p.Epoch]; who != "" && who != nodes[i].node {
					t.Fatalf("%s and %s have the epoch %d", who, nodes[i].node, p.Epoch)
				}
				epochs[p.Epoch] = nodes[i].node
			}
		}
		if len(owners) != len(free) {
			t.Fatalf("%d of %d parts were taken", len(owners), len(free))
		}
		at(func(i int) error { return nodes[i].Leave(ctx, asked[i], true) })
		for part, p := range beat(t, a).Parts {
			if p.Owner != "" {
				t.Fatalf("part %d belongs to %s after all were released", part, p.Owner)
			}
		}
	}
	noDeadlocks(t, db, nodes...)
}

// takeAgainstFence takes parts of a node while it is fenced, and fences a node while it takes parts.
func takeAgainstFence(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := owner(t, db, "a"), open(t, db, "b")
	must(t, a.Complete(ctx))
	fencing, err := b.pool.Begin(ctx)
	must(t, err)
	_, err = fencing.Exec(ctx, `UPDATE arcrawl.node SET fenced = true WHERE name = 'a'`)
	must(t, err)
	if taken, err := b.Take(ctx, every(), ""); err != nil || len(taken) != 0 {
		t.Errorf("took %d parts of a node that is not fenced yet: %v", len(taken), err)
	}
	must(t, fencing.Commit(ctx))
	if taken := take(t, b, every()); taken[0].Before.Owner != "a" {
		t.Errorf("took %+v of a fenced node", taken[0])
	}

	c := open(t, db, "c")
	must(t, b.Leave(ctx, between(0, 100), true))
	taking, err := b.pool.Begin(ctx)
	must(t, err)
	must(t, b.lock(ctx, taking))
	got, err := b.take(ctx, taking, between(0, 100), "")
	must(t, err)
	before, done := beatOf(t, c, "b"), false
	var waiting sync.WaitGroup
	waiting.Go(func() { done, err = c.Fence(ctx, "b", before) })
	awaitLock(t, a)
	must(t, taking.Commit(ctx))
	if waiting.Wait(); !done || err != nil {
		t.Fatalf("the node was not fenced: %t, %v", done, err)
	}
	if taken := take(t, c, every()); taken[0].Before.Epoch != got[0].Epoch || taken[0].Epoch <= got[0].Epoch {
		t.Errorf("took %+v after %+v", taken[0], got[0])
	}
	_, err = b.Take(ctx, every(), "")
	wantErr(t, err, ErrFenced)
	b = open(t, db, "b") // it is not fenced any more, and what it owned belongs to another node
	if taken, err := b.Take(ctx, every(), ""); err != nil || len(taken) != 0 {
		t.Errorf("took %d parts back: %v", len(taken), err)
	}
}

// aReleaseIsRepeated releases parts twice, because the answer to the first attempt was lost. Meanwhile another node has
// taken some of them.
func aReleaseIsRepeated(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := sharing(t, db)
	must(t, a.Leave(ctx, between(0, 10), true))
	take(t, b, between(0, 5))
	before := beat(t, b)
	must(t, a.Leave(ctx, between(0, 10), false))
	must(t, a.Leave(ctx, nil, false))
	st := beat(t, b)
	if st.Moves != before.Moves || !slices.Equal(st.Parts, before.Parts) {
		t.Errorf("the repetition has changed %+v to %+v", before.Parts[:11], st.Parts[:11])
	}
	if got := [3]string{st.Parts[4].Owner, st.Parts[5].Owner, st.Parts[10].Owner}; got != [3]string{"b", "", "a"} || !st.Parts[5].Clean {
		t.Errorf("the parts 4, 5 and 10 belong to %q", got)
	}
	must(t, a.Leave(ctx, []int16{10}, false))
	if p := beat(t, b).Parts[10]; p.Clean || p.Owner != "" {
		t.Errorf("what was not released properly is %+v", p)
	}
}

// aCommitComesLate leaves a shipment open whose node has given it up, but which the database still commits. The next
// shipment and the release of its parts come after it.
func aCommitComesLate(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := sharing(t, db)
	for what, next := range map[string]func() error{
		"a shipment that removes the row again": func() error { return a.Ship(ctx, All(Row{Key: []byte("x"), Gone: true})) },
		"a release of its part":                 func() error { return a.Leave(ctx, []int16{0}, true) },
	} {
		late := halfShipped(t, a, row("x", "late"))
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if err := next(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			rows := allRows(t, b, []int16{0})
			if gone := strings.Contains(what, "removes"); gone != (rows["0 x"] == "") {
				t.Errorf("after %s the rows are %q", what, rows)
			}
		})
		awaitLock(t, b)
		must(t, late.Commit(ctx))
		waiting.Wait()
	}
}

// beatsReadChangesOnly beats while nobody can read the parts. Only a beat after a change needs them.
func beatsReadChangesOnly(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := sharing(t, db)
	st := beat(t, a)
	rename := func(from, to string) {
		t.Helper()
		_, err := b.pool.Exec(ctx, `ALTER TABLE arcrawl.`+from+` RENAME TO `+to)
		must(t, err)
	}
	rename("part", "hidden")
	if next := beat(t, a); next.Moves != st.Moves || !slices.Equal(next.Parts, st.Parts) || next.Own != st.Own+1 {
		t.Errorf("nothing has changed, but moves are %d after %d", next.Moves, st.Moves)
	}
	rename("hidden", "part")
	must(t, b.Leave(ctx, []int16{700}, true))
	rename("part", "hidden")
	if _, err := a.Beat(ctx); err == nil {
		t.Error("a beat has not looked at what has changed: the test shows nothing")
	}
	rename("hidden", "part")
	if next := beat(t, a); next.Moves != st.Moves+1 || next.Parts[700] != (Part{Epoch: st.Parts[700].Epoch, Clean: true}) {
		t.Errorf("after a release moves are %d, and part 700 is %+v", next.Moves, next.Parts[700])
	}
	take(t, b, []int16{700})
	if next := beat(t, a); next.Parts[700] != (Part{Owner: "b", Epoch: st.Moves + 2}) {
		t.Errorf("after it was taken, part 700 is %+v", next.Parts[700])
	}
}

// numbersAreUnique lets nodes use a new database at the same moment. Each gets a number of its own.
func numbersAreUnique(t *testing.T, db *postgres.Server) {
	const n = 8
	numbers := make([]int, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			s, err := Open(t.Context(), db.URL(db.Address()), fmt.Sprint("node", i))
			if err != nil {
				t.Error(err)
				return
			}
			numbers[i] = s.Number()
			s.Close()
		})
	}
	all.Wait()
	if slices.Sort(numbers); !slices.Equal(numbers, []int{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("the numbers are %v", numbers)
	}
}

// nodesAreRemoved removes a node. Its rows that are about no host stay, and nobody gets its number.
func nodesAreRemoved(t *testing.T, db *postgres.Server) {
	ctx, url := t.Context(), db.URL(db.Address())
	a, b := sharing(t, db)
	still := func() error { return nil }
	refused := func(node, why string, wait func() error) {
		t.Helper()
		if err := Remove(ctx, url, node, wait); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("remove %s: %v, want %q", node, err, why)
		}
	}
	refused("b", "it runs", func() error { _, err := b.Beat(ctx); return err })
	refused("b", "it crawls 50 % of the hosts", still)
	refused("z", "no node with this name", still)
	must(t, b.Ship(ctx, All(inPart(OwnPart(b.Number()), "k", "of b"))))
	must(t, b.Tell(ctx, []byte("state")))
	must(t, b.Leave(ctx, every(), true))
	must(t, Remove(ctx, url, "b", still))
	wantErr(t, b.Ship(ctx, All(row("x", "1"))), ErrFenced)
	if names, err := a.Names(ctx); err != nil || !slices.Equal(names, []string{"a"}) {
		t.Errorf("the nodes are %q, %v", names, err)
	}
	if told, err := Reports(ctx, url); err != nil || len(told) != 0 {
		t.Errorf("the reports are %v, %v", told, err)
	}
	again := open(t, db, "b")
	st := beat(t, a)
	if again.Number() != 3 || len(st.Nodes) != 2 || st.Nodes[1].Number != 3 || st.Nodes[0].Number != 1 {
		t.Errorf("the node joined again as %d: %+v", again.Number(), st.Nodes)
	}
}

// copiesAreExported exports a crawl that no node owns, before and after all parts were released properly.
func copiesAreExported(t *testing.T, db *postgres.Server) {
	ctx, url := t.Context(), db.URL(db.Address())
	refused := func(why string) {
		t.Helper()
		err := Export(ctx, url, func(Copies) error { t.Error("it was exported"); return nil })
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("exported: %v, want %q", err, why)
		}
	}
	refused("no node has used")
	a := open(t, db, "a")
	refused("never shipped")
	take(t, a, every())
	must(t, a.Ship(ctx, All(inPart(5, "k", "v"), inPart(OwnPart(1), "k", "own"), letter(6, "k", "letter"), Row{Key: []byte("p"), Of: Payload})))
	must(t, a.Complete(ctx))
	must(t, a.Leave(ctx, between(1, Parts), true))
	refused("node a crawls")
	must(t, a.Leave(ctx, []int16{0}, false))
	must(t, Export(ctx, url, func(c Copies) error {
		if c.Clean {
			t.Error("a part that was left as it was is called clean")
		}
		return nil
	}))
	take(t, a, []int16{0})
	must(t, a.Leave(ctx, []int16{0}, true))
	var got []string
	add := func(what string) func(k, v []byte) error {
		return func(k, v []byte) error { got = append(got, fmt.Sprintf("%s %s=%s", what, k, v)); return nil }
	}
	must(t, Export(ctx, url, func(c Copies) error {
		if !c.Clean {
			t.Error("parts that were released properly are not called clean")
		}
		must(t, c.Each(ctx, 5, add("part")))
		must(t, c.Each(ctx, 6, add("part")))
		must(t, c.Payloads(ctx, add("payload")))
		must(t, c.Letters(ctx, func(v []byte) error { return add("letter")(nil, v) }))
		must(t, c.OwnRows(ctx, func(number int, k, v []byte) error { return add(fmt.Sprint("node ", number))(k, v) }))
		taking, err := a.pool.Begin(ctx)
		must(t, err)
		defer func() { must(t, taking.Rollback(context.Background())) }()
		_, err = taking.Exec(ctx, `SET LOCAL lock_timeout = '100ms'`)
		must(t, err)
		if _, err := a.take(ctx, taking, every(), ""); !isLocked(err) {
			t.Errorf("parts were taken during the export: %v", err)
		}
		beat(t, a)
		return nil
	}))
	if want := []string{"part k=v", "payload p=", "letter =letter", "node 1 k=own"}; !slices.Equal(got, want) {
		t.Errorf("exported %q, want %q", got, want)
	}
	broken := pgx.ErrTooManyRows
	wantErr(t, Export(ctx, url, func(Copies) error { return broken }), broken)
}
