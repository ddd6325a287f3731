package frontier

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// Badger appends the tables that it has written to its manifest. If the sync of that fails, it removes them, and the
// manifest names tables that do not exist. Such a store is not damaged: all that is in them is elsewhere too.
func TestTablesWhoseListingFailedAreForgotten(t *testing.T) {
	t.Parallel()
	change := func(id, op byte) []byte { return []byte{1<<3 | 2, 4, 1 << 3, id, 2 << 3, op} }
	for _, c := range []struct {
		name    string
		entry   [][]byte // the last of the manifest; table 1 exists
		empty   bool     // Badger has emptied the last table, and could not remove it
		noted   bool
		corrupt bool
	}{
		{"a full log", [][]byte{change(99, 0)}, false, true, false},
		{"a full log whose table is still there", [][]byte{change(99, 0)}, true, true, false},
		{"a merge", [][]byte{change(98, 0), change(99, 0), change(1, 1)}, false, true, false},
		{"nobody has noted it", [][]byte{change(99, 0)}, false, false, true},
		{"a note without a cause", nil, false, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, now := t.TempDir(), time.Now()
			f, err := Open(Options{Dir: dir, Now: now})
			noErr(t, err)
			u := uri.FromCanonical("http://a.example/")
			_, err = f.Add(now, Candidate{URI: u, Seed: u.String()})
			noErr(t, errors.Join(err, f.Close())) // writes table 1
			name := filepath.Join(dir, badger.ManifestFilename)
			before, err := os.ReadFile(name)
			noErr(t, err)
			text := slices.Clone(before)
			if message := slices.Concat(c.entry...); message != nil {
				text = binary.BigEndian.AppendUint32(text, uint32(len(message)))
				text = binary.BigEndian.AppendUint32(text, crc32.Checksum(message, castagnoli))
				text = append(text, message...)
			}
			noErr(t, os.WriteFile(name, text, 0o600))
			if c.empty {
				noErr(t, os.WriteFile(filepath.Join(dir, "000099.sst"), nil, 0o600))
			}
			if c.noted {
				noErr(t, os.WriteFile(filepath.Join(dir, unlistedFile), nil, 0o600))
			}
			f, err = Open(Options{Dir: dir, Now: now})
			if c.corrupt {
				if !errors.Is(err, ErrCorrupt) {
					t.Fatalf("Open: %v, want ErrCorrupt", err)
				}
				return
			}
			noErr(t, err)
			defer f.Close()
			noErr(t, f.Check())
			if _, known, err := f.Get(u); err != nil || !known {
				t.Errorf("the URI is known: %t, %v", known, err)
			}
			if _, err := os.Stat(filepath.Join(dir, unlistedFile)); !os.IsNotExist(err) {
				t.Errorf("the note is still there: %v", err)
			}
		})
	}
}

// A table with the first entry of the manifest may stand for all: a manifest is sometimes written again as one entry.
func TestTheFirstEntryOfAManifestIsKept(t *testing.T) {
	t.Parallel()
	message := []byte{1<<3 | 2, 4, 1 << 3, 99, 2 << 3, 0}
	text := binary.BigEndian.AppendUint32([]byte("Bdgr\x00\x00\x00\x08"), uint32(len(message)))
	text = append(binary.BigEndian.AppendUint32(text, crc32.Checksum(message, castagnoli)), message...)
	if got := withoutUnlisted(t.TempDir(), text); !slices.Equal(got, text) {
		t.Errorf("%d bytes, want %d", len(got), len(text))
	}
}

// A manifest that cannot be written stops the crawl: each call that writes returns the cause, and closing does not
// wait for Badger.
func TestAManifestThatCannotBeWrittenStopsTheStore(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), Now: time.Now(), AwaitSpace: func() {}}
	f, err := Open(o)
	noErr(t, err)
	cause := &os.PathError{Op: "sync", Path: filepath.Join(o.Dir, badger.ManifestFilename), Err: syscall.EIO}
	go f.o.reserve.Errorf(failedFlush+": %v, retrying", error(cause)) // as Badger does in a goroutine of its own
	for f.o.reserve.fault() == nil {
		time.Sleep(time.Millisecond)
	}
	u := uri.FromCanonical("http://a.example/")
	_, addErr := f.Add(o.Now, Candidate{URI: u, Seed: u.String()})
	for call, err := range map[string]error{"Add": addErr, "Sync": f.Sync(), "Space": f.Space(), "Close": f.Close()} {
		if !errors.Is(err, syscall.EIO) || errors.Is(err, ErrFull) {
			t.Errorf("%s: %v, want an error that wraps %v and does not ask for space", call, err, syscall.EIO)
		}
	}
	if _, err := os.Stat(filepath.Join(o.Dir, unlistedFile)); err != nil {
		t.Error(err)
	}
}

// The disk was full when a merger had written its first tables: an attempt to reserve space for the next has failed.
// When there is space again, the merger continues, although its tables count as being written until it ends.
func TestAMergerContinuesWhenThereIsSpaceAgain(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), Now: time.Now(), AwaitSpace: func() { time.Sleep(time.Millisecond) }}
	f, err := Open(o)
	noErr(t, err)
	defer f.Close()
	noErr(t, f.Space())
	r, merger := f.o.reserve, new(int)
	r.beginTable(merger)
	r.mu.Lock()
	r.short = true
	noErr(t, r.resize(0))
	r.mu.Unlock()
	done := make(chan bool)
	go func() { r.beginTable(merger); close(done) }()
	select {
	case <-done:
		r.endMerge(merger)
		noErr(t, f.Space())
	case <-time.After(time.Minute):
		t.Error("the merger still waits")
		r.endMerge(merger) // so that it ends
		<-done
	}
}

// A table that cannot be written holds the crawl until it is written. Otherwise Badger would tell nobody, and hang when
// the next log is full too.
func TestATableThatCannotBeWrittenHoldsTheCrawl(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), Now: time.Now(), AwaitSpace: func() {}}
	f, err := Open(o)
	noErr(t, err)
	defer f.Close()
	noErr(t, f.Space())
	r := f.o.reserve
	r.mu.Lock()
	r.flushes = []int{r.current} // as if the log were full
	r.mu.Unlock()
	cause := errors.New("error while creating table: msync 000001.sst: input/output error") // Badger hides the cause
	r.Errorf(failedFlush+": %v, retrying", cause)
	u := uri.FromCanonical("http://a.example/")
	_, addErr := f.Add(o.Now, Candidate{URI: u, Seed: u.String()})
	for call, err := range map[string]error{"Add": addErr, "Space": f.Space()} {
		if !errors.Is(err, ErrFull) || !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "000001.sst") {
			t.Errorf("%s: %v, want ErrFull, EIO and the name of the table", call, err)
		}
	}
	r.mu.Lock()
	r.flushes = nil // it was written
	r.mu.Unlock()
	noErr(t, f.Space())
	<-r.failed // so that closing waits for Badger
}
