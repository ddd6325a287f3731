package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// TestAPartIsReleasedWhenItsVisitsHaveEnded drains a node while it visits a URI. Nothing else is claimed. All parts are
// released but the one of the URI, which follows when the visit has ended. Nothing is shipped afterwards.
func TestAPartIsReleasedWhenItsVisitsHaveEnded(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	one := a.join()
	one.has(shared.Parts, shared.Parts)
	a.crawl(one.f, 0, 100)
	_, err := one.f.Add(time.Now(), frontier.Candidate{URI: uri.FromCanonical("http://long.example/")},
		frontier.Candidate{URI: uri.FromCanonical("http://h1.example/other")})
	a.must(err)
	next, _ := one.f.NextReady()
	claim, ok, err := one.f.Claim(next)
	if err != nil || !ok {
		t.Fatalf("claimed nothing: %v", err)
	}
	want := a.histories(one.f)
	two := b.join()
	two.eventually("it is there", func() bool { return len(a.report().Nodes) == 2 })
	a.must(shared.Drain(t.Context(), a.options().Database, "a", true))
	part := []int16{one.n.partOf(claim.Record.URI.Host())}
	one.eventually("the other parts have left", func() bool {
		return slices.Equal(one.n.parts.in(leaving), part) && len(one.n.parts.in(here)) == 0
	})
	for range 5 {
		time.Sleep(claimsEvery)
		if list := one.n.parts.in(leaving); !slices.Equal(list, part) {
			t.Fatalf("the parts %v are leaving, want only the one with a visit in progress", list)
		}
		if _, ok, err := one.f.Claim(time.Now().Add(time.Hour)); ok || err != nil {
			t.Fatalf("claimed %t, %v of what is leaving", ok, err)
		}
	}
	r := claim.Record
	r.Visits, r.Due = 77, time.Now().Add(time.Hour)
	_, err = one.f.Settle(claim, frontier.Settlement{Record: r, Finished: time.Now()})
	a.must(err)
	two.has(shared.Parts, shared.Parts)
	one.has(0, 0)
	got := b.histories(two.f)
	if len(got) != len(want) || !slices.ContainsFunc(got, func(h string) bool { return strings.Contains(h, " 77 ") }) {
		t.Errorf("node b has\n%v\nwant\n%v", got, want)
	}
	a.crawl(one.f, 200, 220) // of other nodes
	a.must(one.n.flush(t.Context()))
	two.has(shared.Parts, shared.Parts)
	two.eventually("the URIs that a has found", func() bool { return a.report().Letters == 0 })
	two.has(shared.Parts, shared.Parts)
	two.equalsCopy()
	if n := len(a.histories(one.f)); n != 0 {
		t.Errorf("node a has %d URIs after it was drained", n)
	}
	one.leave()
	two.leave()
}

// TestAStopFinishesARelease stops a node between the last shipment of parts and the moment at which the database knows
// that they are released. They are released properly all the same.
func TestAStopFinishesARelease(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a := newFixture(t, db, "a")
	one := a.open()
	one.takes(allParts())
	a.crawl(one.f, 0, 100)
	_, odd := parted()
	one.n.parts.set(odd, leaving)
	_, err := one.f.PartWith()
	a.must(err)
	one.ships()
	one.n.parts.leave(odd, remains)
	one.leave()
	for part, is := range ownersOf(t, db.URL(db.Address())) {
		if is.Owner != "" || !is.Clean {
			t.Fatalf("part %d is %+v", part, is)
		}
	}
}

// TestAStopWhileRowsAreRemoved stops a node that has released parts, and whose rows of them are not removed yet. When
// it takes the parts again, after others have crawled them, nothing is left of these rows.
func TestAStopWhileRowsAreRemoved(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	one := a.open()
	one.takes(allParts())
	a.crawl(one.f, 0, 100)
	_, odd := parted()
	one.n.parts.set(odd, leaving)
	if busy, err := one.f.PartWith(); len(busy) > 0 || err != nil {
		t.Fatalf("%q have claims, %v", busy, err)
	}
	a.must(one.n.release(t.Context(), odd))
	one.leave() // nothing has removed the rows

	two := b.open()
	two.takes(odd)
	for _, h := range two.f.Hosts(time.Now()) {
		_, err := two.f.Add(time.Now(), frontier.Candidate{URI: uri.FromCanonical(fmt.Sprintf("http://%s/new", h.Host))})
		b.must(err)
	}
	for now, visits := time.Now(), 0; visits < 60; now = now.Add(time.Minute) {
		c, ok, err := two.f.Claim(now.Add(time.Hour))
		if b.must(err); ok {
			c.Record.Due, c.Record.Visits, visits = now.Add(50*time.Hour), c.Record.Visits+1, visits+1
			_, err = two.f.Settle(c, frontier.Settlement{Record: c.Record, Finished: now})
			b.must(err)
		}
		if now.After(time.Now().Add(100 * time.Hour)) {
			break
		}
	}
	want := b.histories(two.f)
	two.leave()
	a.command("not the newest copy")
	one = a.join()
	one.has(shared.Parts, shared.Parts)
	got := a.histories(one.f) // examines the store too
	for _, h := range want {
		if !slices.Contains(got, h) {
			t.Errorf("node a does not have %s", h)
		}
	}
	one.leave()
	a.command("")
}

