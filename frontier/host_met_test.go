package frontier

import (
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// A row of an earlier version does not say whether its host ever answered. A host that is down now is expected back if
// it ever answered for robots.txt.
func TestAnEarlierVersionsHostThatAnsweredIsExpectedBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o := Options{Dir: t.TempDir(), Now: now, Compactors: -1}
	f, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"answered", "never", "up"} {
		u, err := uri.Parse("http://" + host + ".example/")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Add(now, Candidate{URI: u}); err != nil {
			t.Fatal(err)
		}
		h := f.hosts[u.Host()]
		s := h.clone()
		s.met, s.failures = metUnknown, 3
		if host == "up" {
			s.failures = 0
		}
		err = f.db.Update(func(txn *badger.Txn) error {
			w := s.hostRow(h.name)
			row, _ := w.appendTo(nil)
			if host == "answered" {
				if err := writeRow(txn, robotsKey(h.id, u), newRobotsRow(RobotsCopy{Status: 404})); err != nil {
					return err
				}
			}
			return txn.Set(hostKey(h.id), row)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(o); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for host, want := range map[uri.Host]hostMet{
		"answered.example": metAnswered, "never.example": metNever, "up.example": metAnswered,
	} {
		if got := f.hosts[host].met; got != want {
			t.Errorf("%s: met is %d, want %d", host, got, want)
		}
	}
}
