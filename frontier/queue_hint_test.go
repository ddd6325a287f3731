package frontier

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// A hint has the same values as its record, and so has the part of its row that pools read.
func TestHintsAgreeWithRecords(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 1000 {
		var w uriRow
		fillRow(rnd, reflect.ValueOf(&w).Elem())
		w.LastVisit, w.Wait = max(w.LastVisit, 0), max(w.Wait, 0)
		at := newPlace(5, fingerprint{1})
		row, _ := w.appendTo(nil)
		var part contenderRow
		if !part.read(row) || part != w.contender() {
			t.Fatalf("%+v\n%+v, want\n%+v", w, part, w.contender())
		}
		if got, ok := parseHint(at, w.hint()); !ok || got != newContender(at, w.contender()) {
			t.Fatalf("%+v\n%+v, %v, want\n%+v", w, got, ok, newContender(at, w.contender()))
		}
	}
}

func TestInvalidHintsAreIgnored(t *testing.T) {
	t.Parallel()
	whole := (&uriRow{Hops: "L", LastVisit: math.MaxInt32, Wait: math.MaxInt32, Rate: 1}).hint()
	for n := range len(whole) {
		got, ok := parseHint(place{}, whole[:n])
		if ok && got.rate != 0 {
			t.Errorf("%x: %+v", whole[:n], got)
		}
		if n < 3 && ok {
			t.Errorf("hint %x was accepted", whole[:n])
		}
	}
	for _, odd := range [][]byte{{4, 0, 0}, append(whole, 0), {
		0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0x01, 0,
	}} {
		if got, ok := parseHint(place{}, odd); ok {
			t.Errorf("%x: %+v", odd, got)
		}
	}
}

// hints compares hints with their records, and counts the places that have one.
func hints(t *testing.T, f *Frontier) (n int) {
	t.Helper()
	err := f.db.View(func(txn *badger.Txn) error {
		for k, err := range scan(txn, []byte{kindQueue}, nil, 0) {
			if err != nil {
				return err
			}
			says, err := k.item.ValueCopy(nil)
			if err != nil {
				return err
			}
			at := place(k.rest)
			want := scannedPlace{contender: contender{at: at}}
			if ok, err := want.readFrom(txn, k.host); !ok || err != nil {
				t.Errorf("%x: %v, %v", at, ok, err)
			}
			if len(says) == 0 {
				continue
			}
			if got, ok := parseHint(at, says); !ok || got != want.contender {
				t.Errorf("the hint at %x is %+v, %v; the record has %+v", at, got, ok, want.contender)
			}
			n++
		}
		return nil
	})
	noErr(t, err)
	return n
}

// After any change to a URI, the hint at its place agrees with its record.
func TestPlacesHaveTheHintsOfTheirRecords(t *testing.T) {
	t.Parallel()
	f := openTest(t, Options{})
	for n := range 6 {
		link(t, f, fmt.Sprintf("http://a.example/%d", n))
	}
	now := start
	for i := range 20 {
		c, ok, err := f.Claim(now)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		r := c.Record
		r.LastVisit, r.Wait, r.Rate, r.Urgent = now, time.Duration(i)*time.Hour, float64(i%3), i%4 == 0
		r.ContentType = []string{"text/html", "application/rss+xml"}[i%2]
		if i%5 > 0 { // otherwise it keeps its place
			r.Due = now.Add(time.Duration(i%7) * time.Minute)
		}
		_, err = f.Settle(c, Settlement{Record: r, Finished: now})
		noErr(t, err)
		now = now.Add(time.Minute)
	}
	u := uri.FromCanonical("http://a.example/3")
	_, err := f.Add(now, Candidate{URI: u, Urgent: true, Sooner: true, Due: now.Add(-time.Hour)})
	noErr(t, err)
	if n := hints(t, f); n != 6 {
		t.Errorf("%d of 6 places have a hint", n)
	}
}

// One contender competes for each visit with a hundred others of far higher value. The shares make sure that it is
// chosen regularly. Without its share it would never be chosen.
func TestSharesKeepEachKindFromStarving(t *testing.T) {
	t.Parallel()
	const now = 1_000_000_000
	hour := time.Hour.Milliseconds()
	at := func(i int) place { return newPlace(now-1, newFingerprint(fmt.Sprint(i))) }
	busy := func(i int) contender { return contender{at: at(i), visited: now - 10*hour, wait: hour, rate: 100} }
	for _, kind := range []struct {
		name string
		c    contender
		want int // of 800 choices
	}{
		{"a seed or feed that hardly changes", contender{at: at(-1), visited: now - hour, wait: 1000 * hour, rate: 0.001, source: true}, 100},
		{"a seed that was never visited", contender{at: at(-1), source: true}, 100},
		{"a first visit", contender{at: at(-1)}, 200},
	} {
		chosen := func(order Order, share bool) (n int) {
			p := &pool{}
			for i := range 100 {
				p.due = append(p.due, busy(i))
			}
			p.due = append(p.due, kind.c)
			for turn := range 800 {
				if p.turn = 1; share {
					p.turn = int64(turn)
				}
				if p.due[p.best(order, now)] == kind.c {
					n++
				}
			}
			return n
		}
		for _, order := range []Order{ByValue, ByOverdue} {
			if n := chosen(order, true); n < kind.want {
				t.Errorf("%s, by %s: chosen %d times of 800, want %d", kind.name, order, n, kind.want)
			}
			if n := chosen(order, false); n != 0 {
				t.Errorf("%s, by %s: chosen %d times without a share, so that this test proves nothing", kind.name, order, n)
			}
		}
	}
}
