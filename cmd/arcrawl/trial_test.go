package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// trial is a test that has one kind of fault happen to the real program. It counts, for the table of all kinds.
type trial struct {
	*testing.T
	faults int // that happened
	left   remains
	whyNot string // why the test was skipped
	mayEnd bool   // whether the program may end on a disk without space, on a busy machine; systemd would start it again
}

// remains holds what an examination after a number of faults has found.
type remains struct {
	examined bool
	ended    int // how often the program ended by itself
	visits   int // in the store
	lost     int // visits that the store, crawl.log or the archive has lost
	bad      int // records and files of the archive that do not verify
	dangling int // revisit records without their original

	rest, shortest time.Duration // between two requests to a host: as it is set, and the shortest
	restart        time.Duration // longest time from a start to the first request
}

// Skipf skips the test and keeps the reason.
func (t *trial) Skipf(format string, args ...any) {
	t.Helper()
	t.whyNot = fmt.Sprintf(format, args...)
	t.T.Skip(t.whyNot)
}

// examine checks what a number of faults have left in a folder. Each may leave a capture of each host without its line
// in crawl.log, and a line without its visit in the store.
func examine(t *trial, dir string, site *killSite, kills int) {
	t.Helper()
	records := t.records(filepath.Join(dir, "warc"))
	if code, out, errs := command("verify", filepath.Join(dir, "warc")); code != cli.ExitOK {
		t.Errorf("verify: %d\n%s%s", code, out, errs)
		t.left.bad++
	}
	lines, unlogged := t.lines(filepath.Join(dir, "crawl.log"), records)
	for host, more := range unlogged {
		// Each host has one slot: a kill can leave one record without its line, and one line that is not in the store.
		if more < 0 || more > kills {
			t.Errorf("%s: %d captures more than lines in crawl.log; want at most one for each of %d kills", host, more, kills)
		}
	}
	for host, more := range t.repeated(dir, site, lines) {
		if more < 0 || more > kills {
			t.Errorf("%s: %d lines more than visits in the store, want 0 to %d", host, more, kills)
			t.left.lost += max(-more, more-kills)
		}
	}
	t.left.rest = site.rest
	t.left.shortest, t.left.restart = site.measured()
	if t.left.shortest < site.rest-time.Millisecond {
		t.Errorf("a host was asked twice within %s, its rest is %s", t.left.shortest, site.rest)
	}
	t.left.examined = true
	t.Logf("%d visits in the store after %d faults", t.left.visits, t.faults)
}

// records reads an archive, and counts what is wrong with it. It returns the records by file and offset.
func (t *trial) records(warcs string) map[string]archivetest.CheckedRecord {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(warcs, "*.warc.gz*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []archivetest.CheckedRecord
	for _, file := range files {
		read, err := archivetest.CheckFile(file)
		if strings.HasSuffix(file, ".open") {
			err = errors.Join(err, fmt.Errorf("%s was left open", file))
		}
		if err != nil {
			t.Error(err)
			t.left.bad++
		}
		all = append(all, read...)
	}
	var faults interface{ Unwrap() []error }
	if errors.As(archivetest.CheckRecords(all), &faults) {
		for _, err := range faults.Unwrap() {
			t.Error(err)
			if errors.Is(err, archivetest.ErrNoOriginal) {
				t.left.dangling++
			} else {
				t.left.bad++
			}
		}
	}
	at := make(map[string]archivetest.CheckedRecord, len(all))
	for _, r := range all {
		at[fmt.Sprintf("%s@%d", r.File, r.Offset)] = r
	}
	return at
}

// lines compares crawl.log with the records of the archive. It returns the number of lines of each URI, and for each
// host how many captures are in no line.
func (t *trial) lines(log string, records map[string]archivetest.CheckedRecord) (map[string]int, map[uri.Host]int) {
	t.Helper()
	lines, unlogged := map[string]int{}, map[uri.Host]int{}
	for _, r := range records {
		if r.Main() {
			unlogged[uri.FromCanonical(r.Target()).Host()]++
		}
	}
	for _, e := range testcrawl.ReadLog(t, log) {
		lines[e.URI]++
		if e.Extra == nil || e.Extra.WARCFile == "" {
			continue
		}
		unlogged[uri.FromCanonical(e.URI).Host()]--
		if r, ok := records[fmt.Sprintf("%s@%d", e.Extra.WARCFile, e.Extra.WARCOffset)]; !ok || r.Target() != e.URI {
			t.Errorf("crawl.log names a record of %s at %d of %s that does not exist", e.URI, e.Extra.WARCOffset, e.Extra.WARCFile)
			t.left.lost++
		}
	}
	return lines, unlogged
}

// repeated compares the store with the lines of crawl.log. It returns for each host how many lines there are more than
// visits in the store.
func (t *trial) repeated(dir string, site *killSite, lines map[string]int) map[uri.Host]int {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	more := map[uri.Host]int{}
	for _, u := range site.uris() {
		r, known, err := f.Get(u)
		if err != nil || !known || r.Visits == 0 {
			t.Errorf("%s is lost: known %t, %d visits, %v", u, known, r.Visits, err)
			t.left.lost++
		}
		t.left.visits += r.Visits
		more[u.Host()] += lines[u.String()] - r.Visits
	}
	return more
}
