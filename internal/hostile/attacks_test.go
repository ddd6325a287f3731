package hostile_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// attack is a row: what a stranger does, and what must hold.
type attack struct {
	name string
	// stranger starts the servers of the attack and returns what the crawl needs in order to meet them.
	stranger func(c *crawl) crawlOptions
	// lasts is how long the daemon crawls. Zero means crawlTime.
	lasts time.Duration
	// bound limits what the attack may add to the usage of a crawl without strangers. A zero field has the default.
	bound usage
	// check fails the test for what else must not happen.
	check func(t *testing.T, c *crawl)
	// oddArchive says that the archive holds answers that warccheck does not understand; only references are checked.
	oddArchive bool
	// quick says that the row belongs to the everyday tests.
	quick bool
	// awaited is why the row is known to fail. Rows are skipped while it is set.
	awaited string
}

// defaultBound limits the rows that have no bound of their own. The crawler keeps up to 256 idle connections.
var defaultBound = usage{goroutines: 60, heap: 32 << 20, descriptors: 300, disk: 64 << 20}

// rows returns all attacks.
func rows() []attack {
	var all []attack
	for _, some := range [][]attack{
		answers(), waits(), quotas(), costs(), partners(), shares(), reaching(), behind(), floods(), escapes(),
	} {
		all = append(all, some...)
	}
	return all
}

// everything reports whether all rows run.
func everything() bool { return os.Getenv("ARCRAWL_HOSTILE") != "" }

// baseline is a crawl of the healthy site alone, with the settings of a row.
type baseline struct {
	lasts   time.Duration
	healthy int64
	used    usage
}

// without measures a crawl without strangers that lasts as long as the crawl of a row.
func without(t *testing.T, lasts time.Duration) (b baseline) {
	t.Run("without", func(t *testing.T) {
		c := newCrawl(t)
		c.run(crawlOptions{lasts: lasts})
		b = baseline{lasts, c.counted.Load(), c.used()}
	})
	return b
}

// TestHostile runs the quick rows, or all rows if ARCRAWL_HOSTILE is set. Rows that are awaited run only if it is
// "awaited".
func TestHostile(t *testing.T) {
	slow.Test(t)
	base := map[time.Duration]baseline{}
	for _, row := range rows() {
		if row.quick && !everything() {
			row.lasts = 3 * time.Second
		}
		t.Run(strings.ReplaceAll(row.name, " ", "-"), func(t *testing.T) {
			switch {
			case row.awaited != "" && os.Getenv("ARCRAWL_HOSTILE") != "awaited":
				t.Skip("awaited: " + row.awaited)
			case !row.quick && !everything():
				t.Skip("one of the long rows; run make hostile")
			}
			row.run(t, base)
		})
	}
}

// run crawls with the strangers of a row, and compares with a crawl without them.
func (row attack) run(t *testing.T, base map[time.Duration]baseline) {
	lasts := cmp.Or(row.lasts, crawlTime)
	before, ok := base[lasts]
	if !ok {
		before = without(t, lasts)
		base[lasts] = before
	}
	c := newCrawl(t)
	o := row.stranger(c)
	o.lasts = lasts
	c.run(o)
	healthy, used := c.counted.Load(), c.used()
	if healthy*10 < before.healthy*9 { // perhaps the machine has become busier: measure again
		before = without(t, lasts)
	}
	t.Logf("the healthy site had %d visits, %d without the attack; at most %s, without the attack %s",
		healthy, before.healthy, used, before.used)
	if healthy*10 < before.healthy*9 {
		t.Errorf("the healthy site had %d visits, less than 90 %% of the %d without the attack", healthy, before.healthy)
	}
	row.compare(t, used, before.used)
	if text := c.text(); strings.Contains(text, "pausing crawl") || strings.Contains(text, `"level":"panic"`) {
		t.Errorf("the crawl was paused:\n%s", text)
	}
	row.references(t, c)
	if row.check != nil {
		row.check(t, c)
	}
}

// compare fails the test if the attack added more than its bound to what is in use.
func (row attack) compare(t *testing.T, used, before usage) {
	t.Helper()
	b := usage{
		cmp.Or(row.bound.goroutines, defaultBound.goroutines), cmp.Or(row.bound.heap, defaultBound.heap),
		cmp.Or(row.bound.descriptors, defaultBound.descriptors), cmp.Or(row.bound.disk, defaultBound.disk),
	}
	for _, m := range []struct {
		what             string
		used, before, by int64
	}{
		{"goroutines", int64(used.goroutines), int64(before.goroutines), int64(b.goroutines)},
		{"bytes of heap", used.heap, before.heap, b.heap},
		{"descriptors", int64(used.descriptors), int64(before.descriptors), int64(b.descriptors)},
		{"bytes on disk", used.disk, before.disk, b.disk},
	} {
		if m.used > m.before+m.by {
			t.Errorf("the attack took %d %s, without it %d; want at most %d more", m.used, m.what, m.before, m.by)
		}
	}
}

// references fails the test if a revisit record refers to anything but a response record.
func (row attack) references(t *testing.T, c *crawl) {
	t.Helper()
	var all []archivetest.CheckedRecord
	if row.oddArchive {
		files, _ := filepath.Glob(filepath.Join(c.dir, "warc", "*.warc.gz"))
		for _, f := range files {
			some, err := archivetest.CheckFile(f)
			if err != nil {
				t.Error(err)
			}
			all = append(all, some...)
		}
	} else {
		all = archivetest.CheckDir(t, filepath.Join(c.dir, "warc"))
	}
	responses := map[string]bool{}
	for _, r := range all {
		if r.Type() == "response" {
			responses[r.Target()+" "+r.Header.Get("WARC-Date")] = true
		}
	}
	for _, r := range all {
		to := r.Header.Get("WARC-Refers-To-Target-URI") + " " + r.Header.Get("WARC-Refers-To-Date")
		if r.Type() == "revisit" && !responses[to] {
			t.Errorf("the revisit of %s refers to %s, which is no response record", r.Target(), to)
		}
	}
}
