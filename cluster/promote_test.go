package cluster

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// outage is how long the database is away until its standby is promoted. Nothing is claimed after five seconds, and
// the lease lasts for ten.
const outage = 8 * time.Second

// firstAfter returns how long after a time the next request came.
func (s *sharedSite) firstAfter(t time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := time.Hour
	for _, list := range s.asked {
		for _, r := range list {
			if r.at.After(t) {
				first = min(first, r.at.Sub(t))
			}
		}
	}
	return first
}

// TestAPromotedStandByContinuesTheCrawl crashes the database for good, and promotes its synchronous standby. The
// nodes continue by themselves, none takes hosts of the other, and no visit is lost.
func TestAPromotedStandByContinuesTheCrawl(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	other := db.StandBy()
	site := newSharedSite(t)
	f := newProcesses(t, db.URL(db.Address()+","+other.Address()), site, "a", "b")
	first := f.start("a")
	f.waitFor("a", 100)
	second := f.start("b")
	f.awaitStatus("b", "crawls 50 %")
	before := ownersOf(t, db.URL(db.Address()))
	status := func(want string) {
		t.Helper()
		if out, err := f.status(f.config["b"]); err != nil || !strings.Contains(out, want) {
			t.Errorf("the status lacks %q: %v\n%s", want, err, out)
		}
	}
	status("1 of them synchronous")
	db.Crash()
	crashed := time.Now()
	time.Sleep(outage) // until somebody decides
	other.Promote()
	back := time.Now()
	f.waitFor("a", 30)
	until := site.firstAfter(back)
	t.Logf("the database was away for %s; the first request was made %s after it came back", back.Sub(crashed), until)
	if quiet := site.firstAfter(back.Add(-time.Second)); quiet < time.Second {
		t.Errorf("requests were made in the last second of an outage of %s, want none after 5 s", outage)
	}
	f.waitFor("b", 30)
	if after := ownersOf(t, db.URL(other.Address())); !slices.Equal(before, after) {
		t.Error("hosts have moved from one node to the other")
	}
	first.Terminate(t)
	f.waitFor("b", 30)
	second.Terminate(t)
	t.Logf("%d visits were made again", f.examine())
}

// ownersOf returns what the database has about the parts of the crawl.
func ownersOf(t *testing.T, database string) []shared.Part {
	t.Helper()
	is, err := shared.Owners(t.Context(), database)
	must(t, err)
	return is.Parts
}
