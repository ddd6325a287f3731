package keep

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/index"
)

// queued is a queue under test whose lines the test reads itself.
type queued struct {
	*Queue
	t   *testing.T
	dir string
}

func newQueued(t *testing.T) *queued {
	q := &queued{t: t, dir: filepath.Join(t.TempDir(), "queue")}
	q.reopen()
	return q
}

// reopen opens the queue as a new process does.
func (q *queued) reopen() {
	q.t.Helper()
	var err error
	if q.Queue, err = OpenQueue(q.dir); err != nil {
		q.t.Fatal(err)
	}
}

func (q *queued) add(from, to int) {
	q.t.Helper()
	for i := from; i < to; i++ {
		line := index.Entry{Key: "k", Timestamp: "20261121090000", URL: fmt.Sprint(i), Filename: "f"}.AppendTo(nil)
		if err := q.Add(line); err != nil {
			q.t.Fatal(err)
		}
	}
}

// next returns the URIs of the next lines, and where the lines end.
func (q *queued) next(lines, size int) (uris []string, end int64) {
	q.t.Helper()
	entries, end, err := q.Next(lines, size)
	if err != nil {
		q.t.Fatal(err)
	}
	for _, e := range entries {
		uris = append(uris, e.URL)
	}
	return uris, end
}

func (q *queued) done(end int64) {
	q.t.Helper()
	if err := q.Done(end); err != nil {
		q.t.Fatal(err)
	}
}

// wantRest checks all further lines, read in batches of three.
func (q *queued) wantRest(want ...string) {
	q.t.Helper()
	var got []string
	for q.Waiting() > 0 {
		uris, end := q.next(3, 1<<20)
		got = append(got, uris...)
		q.done(end)
	}
	if !slices.Equal(got, want) {
		q.t.Errorf("got %v, want %v", got, want)
	}
}

func (q *queued) write(name, text string) {
	q.t.Helper()
	if err := os.WriteFile(filepath.Join(q.dir, name), []byte(text), 0o644); err != nil {
		q.t.Fatal(err)
	}
}

func TestQueueResumesAfterReopening(t *testing.T) {
	t.Parallel()
	q := newQueued(t)
	q.add(0, 5)
	uris, end := q.next(2, 1<<20)
	if !slices.Equal(uris, []string{"0", "1"}) {
		t.Errorf("the first URIs are %v", uris)
	}
	q.done(end)
	q.next(2, 1<<20) // the lines are not marked as done
	q.reopen()
	q.add(5, 7)
	q.wantRest("2", "3", "4", "5", "6")
	q.reopen()
	q.wantRest()
}

func TestQueueRepairsItselfAfterACrash(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		crash func(q *queued)
		want  []string
	}{
		"a torn line is dropped":                           {func(q *queued) { _, _ = q.file.WriteString(`k 20261121090000 {"url":"x`) }, []string{"2", "3"}},
		"a position of another file is the beginning":      {func(q *queued) { q.write(positionName, "7\n") }, []string{"0", "1", "2", "3"}},
		"a position of garbage is the beginning":           {func(q *queued) { q.write(positionName, "\x00\x00") }, []string{"0", "1", "2", "3"}},
		"a negative position is the beginning":             {func(q *queued) { q.write(positionName, "-3\n") }, []string{"0", "1", "2", "3"}},
		"lines before a position beyond the end were sent": {func(q *queued) { q.write(positionName, "99999\n") }, []string{}},
		"lines that are not valid are skipped":             {func(q *queued) { _, _ = q.file.WriteString("\x00\x00\n") }, []string{"2", "3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQueued(t)
			q.add(0, 4)
			_, end := q.next(2, 1<<20)
			q.done(end)
			row.crash(q)
			q.reopen()
			q.add(9, 10)
			q.wantRest(append(row.want, "9")...)
		})
	}
}

func TestQueueIsEmptiedOnlyWhenAllLinesWereSent(t *testing.T) {
	t.Parallel()
	q := newQueued(t)
	n := emptyFrom/60 + 1
	q.add(0, n)
	_, end := q.next(n, 2*emptyFrom)
	q.add(n, n+1)
	q.done(end) // a line was added meanwhile
	q.wantRest(fmt.Sprint(n))
	if info, err := os.Stat(filepath.Join(q.dir, queueName)); err != nil || info.Size() != 0 {
		t.Errorf("the file still has %d bytes, %v", info.Size(), err)
	}
	q.add(0, 1)
	q.reopen()
	q.wantRest("0")
}

func TestQueueSkipsALineThatIsTooLong(t *testing.T) {
	t.Parallel()
	q := newQueued(t)
	if err := q.Add([]byte(strings.Repeat("x", 5000) + "\n")); err != nil {
		t.Fatal(err)
	}
	q.add(0, 1)
	uris, end := q.next(10, 1000)
	if len(uris) != 0 || end != 5001 {
		t.Errorf("got %v up to %d", uris, end)
	}
	q.done(end)
	q.wantRest("0")
}
