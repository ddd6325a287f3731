package cluster

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// day is the time at which stores are opened.
var day = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(d time.Duration) time.Time { return day.Add(d) }

// dividedStore is the store of one of n shards.
type dividedStore struct {
	testing.TB
	*frontier.Frontier
	o   frontier.Options
	box *letterbox
}

func newStore(t testing.TB, number, n int) *dividedStore {
	t.Helper()
	s := &dividedStore{TB: t, o: frontier.Options{Dir: t.TempDir(), Now: day, Compactors: -1}}
	s.box = newLetterbox(func(h uri.Host) int {
		if shard := shardOf(h, "", n); shard != number {
			return shard
		}
		return 0
	}, nil)
	s.o.Elsewhere = s.box
	s.open()
	t.Cleanup(func() { _ = s.Frontier.Close() })
	return s
}

func (s *dividedStore) open() {
	s.Helper()
	var err error
	s.Frontier, err = frontier.Open(s.o)
	s.must(err)
	s.must(s.box.count(s.Frontier))
}

func (s *dividedStore) reopen() {
	s.Helper()
	s.must(s.Frontier.Close())
	s.open()
}

func (s *dividedStore) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *dividedStore) letters(n int, skip func(int) bool) ([]letter, error) {
	return lettersIn(s.Frontier, n, skip)
}

// visit adds a URI, and visits it, with some links in it. It is due again after a time.
func (s *dividedStore) visit(text string, again time.Duration, found ...frontier.Candidate) frontier.Added {
	s.Helper()
	_, err := s.Add(day, frontier.Candidate{URI: parseURI(s, text)})
	s.must(err)
	c, ok, err := s.Claim(day)
	if err != nil || !ok {
		s.Fatalf("claimed nothing: %v", err)
	}
	r := c.Record
	r.Due = at(again)
	added, err := s.Settle(c, frontier.Settlement{Record: r, Finished: day, Found: found})
	s.must(err)
	return added
}

