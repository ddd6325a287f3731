package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// ofHosts begin the keys of what other packages learn of hosts. The name of the host follows.
var ofHosts = []string{"t", "k\x01", "pt", "pC", "pF", "pI"}

// week is a virtual week in which the same URIs are visited by a process on its own and by the nodes of a cluster.
type week struct {
	*testing.T
	monday time.Time
}

// begin makes the URIs known.
func (w week) begin(p *fixture, f *frontier.Frontier) {
	for i := range 70 {
		_, err := f.Add(w.monday, frontier.Candidate{URI: uri.FromCanonical(fmt.Sprintf("http://h%d.example/%d", i%7, i))})
		p.must(err)
	}
}

// days visits what is due on some days, and puts into the dedup index what it finds. On Saturday each page links to
// another host, to a page that is due on Sunday.
func (w week) days(p *fixture, f *frontier.Frontier, n *thisNode, from, to int) {
	index := p.index(f, n)
	counts := hosts.OpenDaily(f.DB())
	visited := func(r frontier.Record, now time.Time) (found []frontier.Candidate) {
		host, number := int(r.URI.Host()[1]-'0'), len(r.URI.String())
		payload := digest.Of([]byte{byte(r.Visits), byte(number)})
		o := digest.Origin{
			RecordID: "urn:uuid:" + r.URI.String(), URI: r.URI.String(), Date: now.Add(time.Duration(host) * time.Microsecond),
			Payload: payload, File: fmt.Sprintf("of-%s-%d.warc.gz", r.URI.Host(), r.Visits), Length: 2, Size: 3,
		}
		key := dedup.Key{Payload: payload, Status: 200}
		m, err := index.Find(dedup.Query{Key: key})
		if p.must(err); m.Hit == dedup.Miss {
			p.must(index.Put(key, o))
		}
		p.must(errors.Join(index.Refer(o),
			counts.Add(r.URI.Host(), now, evaluators.Day{Requests: 1}), f.DB().Update(func(txn *badger.Txn) (err error) {
				err = txn.Set([]byte("pP"), []byte("probes"))
				for _, kind := range ofHosts {
					err = errors.Join(err, txn.Set([]byte(kind+string(r.URI.Host())), []byte(now.String())))
				}
				return err
			})))
		if now.Weekday() == w.monday.AddDate(0, 0, 5).Weekday() {
			link := fmt.Sprintf("http://h%d.example/cross/%d/%d", (host+3)%7, r.Visits, number)
			found = append(found, frontier.Candidate{
				URI: uri.FromCanonical(link), Hops: r.Hops + "L", Via: "http://a.example/", Due: w.monday.AddDate(0, 0, 6).Add(2 * time.Hour),
			})
		}
		return found
	}
	p.days(f, w.monday, from, to, visited)
	p.must(errors.Join(index.Flush(), counts.Flush()))
}

// facts returns all that a store remembers of URIs, hosts and days, and the hour of the first record of each payload.
func (w week) facts(p *fixture, f *frontier.Frontier) map[string]string {
	w.Helper()
	p.must(f.Check())
	all := map[string]string{}
	now := w.monday.AddDate(0, 0, 7)
	for cursor, more := frontier.Cursor(""), true; more; more = cursor != "" {
		var list []frontier.Entry
		var err error
		list, cursor, err = f.List(now, frontier.Selection{}, cursor, 1000)
		p.must(err)
		for _, e := range list {
			if strings.Contains(e.URI.Path(), "cross") {
				e.FirstSeen = time.Time{} // another node may receive it later
			}
			line, err := json.Marshal(e)
			p.must(err)
			all[e.URI.String()] = string(line)
		}
	}
	for _, h := range f.Hosts(now) {
		h.Ready = h.Ready.Truncate(time.Second)
		all[string(h.Host)] = fmt.Sprintf("%+v", h)
	}
	counts := hosts.OpenDaily(f.DB())
	p.must(counts.Each("", time.Time{}, time.Time{}, func(d hosts.HostDay, of evaluators.Day) error {
		all["requests to "+d.String()] = fmt.Sprint(of.Requests)
		return nil
	}))
	p.must(f.DB().View(func(txn *badger.Txn) error {
		for _, kind := range ofHosts {
			for n := range 7 {
				key := fmt.Sprintf("%sh%d.example", kind, n)
				if item, err := txn.Get([]byte(key)); err == nil {
					v, err := item.ValueCopy(nil)
					all[key] = string(v)
					p.must(err)
				}
			}
		}
		return nil
	}))
	index, err := dedup.Open(f.DB(), dedup.Options{})
	p.must(err)
	for visits := range 40 {
		for number := range 60 {
			payload := digest.Of([]byte{byte(visits), byte(number)})
			m, err := index.Find(dedup.Query{Key: dedup.Key{Payload: payload, Status: 200}})
			if p.must(err); m.Hit != dedup.Miss {
				if m.Origin.File != fmt.Sprintf("of-%s-%d.warc.gz", uri.FromCanonical(m.Origin.URI).Host(), visits) {
					w.Errorf("the record %+v is in another file", m.Origin)
				}
				all[payload.String()] = m.Origin.Date.Truncate(time.Hour).String()
			}
		}
	}
	return all
}

