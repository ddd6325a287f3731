package frontier

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/smalldisk"
	"github.com/arcrawl/arcrawl/uri"
)

// A kill after any portion of an eviction leaves a sound store, in which the eviction is completed later and the number
// of the host is used again.
func TestKillBetweenPortionsOfAnEviction(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o := Options{Dir: t.TempDir(), Compactors: -1, Now: now, NewHosts: NewHosts{Total: 1}}
	f, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	link := func(f *Frontier, text string) Added {
		t.Helper()
		added, err := f.Add(now, Candidate{URI: uri.FromCanonical(text), Hops: "L"})
		if err != nil {
			t.Fatal(err)
		}
		return added
	}
	for n := range 3*evictBatch - 1 {
		link(f, fmt.Sprintf("http://dead.example/%d", n))
	}
	c, _, err := f.Claim(now)
	if err != nil {
		t.Fatal(err)
	}
	down := Settlement{Record: c.Record, Finished: now, HostDown: true}
	down.Record.Due = now.Add(time.Hour)
	down.Robots = &RobotsCopy{Fetched: now}
	if _, err := f.Settle(c, down); err != nil {
		t.Fatal(err)
	}
	h, from := f.hosts["dead.example"], fingerprint{}
	for portion, more := 1, true; more; portion++ {
		if from, _, more, err = f.evictPortion(h, from); err != nil {
			t.Fatal(err)
		}
		killed := o
		killed.Dir = filepath.Join(t.TempDir(), "killed")
		if err := smalldisk.CopyFS(killed.Dir, o.Dir); err != nil {
			t.Fatal(err)
		}
		g, err := Open(killed)
		if err != nil {
			t.Fatalf("after portion %d: %v", portion, err)
		}
		if left := g.hosts["dead.example"].uris; left != max(0, int64(3*evictBatch-1-portion*evictBatch)) {
			t.Errorf("after portion %d: %d URIs are left", portion, left)
		}
		if added := link(g, "http://new.example/"); added.Refused != 1 {
			t.Errorf("after portion %d: Add = %+v; want it refused before there is room", portion, added)
		}
		if n, err := g.MakeRoom(nil); n != 1 || err != nil {
			t.Errorf("after portion %d: MakeRoom = %d, %v", portion, n, err)
		}
		if added := link(g, "http://new.example/"); added.New != 1 || g.hosts["new.example"].id != 1 || len(g.byID) != 1 {
			t.Errorf("after portion %d: Add = %+v, %d hosts", portion, added, len(g.byID))
		}
		if err := g.Check(); err != nil {
			t.Errorf("after portion %d: %v", portion, err)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
