package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

var backupDay = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func openStore(t *testing.T, dir string, now time.Time) *frontier.Frontier {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Dir: dir, Now: now, RestAfterCrash: time.Second})
	archivetest.Must(t, err)
	return f
}

// settleVisits adds URIs and settles visits until enough returns true. It returns the time at the end.
func settleVisits(t *testing.T, f *frontier.Frontier, from int, now time.Time, enough func(visits int) bool) time.Time {
	t.Helper()
	for n := 0; !enough(n); n++ {
		u, err := uri.Parse(fmt.Sprintf("http://h%d.example/%d/%s", n%50, from+n, strings.Repeat("long/", 30)))
		archivetest.Must(t, err)
		if _, err := f.Add(now, frontier.Candidate{URI: u}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(50 * time.Millisecond)
		claim, ok, err := f.Claim(now)
		archivetest.Must(t, err)
		if !ok {
			continue
		}
		r := claim.Record
		r.Due = now.Add(time.Duration(1+n%7) * time.Second)
		if _, err := f.Settle(claim, frontier.Settlement{Record: r, Finished: now}); err != nil {
			t.Fatal(err)
		}
	}
	return now
}

func taken(t *testing.T, o backupOptions) backup {
	t.Helper()
	b, err := takeBackup(t.Context(), o)
	archivetest.Must(t, err)
	return b
}

// restored restores a backup, opens it, checks every invariant, and returns the number of its URIs.
func restored(t *testing.T, b backup, now time.Time) int64 {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	archivetest.Must(t, errors.Join(b.verify(t.Context()), b.restore(t.Context(), state)))
	f := openStore(t, state, now)
	err := f.Check()
	uris := f.Counts(now).URIs
	if err := errors.Join(err, f.Close()); err != nil {
		t.Errorf("the restored store: %v", err)
	}
	return uris
}

// TestABackupOfACrawlThatRunsIsAConsistentStore takes backups while other goroutines write and merge as fast as they
// can.
func TestABackupOfACrawlThatRunsIsAConsistentStore(t *testing.T) {
	t.Parallel()
	state, to := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "backups")
	f := openStore(t, state, backupDay)
	var running sync.WaitGroup
	stop := make(chan struct{})
	running.Go(func() {
		settleVisits(t, f, 0, backupDay, func(int) bool {
			select {
			case <-stop:
				return true
			default:
				return false
			}
		})
	})
	var all []backup
	before := int64(0)
	for i := range 3 {
		for f.Counts(backupDay).URIs < before+700 {
			time.Sleep(time.Millisecond)
		}
		before = f.Counts(backupDay).URIs
		b := taken(t, backupOptions{State: state, To: to, Now: backupDay.Add(time.Duration(i) * time.Minute), Skip: []string{"spool"}})
		after := f.Counts(backupDay).URIs
		all = append(all, b)
		if n := restored(t, b, backupDay.AddDate(1, 0, 0)); n < before || n > after {
			t.Errorf("backup %d has %d URIs; the store had %d before and %d after it", i, n, before, after)
		}
	}
	close(stop)
	running.Wait()
	archivetest.Must(t, f.Close())
	list, err := listBackups(to)
	if err != nil || len(list) != len(all) {
		t.Errorf("%d backups are listed, want %d: %v", len(list), len(all), err)
	}
	// The first one still has what it had, although later ones share tables with it.
	restored(t, list[0], backupDay.AddDate(1, 0, 0))
}

// TestASecondBackupCopiesOnlyWhatIsNew takes a backup of a store that did not change.
func TestASecondBackupCopiesOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	state, to := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "backups")
	f := openStore(t, state, backupDay)
	now := settleVisits(t, f, 0, backupDay, func(n int) bool { return n == 2000 })
	archivetest.Must(t, f.Close())
	archivetest.Must(t, os.WriteFile(filepath.Join(state, "warc.journal"), []byte("sealed\n"), 0o600))
	first := taken(t, backupOptions{State: state, To: to, Now: backupDay})
	second := taken(t, backupOptions{State: state, To: to, Now: backupDay.Add(time.Hour)})
	if first.Linked != 0 || second.Linked < first.Copied/2 || second.Copied > first.Copied/2 {
		t.Errorf("the first backup copied %d and linked %d bytes, the second %d and %d", first.Copied, first.Linked, second.Copied, second.Linked)
	}
	third := taken(t, backupOptions{State: state, To: to, Now: backupDay.Add(2 * time.Hour), Keep: 1})
	if list, err := listBackups(to); err != nil || len(list) != 1 || list[0].Folder != third.Folder {
		t.Errorf("after Keep = 1 there are %d backups, %v", len(list), err)
	}
	if n, want := restored(t, third, now), int64(2000); n != want {
		t.Errorf("the last backup has %d URIs, want %d", n, want)
	}
	if info, err := os.Stat(filepath.Join(third.Folder, "warc.journal")); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("a private file has other permissions in the backup: %v, %v", info, err)
	}
}

// TestWhatAKillLeavesIsRemoved leaves an unfinished backup and an unfinished restore.
func TestWhatAKillLeavesIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state, to := filepath.Join(dir, "state"), filepath.Join(dir, "backups")
	f := openStore(t, state, backupDay)
	settleVisits(t, f, 0, backupDay, func(n int) bool { return n == 100 })
	archivetest.Must(t, f.Close())
	left := filepath.Join(to, ".unfinished-20260101T000000.000Z")
	archivetest.Must(t, os.MkdirAll(left, 0o750))
	b := taken(t, backupOptions{State: state, To: to, Now: backupDay})
	if _, err := os.Stat(left); err == nil {
		t.Error("an unfinished backup is still there")
	}
	if err := b.restore(t.Context(), state); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("restoring over a store: %v", err)
	}
	target := filepath.Join(dir, "other")
	archivetest.Must(t, os.MkdirAll(target+".restoring", 0o750))
	archivetest.Must(t, os.WriteFile(filepath.Join(target+".restoring", "half"), []byte("x"), 0o600))
	archivetest.Must(t, b.restore(t.Context(), target))
	if _, err := os.Stat(filepath.Join(target, "half")); err == nil {
		t.Error("the rest of an unfinished restore is in the state folder")
	}
}

func TestDamageOfABackupIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state, to := filepath.Join(dir, "state"), filepath.Join(dir, "backups")
	f := openStore(t, state, backupDay)
	settleVisits(t, f, 0, backupDay, func(n int) bool { return n == 100 })
	archivetest.Must(t, f.Close())
	b := taken(t, backupOptions{State: state, To: to, Now: backupDay})
	damaged := filepath.Join(b.Folder, "MANIFEST.saved")
	text, err := os.ReadFile(damaged)
	archivetest.Must(t, err)
	text[len(text)-1] ^= 1
	archivetest.Must(t, errors.Join(os.Chmod(damaged, 0o600), os.WriteFile(damaged, text, 0o600)))
	target := filepath.Join(dir, "other")
	for what, err := range map[string]error{"verify": b.verify(t.Context()), "restore": b.restore(t.Context(), target)} {
		if !errors.Is(err, damagedBackup{}) || !strings.Contains(err.Error(), "MANIFEST.saved") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("a damaged backup was restored")
	}
}
