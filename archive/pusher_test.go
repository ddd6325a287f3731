package archive

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// newTestPusher returns a pusher with n lines in its queue, which does not wait between posts, and its log.
func newTestPusher(t *testing.T, s *archivetest.CDXServer, n int) (*pusher, *bytes.Buffer) {
	t.Helper()
	queue, err := openQueue(t.TempDir())
	archivetest.Must(t, err)
	for i := range n {
		e := index.Entry{Key: "k", Timestamp: "20261121090000", URL: fmt.Sprintf("http://a.example/%d", i), Filename: "f"}
		archivetest.Must(t, queue.Add(e.AppendTo(nil)))
	}
	log := &bytes.Buffer{}
	return newPusher(queue, zerolog.New(log), func(ctx context.Context, lines []byte) (int, string, error) {
		return postLines(ctx, s.URL+"/crawl", "arcrawl-test", lines)
	}), log
}

func TestLinesGoInBoundedBatches(t *testing.T) {
	t.Parallel()
	s := archivetest.StartCDXServer(t)
	p, _ := newTestPusher(t, s, 2500)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { repeat(ctx, p.turn); close(ended) }()
	time.Sleep(time.Millisecond)
	stop()
	<-ended
	archivetest.Must(t, p.close())
	if lines, posts := s.Seen(); len(lines) != 2500 || posts < 3 || s.Largest() != maxPushLines {
		t.Errorf("%d lines in %d posts of at most %d", len(lines), posts, s.Largest())
	}
}

func TestABadLineIsLeftOutAndTheRestArrives(t *testing.T) {
	t.Parallel()
	s := archivetest.StartCDXServer(t)
	s.Behave(func(lines []string) (int, string) {
		for _, line := range lines {
			if strings.Contains(line, "/77 ") || strings.Contains(line, "/0 ") {
				return http.StatusBadRequest, "At line: " + line
			}
		}
		return 0, ""
	})
	p, log := newTestPusher(t, s, 1000)
	if _, err := p.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines, posts := s.Seen()
	if len(lines) != 998 || p.queue.Waiting() != 0 || posts > 60 {
		t.Errorf("%d lines in %d posts, %d bytes wait", len(lines), posts, p.queue.Waiting())
	}
	if n := strings.Count(log.String(), "skipping an index line"); n != 2 {
		t.Errorf("the log names %d lines:\n%s", n, log)
	}
}

func TestNothingIsLostToAServerThatFails(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func([]string) (int, string){
		"500":                    func([]string) (int, string) { return http.StatusInternalServerError, "oh" },
		"400 to everything":      func([]string) (int, string) { return http.StatusBadRequest, "no" },
		"404":                    func([]string) (int, string) { return http.StatusNotFound, "" },
		"a redirect":             func([]string) (int, string) { return http.StatusFound, "" },
		"200 in another's words": func([]string) (int, string) { return http.StatusOK, "<html>Please log in" },
		"a broken connection":    func([]string) (int, string) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := archivetest.StartCDXServer(t)
			s.Behave(answer)
			p, log := newTestPusher(t, s, 100)
			for n := range 3 {
				if pause := p.turn(t.Context()); pause != pushPause<<n {
					t.Fatalf("after failure %d the next post is in %s, want %s", n+1, pause, pushPause<<n)
				}
			}
			if _, posts := s.Seen(); posts > 3*64 {
				t.Errorf("%d posts without success", posts)
			}
			s.Behave(nil)
			if _, err := p.step(t.Context()); err != nil {
				t.Fatal(err)
			}
			if lines, _ := s.Seen(); len(lines) != 100 {
				t.Errorf("%d lines arrived", len(lines))
			}
			if strings.Count(log.String(), "could not send index lines") != 1 || strings.Count(log.String(), "accepts index lines again") != 1 {
				t.Errorf("the log is\n%s", log)
			}
		})
	}
}

// queued is a queue under test whose lines the test reads itself.
type queued struct {
	*lineQueue
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
	if q.lineQueue, err = openQueue(q.dir); err != nil {
		q.t.Fatal(err)
	}
}

func (q *queued) add(from, to int) {
	q.t.Helper()
	for i := from; i < to; i++ {
		line := index.Entry{Key: "k", Timestamp: "20261121090000", URL: fmt.Sprint(i), Filename: "f"}.AppendTo(nil)
		archivetest.Must(q.t, q.Add(line))
	}
}

// next returns the URIs of the next lines, and where the lines end.
func (q *queued) next(lines, size int) (uris []string, end int64) {
	q.t.Helper()
	entries, end, err := q.Next(lines, size)
	archivetest.Must(q.t, err)
	for _, e := range entries {
		uris = append(uris, e.URL)
	}
	return uris, end
}

func (q *queued) done(end int64) {
	q.t.Helper()
	archivetest.Must(q.t, q.Done(end))
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
	archivetest.Must(q.t, os.WriteFile(filepath.Join(q.dir, name), []byte(text), 0o644))
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
	archivetest.Must(t, q.Add([]byte(strings.Repeat("x", 5000)+"\n")))
	q.add(0, 1)
	uris, end := q.next(10, 1000)
	if len(uris) != 0 || end != 5001 {
		t.Errorf("got %v up to %d", uris, end)
	}
	q.done(end)
	q.wantRest("0")
}
