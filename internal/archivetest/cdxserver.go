package archivetest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// CDXServer is a server with one collection at /crawl, which accepts lines as OutbackCDX does.
type CDXServer struct {
	*httptest.Server

	mu      sync.Mutex        // guards the fields below
	lines   map[string]string // by URI, date, file and offset, as OutbackCDX keeps them
	posts   int
	largest int
	answer  func(lines []string) (status int, says string)
}

// StartCDXServer starts a server that ends with the test.
func StartCDXServer(t testing.TB) *CDXServer {
	t.Helper()
	s := &CDXServer{lines: map[string]string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP accepts lines.
func (s *CDXServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

// Behave makes the server answer with a function. Lines are accepted if the function is nil or returns status 0.
func (s *CDXServer) Behave(answer func(lines []string) (int, string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// Seen returns the lines that the server has, sorted, and the number of posts.
func (s *CDXServer) Seen() (lines []string, posts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines, s.posts
}

// Largest returns the number of lines of the largest post.
func (s *CDXServer) Largest() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.largest
}
