package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// day is the time at which stores are opened.
var day = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(d time.Duration) time.Time { return day.Add(d) }

// dividedStore is the store of one of n nodes, each with each n-th part of the crawl.
type dividedStore struct {
	testing.TB
	*frontier.Frontier
	o   frontier.Options
	box *letterbox
}

func newStore(t testing.TB, number, n int) *dividedStore {
	t.Helper()
	s := &dividedStore{TB: t, o: frontier.Options{Dir: t.TempDir(), Now: day, Compactors: -1}}
	s.box = newLetterbox(func(h uri.Host) (int16, bool) {
		part := partOf(h, "")
		return part, int(part)%n == number
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
}

func (s *dividedStore) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// letters returns the letters that wait in a store.
func (s *dividedStore) letters() (list []letter) {
	s.Helper()
	s.must(s.DB().View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(letterPrefix)})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			v, err := it.Item().ValueCopy(nil)
			s.must(err)
			list = append(list, letter{it.Item().KeyCopy(nil), v})
		}
		return nil
	}))
	return list
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

// hostIn returns a host of one of n nodes.
func hostIn(number, n int) string {
	for i := 0; ; i++ {
		if h := fmt.Sprintf("h%d.example", i); int(partOf(uri.Host(h), ""))%n == number {
			return h
		}
	}
}

// TestPartsOfHosts makes sure that the part of a host never changes, and that hosts are in all parts.
func TestPartsOfHosts(t *testing.T) {
	t.Parallel()
	seen := map[int16]bool{}
	for i := range 10_000 {
		h := uri.Host(fmt.Sprintf("h%d.example", i))
		part := partOf(h, "")
		if seen[part] = true; part < 0 || part >= shared.Parts {
			t.Errorf("%s is in part %d", h, part)
		}
		for _, same := range []uri.Host{"www." + h, h + ":8080", "www." + h + ":8080"} {
			if partOf(same, "") != part {
				t.Errorf("%s and %s are in different parts", h, same)
			}
		}
		if partOf(h, "g") != partOf("other.example", "g") {
			t.Errorf("%s is not in the part of its group", h)
		}
	}
	if len(seen) < shared.Parts-5 {
		t.Errorf("10,000 hosts are in %d parts", len(seen))
	}
	for h, want := range map[uri.Host]int16{"kb.example": 222, "[2001:db8::1]:80": 199, "[2001:db8::1]": 199} {
		if got := partOf(h, ""); got != want { // stored formats are permanent
			t.Errorf("%s is in part %d, want %d", h, got, want)
		}
	}
}

// TestLettersCarryLinksToOtherNodes lets a visit find links to hosts of another node. They are not known here, also
// after a restart, and known there, with all that was found out about them; once, however often they are received.
func TestLettersCarryLinksToOtherNodes(t *testing.T) {
	t.Parallel()
	one, two := newStore(t, 0, 2), newStore(t, 1, 2)
	here, there := "http://"+hostIn(0, 2)+"/", "http://"+hostIn(1, 2)+"/"
	found := frontier.Candidate{
		URI: parseURI(t, there+"a"), Hops: "L", Via: here, Seed: here, Due: at(time.Minute), Urgent: true,
	}
	added := one.visit(here, time.Hour, found, found,
		frontier.Candidate{URI: parseURI(t, here+"b"), Hops: "L", Via: here, Seed: here})
	if added.New != 1 || added.Posted != 1 || added.Known != 1 || !one.box.posting.Load() {
		t.Fatalf("settled: %+v", added)
	}
	if _, known, _ := one.Get(found.URI); known || len(one.Hosts(day)) != 1 {
		t.Error("a URI of another node is known")
	}
	one.must(one.Close())
	one.open()
	letters := one.letters()
	if len(letters) != 1 {
		t.Fatalf("the letters are %v", letters)
	}
	if r, ok := letterRow(letters[0].key, letters[0].value); !ok || r.Part != partOf(found.URI.Host(), "") {
		t.Errorf("the letter is for part %d, %t", r.Part, ok)
	}
	for n := range 2 {
		added, damaged, err := receive(two.Frontier, day, [][]byte{letters[0].value, []byte("damaged")})
		if err != nil || len(damaged) != 1 || damaged[0] != 1 || added.New != 1-n {
			t.Errorf("received: %+v, %v damaged, %v", added, damaged, err)
		}
	}
	r, known, err := two.Get(found.URI)
	if err != nil || !known || r.Via != here || r.Seed != here || r.Hops != "L" || !r.Urgent || !r.Due.Equal(found.Due) {
		t.Errorf("the other node has %+v, %v", r, err)
	}

	// What a feed says replaces a letter that waits, and is not removed with it.
	found.Sooner, found.Due = true, at(time.Second)
	_, err = one.Add(day, found)
	one.must(err)
	one.must(sent(one.Frontier, letters))
	if letters = one.letters(); len(letters) != 1 {
		t.Fatalf("%d letters, want the one that changed", len(letters))
	}
	_, _, err = receive(two.Frontier, day, [][]byte{letters[0].value})
	two.must(err)
	if r, _, _ := two.Get(found.URI); !r.Due.Equal(found.Due) {
		t.Errorf("due at %s, want %s", r.Due, found.Due)
	}
	one.must(sent(one.Frontier, letters))
	found.Sooner = false
	for range 3 { // each page of a site may have the link
		added, err = one.Add(day, found)
		one.must(err)
	}
	if letters := one.letters(); len(letters) != 0 || added.Known != 1 {
		t.Errorf("%d letters for a link that was sent lately", len(letters))
	}
}

