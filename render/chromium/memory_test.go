package chromium

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestTheMemoryOfDescendantsCounts measures a tree of processes that changes between the looks. Processes that do not
// belong to it are read when they appear, and rarely again.
func TestTheMemoryOfDescendantsCounts(t *testing.T) {
	t.Parallel()
	proc := t.TempDir()
	process := func(id, parent, private int) {
		t.Helper()
		dir := filepath.Join(proc, strconv.Itoa(id))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"stat":  fmt.Sprintf("%d (a ) name) S %d 1 1", id, parent),
			"statm": fmt.Sprintf("900 %d 7 0 0 0 0", private+7),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	m := &meter{proc: proc, root: 10}
	look := func(what string, want int64) {
		t.Helper()
		if got := m.memory() / pageSize; got != want {
			t.Errorf("%s: %d pages, want %d", what, got, want)
		}
	}
	process(1, 0, 1000)
	process(10, 1, 1)
	process(11, 10, 20)
	process(12, 11, 300)
	process(20, 1, 4000)
	look("at first", 321)
	process(13, 12, 5000)
	look("with a new descendant", 5321)
	if err := os.RemoveAll(filepath.Join(proc, "12")); err != nil {
		t.Fatal(err)
	}
	look("after one has ended, whose child has no parent then", 21)
	process(20, 10, 4000) // the number belongs to another process now
	for range lookAgain {
		_ = m.memory()
	}
	look("some time later", 4021)
	if err := os.Remove(filepath.Join(proc, "1", "stat")); err != nil {
		t.Fatal(err)
	}
	if m.list(); m.parents[1] != 0 || len(m.parents) != 5 {
		t.Errorf("a known process was read again: %v", m.parents)
	}
}

// A page that takes 400 MB in a second is ended before it exceeds the limit, and not long before. The same page may
// have nearly all of the limit if it takes no more.
func TestAPageIsEndedBeforeItExceedsTheLimit(t *testing.T) {
	t.Parallel()
	const limit, perSecond = int64(1 << 30), int64(400 << 20)
	for begin := range int64(40) {
		last, used, looks := int64(0), begin*limit/80, 0
		pause := watchSeldom
		for ; !exceeds(last, used, limit, pause); looks++ {
			pause = watchPause(used, limit)
			last = used
			used += int64(pause.Seconds() * float64(perSecond))
		}
		if used > limit || used < limit*9/10 || looks < 2 {
			t.Errorf("from %d MB: ended at %d MB after %d looks", begin*limit/80>>20, used>>20, looks)
		}
	}
	if exceeds(limit-1, limit-1, limit, watchOften) {
		t.Error("a page that takes no more memory is ended")
	}
}
