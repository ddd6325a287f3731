package keep_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/keep"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// lostPages is a store with thirty lost pages of each of two hosts, one host in each step.
type lostPages struct {
	due       map[uri.Host][]time.Time
	beingRead int // how often a page is being visited when the store is gone through
	steps     int
}

// Recapture makes the pages of one host due.
func (s *lostPages) Recapture(
	_ time.Time, from frontier.Cursor, _ func(digest.Origin) bool, due func(uri.Host) time.Time,
) (done frontier.Steered, next frontier.Cursor, err error) {
	s.steps++
	host := uri.Host("a.example")
	if next = "b"; from == "b" {
		host, next = "b.example", ""
		if s.beingRead > 0 {
			s.beingRead--
			done.InProgress = 1
		}
	}
	for range 30 {
		s.due[host] = append(s.due[host], due(host))
		done.Changed++
	}
	return done, next, nil
}

// Thirty pages of two hosts lose their payloads at once. Each host gets at most every second request for them, and no
// host waits for the other. A loss is pending until the store was gone through.
func TestLostPayloadsAreFetchedAgainAtThePaceOfTheirHost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	text := "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n" +
		"[politeness]\nmin_delay = \"2s\"\nmax_delay = \"30s\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ended := errors.New("the daemon stops")
	for _, test := range []struct {
		name       string
		beingRead  int
		pause      error
		wantRounds int
		pending    bool
	}{
		{"once", 0, nil, 1, false},
		{"a page is being visited", 1, nil, 2, false},
		{"a page is always being visited", 9, nil, 3, false},
		{"the daemon stops", 0, ended, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: now, Compactors: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close() //nolint:errcheck // the test is done
			index, err := dedup.Open(f.DB(), dedup.Options{})
			if err == nil {
				_, err = index.Lose(dedup.Loss{File: "gone.warc.gz", Cause: dedup.Absent, Pending: true})
			}
			if err != nil {
				t.Fatal(err)
			}
			s := &lostPages{due: map[uri.Host][]time.Time{}, beingRead: test.beingRead}
			clock, pause := func() time.Time { return now }, func() error { return test.pause }
			due, err := keep.MakeDue(t.Context(), s, index, c, clock, pause)
			if !errors.Is(err, test.pause) || s.steps/2 != test.wantRounds ||
				test.pause == nil && due != int64(60*test.wantRounds) {
				t.Errorf("%d due after %d steps, %v; want %d times two steps", due, s.steps, err, test.wantRounds)
			}
			if l := index.Losses(); len(l) != 1 || l[0].Pending != test.pending {
				t.Errorf("the losses are %+v, want pending: %t", l, test.pending)
			}
			for host, times := range s.due {
				for n, when := range times {
					if want := now.Add(time.Duration(n%30+1) * time.Minute); !when.Equal(want) {
						t.Errorf("page %d of %s is due at %s, want %s", n, host, when, want)
					}
				}
			}
		})
	}
}
