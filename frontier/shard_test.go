package frontier_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// shard returns options that make a frontier one of n shards.
func shard(number, n int) func(*frontier.Options) {
	return func(o *frontier.Options) {
		o.Shards.Other = func(h uri.Host) int {
			if s := frontier.ShardOf(h, "", n); s != number {
				return s
			}
			return 0
		}
	}
}

// hostIn returns a host of a shard.
func hostIn(number, n int) string {
	for i := 0; ; i++ {
		if h := fmt.Sprintf("h%d.example", i); frontier.ShardOf(uri.Host(h), "", n) == number {
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
		two, eight := frontier.ShardOf(h, "", 2), frontier.ShardOf(h, "", 8)
		seen[eight]++
		if (eight-1)%2 != two-1 {
			t.Errorf("%s is in shard %d of 2, and %d of 8", h, two, eight)
		}
		for _, same := range []uri.Host{"www." + h, h + ":8080", "www." + h + ":8080"} {
			if frontier.ShardOf(same, "", 8) != eight {
				t.Errorf("%s and %s have different shards", h, same)
			}
		}
		if frontier.ShardOf(h, "g", 8) != frontier.ShardOf("other.example", "g", 8) {
			t.Errorf("%s is not in the shard of its group", h)
		}
	}
	if len(seen) != 8 {
		t.Errorf("the hosts are in %d shards, want 8", len(seen))
	}
	for h, want := range map[uri.Host]int{"kb.example": 223, "[2001:db8::1]:80": 200, "[2001:db8::1]": 200} {
		if got := frontier.ShardOf(h, "", 1024); got != want { // stored formats are permanent
			t.Errorf("%s is in shard %d of 1024, want %d", h, got, want)
		}
	}
}

// TestLettersCarryLinksToOtherShards lets a visit find links to hosts of another shard. They are not known here, also
// after a restart, and known there, with all that was found out about them; once, however often they are received.
func TestLettersCarryLinksToOtherShards(t *testing.T) {
	t.Parallel()
	one, two := newWorld(t, shard(1, 2)), newWorld(t, shard(2, 2))
	here, there := "http://"+hostIn(1, 2)+"/", "http://"+hostIn(2, 2)+"/"
	one.add(day, here)
	c := one.claim(day, here)
	s := visited(c, day, time.Hour)
	found := frontier.Candidate{
		URI: parse(t, there+"a"), Hops: "L", Via: here, Seed: here, Due: at(time.Minute), Urgent: true,
	}
	s.Found = []frontier.Candidate{
		found, found, {URI: parse(t, here+"b"), Hops: "L", Via: here, Seed: here},
	}
	added, err := one.Settle(c, s)
	if err != nil || added.New != 1 || added.Posted != 1 || added.Known != 1 {
		t.Fatalf("settled: %+v, %v", added, err)
	}
	if _, known, _ := one.Get(found.URI); known || len(one.Hosts(day)) != 1 {
		t.Error("a URI of another shard is known")
	}
	one.reopen(at(time.Second))
	letters, err := one.Letters(10, nil)
	if err != nil || len(letters) != 1 || letters[0].Shard != 2 {
		t.Fatalf("the letters are %v, %v", letters, err)
	}
	for n := range 2 {
		added, damaged, err := two.Receive(day, [][]byte{letters[0].Value, []byte("damaged")})
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
	one.wantErr(err, nil)
	one.wantErr(one.Sent(letters), nil)
	letters, err = one.Letters(10, nil)
	one.wantErr(err, nil)
	if len(letters) != 1 {
		t.Fatalf("%d letters, want the one that changed", len(letters))
	}
	_, _, err = two.Receive(day, [][]byte{letters[0].Value})
	two.wantErr(err, nil)
	if r, _, _ := two.Get(found.URI); !r.Due.Equal(found.Due) {
		t.Errorf("due at %s, want %s", r.Due, found.Due)
	}
	one.wantErr(one.Sent(letters), nil)
	found.Sooner = false
	for range 3 { // each page of a site may have the link
		added, err = one.Add(day, found)
		one.wantErr(err, nil)
	}
	if letters, _ := one.Letters(10, nil); len(letters) != 0 || added.Known != 1 {
		t.Errorf("%d letters for a link that was sent lately", len(letters))
	}
	entry := frontier.Entry{Record: frontier.Record{URI: found.URI}}
	if done, err := one.Import(day, false, entry); err != nil || done.Foreign != 1 {
		t.Errorf("imported a URI of another shard: %+v, %v", done, err)
	}
}

// TestALetterLosesNothingThatAWaitingOneSays lets feeds report a URI of another shard three times before the letter is
// sent. The other shard gets the earliest due time, the latest change, and the earliest time without it.
func TestALetterLosesNothingThatAWaitingOneSays(t *testing.T) {
	t.Parallel()
	one, two := newWorld(t, shard(1, 2)), newWorld(t, shard(2, 2))
	u := parse(t, "http://"+hostIn(2, 2)+"/a")
	two.add(day, u.String())
	c := two.claim(day, u.String())
	_, err := two.Settle(c, visited(c, day, 100*time.Hour))
	two.wantErr(err, nil)
	for _, says := range []frontier.Candidate{
		{Due: at(time.Hour), Urgent: true, ReportedChange: at(20 * time.Minute), ReportedUnchanged: at(10 * time.Minute)},
		{Due: at(2 * time.Hour), ReportedChange: at(30 * time.Minute), ReportedUnchanged: at(25 * time.Minute)},
		{Due: at(3 * time.Hour)},
	} {
		says.URI, says.Sooner = u, true
		_, err := one.Add(day, says)
		one.wantErr(err, nil)
	}
	letters, err := one.Letters(10, nil)
	if err != nil || len(letters) != 1 || !letters[0].Sooner || one.Waiting() != 1 {
		t.Fatalf("%d letters wait, they are %v, %v", one.Waiting(), letters, err)
	}
	_, _, err = two.Receive(at(time.Minute), [][]byte{letters[0].Value})
	two.wantErr(err, nil)
	r, _, err := two.Get(u)
	two.wantErr(err, nil)
	if !r.Due.Equal(at(time.Hour)) || !r.Urgent || !r.ReportedChange.Equal(at(30*time.Minute)) ||
		!r.ReportedUnchanged.Equal(at(10*time.Minute)) {
		t.Errorf("due %s, urgent %t, changed %s, unchanged %s", r.Due, r.Urgent, r.ReportedChange, r.ReportedUnchanged)
	}
}

// TestALetterKeepsHowItsURIWasFound lets a feed report a URI of another shard for which a letter with a link waits. The
// other shard gets the path and the source of the link, as if it had received one after the other.
func TestALetterKeepsHowItsURIWasFound(t *testing.T) {
	t.Parallel()
	one, two := newWorld(t, shard(1, 2)), newWorld(t, shard(2, 2))
	u := parse(t, "http://"+hostIn(2, 2)+"/a")
	for _, found := range []frontier.Candidate{
		{Hops: "LE", Via: "http://linked.example/", Seed: "http://first.example/", Source: "a link"},
		{Hops: "I", Via: "http://feed.example/", Seed: "http://second.example/", Source: "a feed", Sooner: true, Due: day},
	} {
		found.URI = u
		_, err := one.Add(day, found)
		one.wantErr(err, nil)
	}
	letters, err := one.Letters(10, nil)
	if err != nil || len(letters) != 1 {
		t.Fatalf("the letters are %v, %v", letters, err)
	}
	_, _, err = two.Receive(at(time.Minute), [][]byte{letters[0].Value})
	two.wantErr(err, nil)
	r, known, err := two.Get(u)
	two.wantErr(err, nil)
	if !known || r.Hops != "LE" || r.Via != "http://linked.example/" || r.Seed != "http://first.example/" || r.Source != "a link" {
		t.Errorf("known %t: hops %q via %q from %q, source %q", known, r.Hops, r.Via, r.Seed, r.Source)
	}
}

// TestLettersSkipWhatCannotBeSent skips letters to a shard that takes none, and a letter with a damaged key. Others are
// sent.
func TestLettersSkipWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shard(1, 4))
	for number := 2; number <= 4; number++ {
		_, err := w.Add(day, frontier.Candidate{URI: parse(t, "http://"+hostIn(number, 4)+"/")})
		w.wantErr(err, nil)
	}
	w.wantErr(w.DB().Update(func(txn *badger.Txn) error { return txn.Set([]byte("pl\x00\x02short"), nil) }), nil)
	w.reopen(day)
	if n := w.Waiting(); n != 3 {
		t.Errorf("%d letters wait after a restart, want 3", n)
	}
	letters, err := w.Letters(10, func(number int) bool { return number == 2 })
	if err != nil || len(letters) != 2 || letters[0].Shard != 3 || letters[1].Shard != 4 {
		t.Errorf("the letters are %v, %v", letters, err)
	}
	w.wantErr(w.Sent(letters), nil)
	if n := w.Waiting(); n != 1 {
		t.Errorf("%d letters wait, want 1", n)
	}
}

