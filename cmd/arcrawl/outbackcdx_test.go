package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
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

// A crawl is killed and goes on while the server is down, answers nonsense and comes back. In the end the server has exactly what reading
// the archive gives.
func TestAnOutbackCDXServerHearsOfEachCapture(t *testing.T) {
	dir := t.TempDir()
	server, site := startCDXServer(t), startKillSite(t)
	conf := filepath.Join(dir, "arcrawl.toml")
	writeFile(t, conf, site.toml()+"[index]\noutbackcdx = \""+server.URL+"/crawl\"\n")
	binary := build(t, dir)
	d := startDaemon(t, binary, conf)
	site.waitFor(t, d, 300)
	d.waitFor(t, "lines at the server", func() bool { lines, _ := server.seen(); return len(lines) > 0 })
	_, before := server.seen()
	nonsense := []int{http.StatusInternalServerError, http.StatusBadRequest, http.StatusOK, http.StatusFound}
	turn := 0
	server.behave(func([]string) (int, string) { turn++; return nonsense[turn%4], "<html>" })
	d.waitFor(t, "posts in vain", func() bool { _, n := server.seen(); return n > before+1 })
	d.kill(t)
	d = startDaemon(t, binary, conf)
	site.waitFor(t, d, site.asked.Load()+300)
	server.behave(nil)
	d.terminate(t)
	left, _ := server.seen()
	d = startDaemon(t, binary, conf) // it sends what the stop has left
	site.waitFor(t, d, site.asked.Load()+50)
	d.waitFor(t, "what was left at the server", func() bool { lines, _ := server.seen(); return len(lines) > len(left) })
	d.terminate(t)

	var made bytes.Buffer
	if _, err := index.Build(t.Context(), []string{filepath.Join(dir, "warc")}, index.Options{}, &made, func(f warc.Finding) error { return &f }); err != nil {
		t.Fatal(err)
	}
	var want []string
	revisits := 0
	for line := range strings.Lines(made.String()) {
		e, err := index.ParseEntry(line)
		if err != nil {
			t.Fatal(err)
		}
		if e.MIME == index.RevisitMIME {
			revisits++
		}
		want = append(want, strings.TrimSuffix(string(e.AppendCDX(nil)), "\n"))
	}
	slices.Sort(want)
	got, posts := server.seen()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-archive +server:\n%s\n%s", diff, d.output())
	}
	t.Logf("%d lines in %d posts, %d revisits", len(got), posts, revisits)
	if revisits == 0 {
		t.Error("there was no revisit")
	}
	if n := strings.Count(d.output(), "could not send index lines"); n < 1 || n > 3 {
		t.Errorf("trouble was told of %d times by three processes:\n%s", n, d.output())
	}
}
