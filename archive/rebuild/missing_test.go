package rebuild_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/rebuild"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

func TestVisitsThatTheStoreLostAreFoundAndAdded(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t, func(_, main string) string {
		return main + "[log]\nextra_info = true\n"
	})
	l.Visited(t)
	now := time.Now()
	intact := l.Killed(t, daemontest.Damages["intact"])
	want := entriesIn(t, loaded(t, intact), now)
	if len(want) != 2 {
		t.Fatalf("%d URIs, want the page and robots.txt", len(want))
	}
	for _, name := range []string{"deleted", "zeroed"} {
		dir := l.Killed(t, daemontest.Damages[name])
		if name == "zeroed" {
			leaveOpen(t, dir) // no daemon started since the kill
		}
		c := loaded(t, dir)
		addMissing(t, c, now, false)
		if diff := cmp.Diff(want, entriesIn(t, c, now)); diff != "" {
			t.Errorf("%s: -before +after:\n%s", name, diff)
		}
	}
}

// addMissing looks for the visits that a store has lost, and adds them; there are none when it looks again. bare says
// that the log does not say where their payloads are.
func addMissing(t *testing.T, c *config.Config, now time.Time, bare bool) {
	t.Helper()
	for again, visits := range []int64{2, 0} {
		f, err := daemon.OpenStopped(t.Context(), c, now)
		archivetest.Must(t, err)
		m, r, err := rebuild.AddMissing(t.Context(), f, c, now)
		if err != nil || m.Visits != visits || bare && m.Bare != visits {
			t.Errorf("%s, %d: %d visits are missing, want %d (%v)", c.Path, again, m.Visits, visits, err)
		}
		if r.Lines != visits || r.Missing != 0 || bare && r.Payloads != visits {
			t.Errorf("%s, %d: added %+v", c.Path, again, r)
		}
		archivetest.Must(t, f.Close())
	}
}

// leaveOpen renames the WARC file of a killed daemon to the name that it had before the daemon was started again.
func leaveOpen(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) != 1 {
		t.Fatalf("WARC files %v, %v", files, err)
	}
	archivetest.Must(t, os.Rename(files[0], files[0]+".open"))
}

// The log has no thirteenth column, as by default, was rotated and compressed, and the killed daemon left its WARC file
// open.
func TestVisitsOfABareCompressedLogAreAddedFromTheArchive(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t)
	l.Visited(t)
	now := time.Now()
	want := entriesIn(t, loaded(t, l.Killed(t, daemontest.Damages["intact"])), now)
	dir := l.Killed(t, daemontest.Damages["deleted"])
	log := filepath.Join(dir, "crawl.log")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	text, err := os.ReadFile(log)
	if _, errWrite := z.Write(text); errors.Join(err, errWrite, z.Close(), os.Remove(log)) != nil {
		t.Fatal(err, errWrite)
	}
	daemontest.Write(t, log+".1.gz", packed.String())
	leaveOpen(t, dir)
	c := loaded(t, dir)
	addMissing(t, c, now, true)
	got := entriesIn(t, c, now)
	for u, w := range want {
		g := got[u]
		if late := (g.Due - w.Due) * 10; late < 0 || late > 60_000 {
			t.Errorf("%s is due %d ms late, want at most a minute, for a busy machine", u, late)
		}
		if g.Due = w.Due; g != w {
			t.Errorf("%s was %+v, is %+v", u, w, g)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".unpacked-*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// loaded returns the configuration in a folder.
func loaded(t *testing.T, dir string) *config.Config {
	t.Helper()
	archivetest.Must(t, os.MkdirAll(filepath.Join(dir, "hosts.d"), 0o750))
	c, err := daemon.LoadConfig(filepath.Join(dir, "arcrawl.toml"), zerolog.Nop())
	archivetest.Must(t, err)
	return c
}

// facts holds the part of an entry that must be the same as before the loss.
type facts struct {
	Visits, Versions int
	Status           int
	Due, Visited     int64 // in ms
	Payload, Record  string
	File             string
	ETag             string
}

// entriesIn returns what the store in a folder knows of each URI.
func entriesIn(t *testing.T, c *config.Config, now time.Time) map[string]facts {
	t.Helper()
	f, err := daemon.OpenStopped(t.Context(), c, now)
	archivetest.Must(t, err)
	list, _, err := f.List(now, frontier.Selection{}, "", 100)
	archivetest.Must(t, err)
	all := map[string]facts{}
	for _, e := range list {
		all[e.URI.String()] = facts{
			int(e.Visits), int(e.Versions), e.LastStatus, e.Due.UnixMilli() / 10, e.LastVisit.UnixMilli(), e.Payload.String(),
			e.Origin.RecordID, e.Origin.File, e.Validators.ETag,
		}
	}
	archivetest.Must(t, f.Close())
	return all
}