// equal compares what two stores remember.
func (w week) equal(what string, got, want map[string]string) {
	w.Helper()
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got[k] != want[k] {
			w.Errorf("%s: %s is\n%s, want\n%s", what, k, got[k], want[k])
		}
	}
	if len(got) != len(want) || len(want) < 80 {
		w.Errorf("%s: %d facts, want %d", what, len(got), len(want))
	}
}

// leave writes the crawl to a new folder, opens it as a process on its own does, and does something with it.
func (w week) leave(db *postgres.Server, do func(*fixture, *frontier.Frontier)) leftStore {
	w.Helper()
	p := newFixture(w.T, db, "alone")
	open := func(folder string) (*frontier.Frontier, error) {
		return frontier.Open(frontier.Options{Dir: folder, Now: w.monday, Compactors: -1})
	}
	o := leaveOptions{Database: p.options().Database, To: p.state, Now: w.monday, Open: open}
	left, err := leaveCluster(w.Context(), o)
	p.must(err)
	f, err := open(p.state)
	p.must(err)
	do(p, f)
	p.must(f.Close())
	return left
}

// TestACrawlOfTwoNodesLeaves crawls a virtual week twice: in one process, and on two nodes. The store that leaves the
// cluster remembers the same, wherever the links between the nodes are at that moment, and also after a host has moved
// to another part with its group.
func TestACrawlOfTwoNodesLeaves(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	a, b, alone := newFixture(t, db, "a"), newFixture(t, db, "b"), newFixture(t, db, "c")
	w := week{t, time.Now().UTC().Truncate(24 * time.Hour)}
	open := func(do func(*frontier.Frontier)) { alone.alone(w.monday, do) }
	var early, saturday, late map[string]string
	open(func(f *frontier.Frontier) { w.begin(alone, f); w.days(alone, f, nil, 0, 2); early = w.facts(alone, f) })
	open(func(f *frontier.Frontier) { w.days(alone, f, nil, 2, 4) })
	open(func(f *frontier.Frontier) { w.days(alone, f, nil, 4, 6); saturday = w.facts(alone, f) })
	open(func(f *frontier.Frontier) { w.days(alone, f, nil, 6, 7); late = w.facts(alone, f) })

	one := a.join()
	one.has(shared.Parts, shared.Parts)
	w.begin(a, one.f)
	w.days(a, one.f, one.n, 0, 2)
	one.leave()
	w.leave(db, func(p *fixture, f *frontier.Frontier) { w.equal("of one node", w.facts(p, f), early) })

	even, odd := parted()
	one, two := a.open(), b.open()
	one.takes(even)
	two.takes(odd)
	for _, c := range []*crawling{one, two} {
		w.days(c.fixture, c.f, c.n, 2, 4)
		w.days(c.fixture, c.f, c.n, 4, 6)
	}
	sent := one.lettersIn() + two.lettersIn()
	one.ships()
	two.receives() // the letters of the other one stay in the database
	two.leave()
	one.leave()
	for _, p := range []*fixture{a, b} {
		p.command("not the newest copy of the whole crawl")
	}
	left := w.leave(db, func(p *fixture, f *frontier.Frontier) {
		w.equal("on Saturday", w.facts(p, f), saturday)
		w.days(p, f, nil, 6, 7)
		w.equal("at the end", w.facts(p, f), late)
	})
	if sent == 0 || left.Letters == 0 || left.Letters >= sent || left.Damaged > 0 {
		t.Errorf("left with %+v after %d letters", left, sent)
	}
	a.group = func(h uri.Host) string {
		if h == "h3.example" {
			return "group"
		}
		return ""
	}
	a.run(func(*frontier.Frontier) {})
	w.leave(db, func(p *fixture, f *frontier.Frontier) {
		w.days(p, f, nil, 6, 7)
		w.equal("after h3.example has got a group", w.facts(p, f), late)
	})
}

// TestACrawlLeavesAfterADeath has a node die, and another one stop before it has loaded anything. The crawl leaves the
// cluster with all that was shipped, and each host rests first.
func TestACrawlLeavesAfterADeath(t *testing.T) {
	t.Parallel()
	db := postgres.New(t)
	a, b := newFixture(t, db, "a"), newFixture(t, db, "b")
	one := a.join()
	one.has(shared.Parts, shared.Parts)
	a.crawl(one.f, 0, 50)
	one.ships()
	want := a.histories(one.f)
	one.die()
	two := b.open()
	two.fences("a")
	b.must(two.n.take(t.Context(), two.n.found.Load().States, allParts()))
	two.leave()
	week{t, time.Now()}.leave(db, func(p *fixture, f *frontier.Frontier) {
		if got := p.histories(f); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("left with %d histories, want the %d that were shipped", len(got), len(want))
		}
		for _, h := range f.Hosts(time.Now()) {
			if h.Rest.IsZero() {
				t.Errorf("%s does not rest after a death", h.Host)
			}
		}
	})
}
