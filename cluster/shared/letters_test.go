package shared

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/arcrawl/arcrawl/internal/postgres"
)

// letter returns the row that sends a letter.
func letter(part int16, k, v string) Row {
	return Row{Part: part, Key: []byte(k), Value: []byte(v), Of: Letters}
}

// taken returns the row that removes a letter.
func taken(l Letter) Row {
	return Row{Part: l.Part, Key: l.Key, Value: l.Value, Of: Letters, Gone: true}
}

// lettersAreExchanged sends letters from one node to the parts of another. A letter that has changed since it was read
// stays.
func lettersAreExchanged(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := sharing(t, db)
	ofA, ofB := between(0, 512), between(512, Parts)
	read := func(parts []int16, n int, want ...string) (list []Letter) {
		t.Helper()
		list, err := b.Letters(ctx, parts, n)
		must(t, err)
		var got []string
		for _, l := range list {
			got = append(got, fmt.Sprintf("%d %s=%s", l.Part, l.Key, l.Value))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("the letters are %q, want %q", got, want)
		}
		return list
	}
	must(t, a.Ship(ctx, All(letter(600, "k", "1"))))
	must(t, a.Ship(ctx, All(letter(600, "k", "1")))) // the answer to the first was lost
	must(t, b.Ship(ctx, All(letter(3, "k", "of b"))))
	read(ofA, 10, "3 k=of b")
	first := read(ofB, 10, "600 k=1")
	must(t, a.Ship(ctx, All(letter(600, "k", "2"), row("x", "found it"))))
	must(t, b.Ship(ctx, All(taken(first[0]), inPart(600, "x", "received it"))))
	second := read(ofB, 10, "600 k=2")
	for range 2 {
		must(t, b.Ship(ctx, All(taken(second[0]))))
	}
	read(ofB, 10)
	read(every(), 10, "3 k=of b")
	if got := allRows(t, b, every()); !maps.Equal(got, map[string]string{"0 x": "found it", "600 x": "received it"}) {
		t.Errorf("the rows are %q", got)
	}

	must(t, a.Ship(ctx, All(letter(600, "a", ""), letter(600, "b", ""), letter(601, "a", ""))))
	for n, want := range map[int]map[int16]bool{1: {3: true, 600: true, 601: true}, 2: {600: true}, 3: {}} {
		if full, err := b.Full(ctx, n); err != nil || !maps.Equal(full, want) {
			t.Errorf("parts with %d letters are %v, %v; want %v", n, full, err, want)
		}
	}
	if list, err := b.Letters(ctx, ofB, 2); err != nil || len(list) != 2 {
		t.Errorf("read %d letters, %v; want 2 of 3", len(list), err)
	}
}

// keysAreLockedInOrder ships a key that somebody else has locked, and one behind it. The shipment must not hold the
// second one while it waits for the first, whatever it does with them, and in which order it was handed over.
func keysAreLockedInOrder(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := sharing(t, db)
	const putLetter = `INSERT INTO arcrawl.letter (part, k, v) VALUES (9, $1, 'v') ON CONFLICT (part, k) DO UPDATE SET v = 'w'`
	const putPayload = `INSERT INTO arcrawl.payload (k, v) VALUES ($1, 'v') ON CONFLICT (k) DO UPDATE SET v = 'w'`
	first, second := []byte("1"), []byte("2")
	payload := func(k, v string) Row { return Row{Key: []byte(k), Value: []byte(v), Of: Payload} }
	gone := func(k string) Row { return taken(Letter{9, []byte(k), []byte("v")}) }
	for _, c := range []struct {
		name, put string
		there     bool
		shipped   []Row
	}{
		{"new letters", putLetter, false, []Row{letter(9, "2", "x"), letter(9, "1", "x")}},
		{"letters that are replaced", putLetter, true, []Row{letter(9, "2", "x"), letter(9, "1", "x")}},
		{"one that is replaced, one that is removed", putLetter, true, []Row{letter(9, "2", "x"), gone("1")}},
		{"letters that are removed", putLetter, true, []Row{gone("2"), gone("1")}},
		{"new payloads", putPayload, false, []Row{payload("2", "x"), payload("1", "x")}},
		{"payloads that are replaced", putPayload, true, []Row{payload("2", "x"), payload("1", "x")}},
	} {
		_, err := a.pool.Exec(ctx, `TRUNCATE arcrawl.letter, arcrawl.payload`)
		must(t, err)
		if c.there {
			for _, k := range [][]byte{first, second} {
				_, err := a.pool.Exec(ctx, c.put, k)
				must(t, err)
			}
		}
		holder, err := b.pool.Begin(ctx)
		must(t, err)
		_, err = holder.Exec(ctx, c.put, first)
		must(t, err)
		var shipping sync.WaitGroup
		shipping.Go(func() {
			if err := a.Ship(ctx, All(c.shipped...)); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		})
		awaitLock(t, b)
		_, err = holder.Exec(ctx, `SET LOCAL lock_timeout = '500ms'`)
		must(t, err)
		if _, err = holder.Exec(ctx, c.put, second); err != nil {
			t.Errorf("%s: the shipment holds the second key while it waits for the first: %v", c.name, err)
		}
		must(t, holder.Rollback(ctx))
		shipping.Wait()
	}
}