// TestALinkIsSentAgainAfterADay finds the same link on two days: the other shard may have refused it on the first.
func TestALinkIsSentAgainAfterADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shard(1, 2))
	link := frontier.Candidate{URI: parse(t, "http://"+hostIn(2, 2)+"/a")}
	for _, want := range []struct {
		after time.Duration
		sent  int
	}{{0, 1}, {time.Minute, 0}, {24 * time.Hour, 1}} {
		added, err := w.Add(at(want.after), link)
		if err != nil || added.Posted != want.sent {
			t.Errorf("found after %s: %+v, %v", want.after, added, err)
		}
		letters, err := w.Letters(10, nil)
		w.wantErr(errors.Join(err, w.Sent(letters)), nil)
	}
}

// TestStraysAreNotVisited divides a store: the hosts of other shards are not visited, and then removed. The rest
// stays.
func TestStraysAreNotVisited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mine []string
	for i := range 60 {
		text := fmt.Sprintf("http://h%d.example/%d", i%20, i)
		w.add(day, text)
		if frontier.ShardOf(uri.Host(fmt.Sprintf("h%d.example", i%20)), "", 2) == 1 {
			mine = append(mine, text)
		}
	}
	shard(1, 2)(&w.o)
	w.reopen(day)
	if n := w.Strays(); n == 0 || n == 20 {
		t.Fatalf("%d of 20 hosts are strays", n)
	}
	got := map[string]bool{}
	now := at(time.Minute)
	for range 10 * len(mine) {
		now = now.Add(time.Minute)
		if c, ok, err := w.Claim(now); err == nil && ok {
			got[c.Record.URI.String()] = true
			_, err = w.Settle(c, visited(c, now, 100*time.Hour))
			w.wantErr(err, nil)
		}
	}
	if len(got) != len(mine) {
		t.Errorf("%d URIs were visited, want %d", len(got), len(mine))
	}
	for _, text := range mine {
		if !got[text] {
			t.Errorf("%s was not visited", text)
		}
	}
	stop, strays, calls := make(chan struct{}), w.Strays(), 0
	none := func(int) bool { return false }
	done, err := w.DropStrays(stop, none, func() {
		if calls++; calls == 3 {
			close(stop)
		}
	})
	if err != nil || done || calls != 3 || w.Strays() != strays-1 { // a portion with its URIs, and one with the rest
		t.Errorf("stopped before the third portion: %t, %v after %d, %d of %d strays are left", done, err, calls, w.Strays(), strays)
	}
	listed, _, err := w.Count(now, frontier.Selection{}, "")
	w.wantErr(err, nil)
	if c := w.Counts(now); c.URIs != int64(len(mine)) || c.Hosts != int64(20-strays) || len(w.Hosts(now)) != 20-strays ||
		c.Ready+c.Snoozed+c.Busy+c.Idle != c.Hosts || listed != int64(len(mine)) {
		t.Errorf("while strays are removed, %+v and %d URIs are listed; want %d of %d hosts", c, listed, len(mine), 20-strays)
	}
	done, err = w.DropStrays(make(chan struct{}), none, func() {})
	if err != nil || !done || w.Strays() != 0 {
		t.Errorf("%d strays are left: %t, %v", w.Strays(), done, err)
	}
	if n := w.Counts(now).URIs; n != int64(len(mine)) {
		t.Errorf("%d URIs are left, want %d", n, len(mine))
	}
	if n, list := w.Counts(now).Hosts, w.Hosts(now); n != int64(20-strays) || len(list) != 20-strays {
		t.Errorf("%d hosts are counted and %d listed after %d strays of 20 were removed", n, len(list), strays)
	}
	w.reopen(now)
}

