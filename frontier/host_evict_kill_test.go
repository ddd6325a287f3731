package frontier

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/smalldisk"
)

// A kill after any portion of an eviction leaves a sound store, in which the eviction is completed later and the number
// of the host is used again.
func TestKillBetweenPortionsOfAnEviction(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), NewHosts: NewHosts{Total: 1}}
	f := openTest(t, o)
	for n := range 3*evictBatch - 1 {
		link(t, f, fmt.Sprintf("http://dead.example/%d", n))
	}
	c, _, err := f.Claim(start)
	noErr(t, err)
	down := Settlement{Record: c.Record, Finished: start, HostDown: true, Robots: &RobotsCopy{Fetched: start}}
	down.Record.Due = start.Add(time.Hour)
	_, err = f.Settle(c, down)
	noErr(t, err)
	h, from := f.hosts["dead.example"], fingerprint{}
	for portion, more := 1, true; more; portion++ {
		from, _, more, err = f.evictPortion(h, from)
		noErr(t, err)
		killed := o
		killed.Dir = filepath.Join(t.TempDir(), "killed")
		noErr(t, smalldisk.CopyFS(killed.Dir, o.Dir))
		g := openTest(t, killed)
		if left := g.hosts["dead.example"].uris; left != max(0, int64(3*evictBatch-1-portion*evictBatch)) {
			t.Errorf("after portion %d: %d URIs are left", portion, left)
		}
		if added := link(t, g, "http://new.example/"); added.Refused != 1 {
			t.Errorf("after portion %d: Add = %+v; want it refused before there is room", portion, added)
		}
		if n, err := g.MakeRoom(nil); n != 1 || err != nil {
			t.Errorf("after portion %d: MakeRoom = %d, %v", portion, n, err)
		}
		if added := link(t, g, "http://new.example/"); added.New != 1 || g.hosts["new.example"].id != 1 || len(g.byID) != 1 {
			t.Errorf("after portion %d: Add = %+v, %d hosts", portion, added, len(g.byID))
		}
		noErr(t, errors.Join(g.Check(), g.Close()))
	}
}
