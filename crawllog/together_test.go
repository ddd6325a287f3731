package crawllog

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
)

// TestLinesThatWaitAreWrittenTogether keeps the file busy until all goroutines wait. Then the write succeeds or fails.
func TestLinesThatWaitAreWrittenTogether(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		t.Run("fails "+strconv.FormatBool(fails), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "crawl.log")
			w, err := Open(path, false)
			if err != nil {
				t.Fatal(err)
			}
			entry := Entry{Logged: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), Status: 200, URI: "http://a.example/"}
			if err := w.Write(entry); err != nil {
				t.Fatal(err)
			}
			const late = 5
			w.mu.Lock()
			good := w.file
			if fails {
				if w.file, err = os.Open(path); err != nil { // nothing can be written to it
					t.Fatal(err)
				}
			}
			var all sync.WaitGroup
			errs := make([]error, late)
			for n := range late {
				all.Go(func() { errs[n] = w.Write(entry) })
			}
			for waiting := 0; waiting < late; {
				w.gate.Lock()
				if w.gathering != nil {
					waiting = bytes.Count(w.gathering.text, []byte("\n"))
				}
				w.gate.Unlock()
				runtime.Gosched()
			}
			w.mu.Unlock()
			all.Wait()
			for n, err := range errs {
				if (err != nil) != fails {
					t.Errorf("line %d: %v", n, err)
				}
			}
			w.file = good
			if err := w.Write(entry); err != nil {
				t.Errorf("the next line: %v", err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			text, err := os.ReadFile(path)
			if want := map[bool]int{false: 2 + late, true: 2}[fails]; err != nil || bytes.Count(text, []byte("\n")) != want {
				t.Errorf("%d lines, %v; want %d", bytes.Count(text, []byte("\n")), err, want)
			}
		})
	}
}
