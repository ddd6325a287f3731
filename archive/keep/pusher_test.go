package keep

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// newTestPusher returns a pusher with n lines in its queue, which does not wait between posts, and its log.
func newTestPusher(t *testing.T, s *archivetest.CDXServer, n int) (*pusher, *bytes.Buffer) {
	t.Helper()
	queue, err := OpenQueue(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		e := index.Entry{Key: "k", Timestamp: "20261121090000", URL: fmt.Sprintf("http://a.example/%d", i), Filename: "f"}
		if err := queue.Add(e.AppendTo(nil)); err != nil {
			t.Fatal(err)
		}
	}
	log := &bytes.Buffer{}
	return newPusher(queue, zerolog.New(log), func(ctx context.Context, lines []byte) (int, string, error) {
		return fetch.PostLines(ctx, s.URL+"/crawl", "arcrawl-test", lines)
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
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	if lines, posts := s.Seen(); len(lines) != 2500 || posts < 3 || s.Largest() != MaxLines {
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