// TestAFirstStoreThatWasNotShippedIsKept stops a node properly before its store is the crawl of the database: while it
// ships the store, and while it waits for the lease of an earlier process. The store is shipped later.
func TestAFirstStoreThatWasNotShippedIsKept(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	for what, stop := range map[string]func(*fixture){
		"while it is shipped": func(a *fixture) {
			a.open().leave() // the tables are there
			c := a.openWithout()
			locks := newPatient(a.TB, a.db)
			locks.do(`BEGIN`, `LOCK TABLE arcrawl.row IN ACCESS EXCLUSIVE MODE`)
			c.goes()
			c.eventually("it ships", func() bool { return len(c.n.parts.in(initial)) == shared.Parts })
			c.still()
			locks.do(`COMMIT`)
			c.leave()
		},
		"before an earlier process is over": func(a *fixture) {
			n, err := openNode(a.Context(), a.options(), func(error) {})
			a.must(err)
			taken, err := n.shared.Take(a.Context(), allParts(), "")
			if err != nil || len(taken) != shared.Parts {
				a.Fatalf("taken %d parts, %v", len(taken), err)
			}
			n.Close() // it dies
			a.open().leave()
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			a := newFixture(t, postgres.New(t), "a")
			var want []string
			a.alone(time.Now(), func(f *frontier.Frontier) { a.crawl(f, 0, 50); want = a.histories(f) })
			stop(a)
			if m, found, err := readMark(a.state); err != nil || !found || m.Clean {
				t.Errorf("the mark is %+v, %v, although the database has not all", m, err)
			}
			b := newFixture(t, a.db, "b")
			a.run(func(f *frontier.Frontier) {
				if got := a.histories(f); !slices.Equal(got, want) {
					t.Errorf("%d histories are there, want %d", len(got), len(want))
				}
			})
			b.run(func(f *frontier.Frontier) {
				if got := b.histories(f); !slices.Equal(got, want) {
					t.Errorf("%d histories were shipped, want %d", len(got), len(want))
				}
			})
		})
	}
}

// TestHostsMoveToThePartsOfTheirGroups changes the groups of hosts between two starts. The histories move with the
// hosts, and a URI that waits for one of them. A node with other groups may not crawl meanwhile.
func TestHostsMoveToThePartsOfTheirGroups(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b, other := newFixture(t, db, "a"), newFixture(t, db, "b"), newFixture(t, db, "other")
	var want []string
	a.run(func(f *frontier.Frontier) { a.crawl(f, 0, 100); want = a.histories(f) })
	one := a.open()
	u := uri.FromCanonical("http://h3.example/waits")
	value, err := frontier.Candidate{URI: u}.Encode(time.Now())
	a.must(err)
	a.must(one.n.shared.Ship(t.Context(), shared.All(shared.Row{
		Of: shared.Letters, Part: partOf("h3.example", ""), Key: []byte("of 12 bytes."), Value: value,
	})))
	one.leave()

	a.group = func(h uri.Host) string {
		if h == "h3.example" || h == "h4.example" {
			return "g"
		}
		return ""
	}
	b.group = a.group
	one = a.join()
	one.has(shared.Parts, shared.Parts)
	one.eventually("the URI that waited", func() bool { return one.knows(u) })
	one.has(shared.Parts, shared.Parts)
	got := slices.DeleteFunc(a.histories(one.f), func(h string) bool { return strings.Contains(h, "waits") })
	if !slices.Equal(got, want) || !strings.Contains(a.log.String(), "moved the rows of hosts") {
		t.Errorf("%d histories after the groups have changed, want %d; the log:\n%s", len(got), len(want), &a.log)
	}
	one.equalsCopy()
	for _, h := range []uri.Host{"h3.example", "h4.example"} {
		some := 0
		a.must(one.n.shared.Each(t.Context(), []int16{partOf(h, "")}, func(_ int16, k, v []byte) error {
			if is, _ := frontier.HostOf(k, v); is == h {
				some++
			}
			return nil
		}))
		if some > 0 {
			t.Errorf("%d rows of %s stayed in its old part", some, h)
		}
	}

	two := other.join()
	if err := <-two.lost; !strings.Contains(err.Error(), "group") {
		t.Errorf("a node with other groups ends with %v", err)
	}
	if err := two.n.MayClaim(); err == nil {
		t.Error("a node with other groups may claim")
	}
	two.die()
	one.leave()
	b.run(func(f *frontier.Frontier) {
		got := slices.DeleteFunc(b.histories(f), func(h string) bool { return strings.Contains(h, "waits") })
		if !slices.Equal(got, want) {
			t.Errorf("node b has %d histories, want %d", len(got), len(want))
		}
	})
}
