package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// lettersIn returns how many letters wait in the store of a node.
func (c *crawling) lettersIn() (n int) {
	c.Helper()
	c.must(c.f.DB().View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(letterPrefix)})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			n++
		}
		return nil
	}))
	return n
}

// receives receives letters, and returns whether there may be more.
func (c *crawling) receives() (more bool) {
	c.Helper()
	more, err := c.n.receiveSome(c.Context(), time.Now())
	c.must(err)
	return more
}

func (c *crawling) knows(u uri.URI) bool {
	c.Helper()
	_, known, err := c.f.Get(u)
	c.must(err)
	return known
}

// TestALetterIsRemovedWhenItsURIIsShipped follows a link from node to node. With the next shipment it is in the
// database and not in the store that found it. It stays in the database until the node that receives it has shipped the
// URI. One that dies before receives it again.
func TestALetterIsRemovedWhenItsURIIsShipped(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	a.run(func(f *frontier.Frontier) { a.crawl(f, 0, 20) })
	even, odd := parted()
	one, two := a.open(), b.open()
	one.takes(even)
	two.takes(odd)
	u := link(one)
	if n := a.report().Letters; one.lettersIn() != 1 || n != 0 {
		t.Fatalf("before the shipment %d letters are in the store, and %d in the database", one.lettersIn(), n)
	}
	one.ships()
	one.receives() // none is for this node
	if n := a.report().Letters; one.lettersIn() != 0 || n != 1 || one.n.hasReceived() {
		t.Fatalf("after the shipment %d letters are in the store, and %d in the database", one.lettersIn(), n)
	}

	two.receives()
	if n := a.report().Letters; !two.knows(u) || n != 1 || !two.n.hasReceived() {
		t.Errorf("received: %t; %d letters are in the database, want the one whose URI is not shipped", two.knows(u), n)
	}
	two.die()
	two = b.open()
	two.takes(odd)
	if two.knows(u) {
		t.Error("a URI that was not shipped is known after the node has died")
	}
	two.receives()
	two.ships()
	if n := a.report().Letters; !two.knows(u) || n != 0 || two.n.hasReceived() {
		t.Errorf("received again: %t; %d letters are in the database", two.knows(u), n)
	}
	two.leave()
	one.leave()
}

// TestAPartWithManyLettersIsFull lets letters wait for a part that nobody crawls. Further ones are refused, until there
// are fewer.
func TestAPartWithManyLettersIsFull(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	a := newFixture(t, postgres.New(t), "a")
	a.run(func(f *frontier.Frontier) { a.crawl(f, 0, 20) })
	c := a.open()
	even, _ := parted()
	c.takes(even)
	add := func(path string, want frontier.Added) {
		t.Helper()
		u := uri.FromCanonical("http://" + hostIn(1, 2) + "/new/" + path)
		if added, err := c.f.Add(time.Now(), frontier.Candidate{URI: u}); err != nil || added != want {
			t.Errorf("added %+v, %v; want %+v", added, err, want)
		}
	}
	full := partOf(uri.Host(hostIn(1, 2)), "")
	var rows []shared.Row
	for i := range maxInDatabase {
		rows = append(rows, shared.Row{Of: shared.Letters, Part: full, Key: fmt.Appendf(nil, "%012d", i), Value: []byte("v")})
	}
	c.must(c.n.shared.Ship(t.Context(), shared.All(rows[1:]...)))
	now := time.Now()
	look := func(after time.Duration) {
		t.Helper()
		now = now.Add(after)
		c.must(c.n.lookForFull(t.Context(), now))
	}
	add("1", frontier.Added{Posted: 1})
	look(0)
	add("2", frontier.Added{Posted: 1})
	c.ships() // the two
	look(fullEvery - time.Second)
	add("3", frontier.Added{Posted: 1}) // nobody has looked again
	look(time.Second)
	add("4", frontier.Added{Refused: 1})
	for i := range rows {
		rows[i].Gone = true
	}
	c.must(c.n.shared.Ship(t.Context(), shared.All(rows...)))
	look(fullEvery)
	add("4", frontier.Added{Posted: 1})
	if n := strings.Count(a.log.String(), "too many URIs wait"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, &a.log)
	}
	c.leave()
}

// TestALetterForAPartThatLeavesStays lets a part leave while a letter for it is received, which this node has written
// itself before it owned the part. The next owner gets it.
func TestALetterForAPartThatLeavesStays(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	leave := func() {}
	a.group = func(uri.Host) string { leave(); return "" }
	b.group = func(uri.Host) string { return "" }
	a.run(func(f *frontier.Frontier) { a.crawl(f, 0, 20) })
	even, odd := parted()
	one := a.open()
	one.takes(even)
	u := link(one)
	one.ships()
	one.takes(odd)
	leave = func() { one.n.parts.set(odd, leaving) }
	one.receives()
	leave = func() {}
	one.ships()
	if n := a.report().Letters; n != 1 || one.knows(u) {
		t.Errorf("%d letters are in the database, want the one for the part that leaves; known: %t", n, one.knows(u))
	}
	a.must(one.n.release(t.Context(), odd))
	two := b.open()
	two.takes(odd)
	two.receives()
	two.ships()
	if n := a.report().Letters; n != 0 || !two.knows(u) {
		t.Errorf("%d letters are in the database after the next owner has received them; known: %t", n, two.knows(u))
	}
	one.leave()
	two.leave()
}