// lettersCross lets two nodes send each other the same letters again and again, while they remove what they received.
// Neither waits for the other forever, and in the end all letters are gone.
func lettersCross(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a, b := sharing(t, db)
	const each = 150
	node := func(s *Store, mine, other int16) {
		for n := range each {
			received, err := s.Letters(ctx, []int16{mine}, 50)
			if err != nil {
				t.Error(err)
				return
			}
			var list []Row
			for i := range 40 {
				list = append(list, letter(other, fmt.Sprint((i*7+n)%60), fmt.Sprint(n%2)))
			}
			for _, l := range slices.Backward(received) {
				list = append(list, taken(l))
			}
			if err := s.Ship(ctx, All(list...)); err != nil {
				t.Error(err)
				return
			}
		}
	}
	var nodes sync.WaitGroup
	nodes.Go(func() { node(a, 1, 600) })
	nodes.Go(func() { node(b, 600, 1) })
	nodes.Wait()
	noDeadlocks(t, db, a, b)
}

// noDeadlocks closes stores, and makes sure that the database has broken no transaction off because of the others.
func noDeadlocks(t *testing.T, db *postgres.Server, stores ...*Store) {
	t.Helper()
	if !stores[0].able.sessions {
		return // nobody can know
	}
	for _, s := range stores {
		s.Close() // the database counts what a session did when it ends
	}
	time.Sleep(100 * time.Millisecond)
	must(t, visit(t.Context(), db.URL(db.Address()), func(c *pgx.Conn) error {
		var deadlocks int
		const text = `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
		if err := c.QueryRow(t.Context(), text).Scan(&deadlocks); err != nil || deadlocks > 0 {
			t.Errorf("%d deadlocks, %v", deadlocks, err)
		}
		return nil
	}))
}

// hostsFollowTheirGroups lets nodes take a crawl while the groups change and change back. The rows of hosts follow, and
// what their new part has already stays.
func hostsFollowTheirGroups(t *testing.T, db *postgres.Server) {
	ctx := t.Context()
	a := owner(t, db, "a")
	must(t, a.Ship(ctx, All(row("x", "1"), row("y", "2"), inPart(1, "x", "odd"), inPart(1, "z", "odd too"))))
	must(t, a.Complete(ctx))
	must(t, a.Leave(ctx, every(), true))
	to := func(part int16) func(k, _ []byte) (int16, bool) {
		return func(k, _ []byte) (int16, bool) { return part, k[0] == 'x' }
	}
	b := open(t, db, "b")
	_, err := b.Take(ctx, between(0, 10), "other groups")
	wantErr(t, err, ErrRegroup)
	before := beat(t, b)
	if moved, err := b.Regroup(ctx, "other groups", to(7)); err != nil || moved != 2 {
		t.Errorf("moved %d rows of x, %v; want the rows of two parts", moved, err)
	}
	st := beat(t, b)
	for part, p := range st.Parts {
		if p.Epoch != st.Moves || st.Moves <= before.Moves || !p.Clean {
			t.Fatalf("part %d is %+v after rows have moved, with moves %d", part, p, st.Moves)
		}
	}
	if moved, err := b.Regroup(ctx, "other groups", to(9)); err != nil || moved != 0 || beat(t, b).Moves != st.Moves {
		t.Errorf("moved %d rows although the groups are agreed: %v", moved, err)
	}
	taken, err := b.Take(ctx, between(0, 10), "other groups")
	if must(t, err); len(taken) != 10 || taken[0].Epoch != st.Moves+1 {
		t.Errorf("took %+v after the rows have moved", taken)
	}
	_, err = a.Take(ctx, between(10, 20), "")
	wantErr(t, err, ErrGroups)
	_, err = a.Regroup(ctx, "", to(0))
	wantErr(t, err, ErrGroups)
	if v, err := a.Read(ctx, 7, []byte("x")); err != nil || string(v) != "1" {
		t.Errorf("the row in its new part is %q, %v; want the first one", v, err)
	}
	must(t, b.Leave(ctx, between(0, 10), true))
	if moved, err := a.Regroup(ctx, "", to(0)); err != nil || moved != 1 || len(stored(t, a)) != 3 {
		t.Errorf("moved %d rows back, and have %q, %v", moved, stored(t, a), err)
	}
	take(t, a, every())
	_, err = a.Take(ctx, every(), "groups of one node alone")
	wantErr(t, err, ErrRegroup)
	fence(t, b, "a")
	_, err = b.Take(ctx, every(), "other groups")
	wantErr(t, err, ErrRegroup)
}