// TestRobotsOfAnotherShard reads the copy of a robots.txt from the store of another shard.
func TestRobotsOfAnotherShard(t *testing.T) {
	t.Parallel()
	two := newWorld(t, shard(2, 2))
	file := parse(t, "https://"+hostIn(2, 2)+"/robots.txt")
	away := false
	one := newWorld(t, shard(1, 2), func(o *frontier.Options) {
		o.Shards.Read = func(number int, key []byte) (v []byte) {
			if number != 2 || away {
				return nil
			}
			_ = two.DB().View(func(txn *badger.Txn) error {
				item, err := txn.Get(key)
				if err == nil {
					v, err = item.ValueCopy(nil)
				}
				return err
			})
			return v
		}
	})
	if _, ok, err := one.Substitute(file); ok || err != nil {
		t.Errorf("there is a copy of an unknown host: %v", err)
	}
	two.add(day, file.String())
	c := two.claim(day, file.String())
	s := visited(c, day, time.Hour)
	s.Robots = &frontier.RobotsCopy{Fetched: day, Expires: at(time.Hour), Status: 200, Body: []byte("User-agent: *")}
	_, err := two.Settle(c, s)
	two.wantErr(err, nil)
	if got, ok, err := one.Substitute(file); !ok || err != nil || string(got.Body) != "User-agent: *" || !got.Expires.Equal(at(time.Hour)) {
		t.Errorf("the copy is %+v, %t, %v", got, ok, err)
	}
	away = true
	if _, ok, err := one.Substitute(file); ok || err != nil {
		t.Errorf("without the database: %t, %v", ok, err)
	}
}
