package daemon

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/outbackcdx"
	"github.com/arcrawl/arcrawl/fetch"
)

// cdxServer takes lines as OutbackCDX does, or answers as it is told to.
type cdxServer struct {
	*httptest.Server

	mu      sync.Mutex
	lines   map[string]string // by URI, date, file and offset, as OutbackCDX keeps them
	posts   int
	largest int
	answer  func(lines []string) (status int, says string) // nil, or status 0, is to take them
}

func startCDXServer(t *testing.T) *cdxServer {
	t.Helper()
	s := &cdxServer{lines: map[string]string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *cdxServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/crawl" || lines[0] != " CDX N b a m s k r M S V g" {
		http.Error(w, "not for OutbackCDX", http.StatusNotFound)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lines = lines[1:]
	s.posts++
	s.largest = max(s.largest, len(lines))
	if s.answer != nil {
		if status, says := s.answer(lines); status != 0 {
			w.WriteHeader(status)
			fmt.Fprint(w, says)
			return
		}
	}
	for _, line := range lines {
		f := strings.Split(line, " ")
		if len(f) != 11 {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, "At line: "+line)
			return
		}
		s.lines[f[2]+" "+f[1]+" "+f[10]+" "+f[9]] = line
	}
	fmt.Fprintf(w, "Added %d records\n", len(lines))
}

func (s *cdxServer) behave(answer func(lines []string) (int, string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *cdxServer) seen() (lines []string, posts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines, s.posts
}

// newTestPusher is a pusher with n lines in its queue, that does not rest, and its log.
func newTestPusher(t *testing.T, s *cdxServer, n int) (*pusher, *bytes.Buffer) {
	t.Helper()
	queue, err := outbackcdx.OpenQueue(t.TempDir())
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
	return &pusher{
		queue: queue, log: zerolog.New(log), every: time.Millisecond, pause: time.Microsecond,
		post: func(ctx context.Context, lines []byte) (int, string, error) {
			return fetch.PostLines(ctx, s.URL+"/crawl", "arcrawl-test", lines)
		},
	}, log
}

func TestLinesGoInBoundedBatches(t *testing.T) {
	t.Parallel()
	s := startCDXServer(t)
	p, _ := newTestPusher(t, s, 2500)
	p.start()
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	if lines, posts := s.seen(); len(lines) != 2500 || posts < 3 || s.largest != outbackcdx.MaxLines {
		t.Errorf("%d lines in %d posts of at most %d", len(lines), posts, s.largest)
	}
}

func TestABadLineIsLeftOutAndTheRestArrives(t *testing.T) {
	t.Parallel()
	s := startCDXServer(t)
	s.behave(func(lines []string) (int, string) {
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
	lines, posts := s.seen()
	if len(lines) != 998 || p.queue.Waiting() != 0 || posts > 60 {
		t.Errorf("%d lines in %d posts, %d bytes wait", len(lines), posts, p.queue.Waiting())
	}
	if n := strings.Count(log.String(), "skipping an index line"); n != 2 {
		t.Errorf("the log tells of %d lines:\n%s", n, log)
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
			s := startCDXServer(t)
			s.behave(answer)
			p, log := newTestPusher(t, s, 100)
			for range 3 {
				_, err := p.step(t.Context())
				if err == nil {
					t.Fatal("it was taken for success")
				}
				p.reportFailure(err)
			}
			if _, posts := s.seen(); posts > 3*64 {
				t.Errorf("%d posts in vain", posts)
			}
			s.behave(nil)
			if _, err := p.step(t.Context()); err != nil {
				t.Fatal(err)
			}
			if lines, _ := s.seen(); len(lines) != 100 {
				t.Errorf("%d lines arrived", len(lines))
			}
			if strings.Count(log.String(), "could not send index lines") != 1 || strings.Count(log.String(), "accepts index lines again") != 1 {
				t.Errorf("the log says\n%s", log)
			}
		})
	}
}