// TestALetterLosesNothingThatAWaitingOneSays lets a page link to a URI of another node, and feeds report it three
// times, before the letter is sent. A node that knows the URI gets the earliest due time, the latest change, and the
// earliest time without it. One that does not gets the path and the source of the link, as if it had received one after
// the other.
func TestALetterLosesNothingThatAWaitingOneSays(t *testing.T) {
	t.Parallel()
	one, two, fresh := newStore(t, 0, 2), newStore(t, 1, 2), newStore(t, 1, 2)
	u := parseURI(t, "http://"+hostIn(1, 2)+"/a")
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
	letters := one.letters()
	if len(letters) != 1 {
		t.Fatalf("%d letters wait, want 1", len(letters))
	}
	got := map[*dividedStore]frontier.Record{}
	for _, to := range []*dividedStore{two, fresh} {
		_, _, err := receive(to.Frontier, at(time.Minute), [][]byte{letters[0].value})
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

// TestALinkIsSentAgainAfterADay finds the same link on two days: the other node may have refused it on the first.
func TestALinkIsSentAgainAfterADay(t *testing.T) {
	t.Parallel()
	w := newStore(t, 0, 2)
	link := frontier.Candidate{URI: parseURI(t, "http://"+hostIn(1, 2)+"/a")}
	for _, want := range []struct {
		after time.Duration
		sent  int
	}{{0, 1}, {time.Minute, 0}, {24 * time.Hour, 1}} {
		added, err := w.Add(at(want.after), link)
		if err != nil || added.Posted != want.sent {
			t.Errorf("found after %s: %+v, %v", want.after, added, err)
		}
		w.must(sent(w.Frontier, w.letters()))
	}
}

// TestLettersForAFullPartAreRefused refuses links to hosts for which too many letters wait in the database, and takes
// them afterwards. A letter that waits here can be replaced all the same, and other parts take letters.
func TestLettersForAFullPartAreRefused(t *testing.T) {
	t.Parallel()
	s := newStore(t, 0, 3)
	full, other := hostIn(1, 3), hostIn(2, 3)
	add := func(host, path string, sooner bool, want frontier.Added) {
		t.Helper()
		link := frontier.Candidate{URI: parseURI(t, "http://"+host+"/"+path), Due: day, Sooner: sooner}
		if added, err := s.Add(day, link); err != nil || added != want {
			t.Errorf("added %+v, %v; want %+v", added, err, want)
		}
	}
	add(full, "1", false, frontier.Added{Posted: 1})
	s.box.full.Store(&map[int16]bool{partOf(uri.Host(full), ""): true})
	add(full, "2", false, frontier.Added{Refused: 1})
	add(full, "1", true, frontier.Added{Posted: 1})
	add(other, "1", false, frontier.Added{Posted: 1})
	s.box.full.Store(&map[int16]bool{})
	add(full, "2", false, frontier.Added{Posted: 1})
	if n := len(s.letters()); n != 3 {
		t.Errorf("%d letters wait, want 3", n)
	}
}

// TestNewsDoesNotReplaceOtherNews compares the keys of letters about one URI in the database. A letter with the key of
// another one replaces it.
func TestNewsDoesNotReplaceOtherNews(t *testing.T) {
	t.Parallel()
	keys := map[string]string{}
	const fingerprint = "of 12 bytes."
	for _, c := range []frontier.Candidate{
		{Source: "a link"}, {Source: "at noon", Sooner: true, Due: at(time.Hour)}, {Source: "at one", Sooner: true, Due: at(2 * time.Hour)},
	} {
		c.URI = parseURI(t, "http://a.example/")
		value, err := c.Encode(day)
		if err != nil {
			t.Fatal(err)
		}
		r, ok := letterRow([]byte(letterPrefix+"\x01\x02"+fingerprint), value)
		same, _ := letterRow([]byte(letterPrefix+"\x01\x02"+fingerprint), value)
		k := string(r.Key)
		if other := keys[k]; !ok || other != "" || r.Part != 0x102 || !strings.HasPrefix(k, fingerprint) || string(same.Key) != k {
			t.Errorf("the letters %q and %q have the key %q of part %d", other, c.Source, k, r.Part)
		}
		keys[k] = c.Source
	}
	link, _ := letterRow([]byte(letterPrefix+"\x01\x02"+fingerprint), []byte("damaged"))
	if string(link.Key) != fingerprint {
		t.Errorf("a damaged letter has the key %q", link.Key)
	}
}