func parseURI(t testing.TB, text string) uri.URI {
	t.Helper()
	u, err := uri.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// hostIn returns a host of a shard.
func hostIn(number, n int) string {
	for i := 0; ; i++ {
		if h := fmt.Sprintf("h%d.example", i); shardOf(uri.Host(h), "", n) == number {
			return h
		}
	}
}

// TestShardsOfHosts makes sure that shards never change, and that a division of them only makes parts.
func TestShardsOfHosts(t *testing.T) {
	t.Parallel()
	seen := map[int]int{}
	for i := range 1000 {
		h := uri.Host(fmt.Sprintf("h%d.example", i))
		two, eight := shardOf(h, "", 2), shardOf(h, "", 8)
		seen[eight]++
		if (eight-1)%2 != two-1 {
			t.Errorf("%s is in shard %d of 2, and %d of 8", h, two, eight)
		}
		for _, same := range []uri.Host{"www." + h, h + ":8080", "www." + h + ":8080"} {
			if shardOf(same, "", 8) != eight {
				t.Errorf("%s and %s have different shards", h, same)
			}
		}
		if shardOf(h, "g", 8) != shardOf("other.example", "g", 8) {
			t.Errorf("%s is not in the shard of its group", h)
		}
	}
	if len(seen) != 8 {
		t.Errorf("the hosts are in %d shards, want 8", len(seen))
	}
	for h, want := range map[uri.Host]int{"kb.example": 223, "[2001:db8::1]:80": 200, "[2001:db8::1]": 200} {
		if got := shardOf(h, "", 1024); got != want { // stored formats are permanent
			t.Errorf("%s is in shard %d of 1024, want %d", h, got, want)
		}
	}
}

// TestLettersCarryLinksToOtherShards lets a visit find links to hosts of another shard. They are not known here, also
// after a restart, and known there, with all that was found out about them; once, however often they are received.
func TestLettersCarryLinksToOtherShards(t *testing.T) {
	t.Parallel()
	one, two := newStore(t, 1, 2), newStore(t, 2, 2)
	here, there := "http://"+hostIn(1, 2)+"/", "http://"+hostIn(2, 2)+"/"
	found := frontier.Candidate{
		URI: parseURI(t, there+"a"), Hops: "L", Via: here, Seed: here, Due: at(time.Minute), Urgent: true,
	}
	added := one.visit(here, time.Hour, found, found,
		frontier.Candidate{URI: parseURI(t, here+"b"), Hops: "L", Via: here, Seed: here})
	if added.New != 1 || added.Posted != 1 || added.Known != 1 {
		t.Fatalf("settled: %+v", added)
	}
	if _, known, _ := one.Get(found.URI); known || len(one.Hosts(day)) != 1 {
		t.Error("a URI of another shard is known")
	}
	one.reopen()
	letters, err := one.letters(10, nil)
	if err != nil || len(letters) != 1 || letters[0].shard != 2 {
		t.Fatalf("the letters are %v, %v", letters, err)
	}
	for n := range 2 {
		added, damaged, err := receive(two.Frontier, day, [][]byte{letters[0].value, []byte("damaged")})
		if err != nil || len(damaged) != 1 || damaged[0] != 1 || added.New != 1-n {
			t.Errorf("received: %+v, %v damaged, %v", added, damaged, err)
		}
	}
	r, known, err := two.Get(found.URI)
	if err != nil || !known || r.Via != here || r.Seed != here || r.Hops != "L" || !r.Urgent || !r.Due.Equal(found.Due) {
		t.Errorf("the other shard has %+v, %v", r, err)
	}

	// What a feed says replaces a letter that waits, and is not removed with it.
	found.Sooner, found.Due = true, at(time.Second)
	_, err = one.Add(day, found)
	one.must(err)
	one.must(one.box.sent(one.Frontier, letters))
	letters, err = one.letters(10, nil)
	one.must(err)
	if len(letters) != 1 {
		t.Fatalf("%d letters, want the one that changed", len(letters))
	}
	_, _, err = receive(two.Frontier, day, [][]byte{letters[0].value})
	two.must(err)
	if r, _, _ := two.Get(found.URI); !r.Due.Equal(found.Due) {
		t.Errorf("due at %s, want %s", r.Due, found.Due)
	}
	one.must(one.box.sent(one.Frontier, letters))
	found.Sooner = false
	for range 3 { // each page of a site may have the link
		added, err = one.Add(day, found)
		one.must(err)
	}
	if letters, _ := one.letters(10, nil); len(letters) != 0 || added.Known != 1 {
		t.Errorf("%d letters for a link that was sent lately", len(letters))
	}
}

// TestALetterLosesNothingThatAWaitingOneSays lets a page link to a URI of another shard, and feeds report it three
// times, before the letter is sent. A shard that knows the URI gets the earliest due time, the latest change, and the
// earliest time without it; one that does not gets the path and the source of the link, as if it had received one after
// the other.
func TestALetterLosesNothingThatAWaitingOneSays(t *testing.T) {
	t.Parallel()
	one, two, fresh := newStore(t, 1, 2), newStore(t, 2, 2), newStore(t, 2, 2)
	u := parseURI(t, "http://"+hostIn(2, 2)+"/a")
	two.visit(u.String(), 100*time.Hour)
	const link, seed = "http://linked.example/", "http://first.example/"
	for _, says := range []frontier.Candidate{
		{Hops: "LE", Via: link, Seed: seed, Source: "a link", Due: at(4 * time.Hour)},
		{
			Hops: "I", Via: "http://feed.example/", Seed: "http://second.example/", Source: "a feed", Sooner: true,
			Due: at(time.Hour), Urgent: true, ReportedChange: at(20 * time.Minute), ReportedUnchanged: at(10 * time.Minute),
		},
		{Sooner: true, Due: at(2 * time.Hour), ReportedChange: at(30 * time.Minute), ReportedUnchanged: at(25 * time.Minute)},
		{Sooner: true, Due: at(3 * time.Hour)},
	} {
		says.URI = u
		_, err := one.Add(day, says)
		one.must(err)
	}
	letters, err := one.letters(10, nil)
	if err != nil || len(letters) != 1 || !letters[0].sooner || one.box.waiting.Load() != 1 {
		t.Fatalf("%d letters wait, they are %v, %v", one.box.waiting.Load(), letters, err)
	}
	got := map[*dividedStore]frontier.Record{}
	for _, to := range []*dividedStore{two, fresh} {
		_, _, err = receive(to.Frontier, at(time.Minute), [][]byte{letters[0].value})
		to.must(err)
		got[to], _, err = to.Get(u)
		to.must(err)
	}
	if r := got[two]; !r.Due.Equal(at(time.Hour)) || !r.Urgent || !r.ReportedChange.Equal(at(30*time.Minute)) ||
		!r.ReportedUnchanged.Equal(at(10*time.Minute)) {
		t.Errorf("due %s, urgent %t, changed %s, unchanged %s", r.Due, r.Urgent, r.ReportedChange, r.ReportedUnchanged)
	}
	if r := got[fresh]; r.Hops != "LE" || r.Via != link || r.Seed != seed || r.Source != "a link" {
		t.Errorf("hops %q via %q from %q, source %q", r.Hops, r.Via, r.Seed, r.Source)
	}
}

// TestLettersSkipWhatCannotBeSent skips letters to a shard that takes none, and a letter with a damaged key. Others are
// sent.
func TestLettersSkipWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	w := newStore(t, 1, 4)
	for number := 2; number <= 4; number++ {
		_, err := w.Add(day, frontier.Candidate{URI: parseURI(t, "http://"+hostIn(number, 4)+"/")})
		w.must(err)
	}
	w.must(w.DB().Update(func(txn *badger.Txn) error { return txn.Set([]byte("pl\x00\x02short"), nil) }))
	w.reopen()
	if n := w.box.waiting.Load(); n != 3 {
		t.Errorf("%d letters wait after a restart, want 3", n)
	}
	letters, err := w.letters(10, func(number int) bool { return number == 2 })
	if err != nil || len(letters) != 2 || letters[0].shard != 3 || letters[1].shard != 4 {
		t.Errorf("the letters are %v, %v", letters, err)
	}
	w.must(w.box.sent(w.Frontier, letters))
	if n := w.box.waiting.Load(); n != 1 {
		t.Errorf("%d letters wait, want 1", n)
	}
}

// TestALinkIsSentAgainAfterADay finds the same link on two days: the other shard may have refused it on the first.
func TestALinkIsSentAgainAfterADay(t *testing.T) {
	t.Parallel()
	w := newStore(t, 1, 2)
	link := frontier.Candidate{URI: parseURI(t, "http://"+hostIn(2, 2)+"/a")}
	for _, want := range []struct {
		after time.Duration
		sent  int
	}{{0, 1}, {time.Minute, 0}, {24 * time.Hour, 1}} {
		added, err := w.Add(at(want.after), link)
		if err != nil || added.Posted != want.sent {
			t.Errorf("found after %s: %+v, %v", want.after, added, err)
		}
		letters, err := w.letters(10, nil)
		w.must(errors.Join(err, w.box.sent(w.Frontier, letters)))
	}
}

// TestWaitingLettersHaveABound refuses links to other shards while too many letters wait, and takes them afterwards. A
// letter that waits can be replaced all the same.
func TestWaitingLettersHaveABound(t *testing.T) {
	t.Parallel()
	s := newStore(t, 1, 2)
	add := func(path string, sooner bool, want frontier.Added) {
		t.Helper()
		link := frontier.Candidate{URI: parseURI(t, "http://"+hostIn(2, 2)+"/"+path), Due: day, Sooner: sooner}
		if added, err := s.Add(day, link); err != nil || added != want {
			t.Errorf("added %+v, %v; want %+v", added, err, want)
		}
	}
	add("1", false, frontier.Added{Posted: 1})
	s.box.waiting.Add(maxWaiting - 1)
	add("2", false, frontier.Added{Refused: 1})
	add("1", true, frontier.Added{Posted: 1})
	letters, err := s.letters(10, nil)
	if err != nil || len(letters) != 1 || s.box.sent(s.Frontier, letters) != nil {
		t.Fatalf("sent %v, %v", letters, err)
	}
	add("2", false, frontier.Added{Posted: 1})
}
