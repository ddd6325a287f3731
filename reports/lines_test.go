package reports

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

// TestTheLogOfAllNodesIsPrintedInOrder follows two nodes. Lines that one of them may precede are held back; a node that
// does not answer is named once, a daemon that has no time is asked again, and one that has ended ends the command.
func TestTheLogOfAllNodesIsPrintedInOrder(t *testing.T) {
	t.Parallel()
	line := func(node string, second int) string {
		return fmt.Sprintf(`{"at":"2026-01-01T00:00:%02dZ","node":%q,"line":"line %d"}`, second, node, second)
	}
	answer := func(read int, more bool, lines ...string) string {
		return fmt.Sprintf(`{"lines":[%s],"read":"2026-01-01T00:00:%02dZ","more":%t,"next":{"a":{"offset":%d}}}`, strings.Join(lines, ","), read, more, read)
	}
	answers := []string{
		answer(12, false, line("a", 10), line("b", 11)),
		"", // 503
		answer(22, false, line("b", 20), line("a", 21), line("a", 25)),
		answer(32, true, line("b", 24), line("a", 31)),
		answer(40, false, line("b", 36)),
	}
	var mu sync.Mutex // guards the answers and the questions
	var asked []string
	path := filepath.Join(t.TempDir(), "s")
	socket, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		n := len(asked)
		asked = append(asked, r.URL.RawQuery)
		switch {
		case n >= len(answers):
			panic(http.ErrAbortHandler)
		case answers[n] == "":
			http.Error(w, `{"error":"busy"}`, http.StatusServiceUnavailable)
			return
		case n > 1:
			w.Header().Set(api.MissingHeader, "node c is away")
		}
		fmt.Fprint(w, answers[n])
	}))
	site.Listener = socket
	site.Start()
	defer site.Close()
	var out, errs bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetContext(context.Background())
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	s := &logStats{Daemon: cli.Daemon{Socket: path}, host: "*.example", top: 20, only: config.Filter{Label: "x"}}
	if err := s.printLines(cmd, Period{From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Error("it does not say that the daemon has ended")
	}
	mu.Lock()
	const want = "a  line 10\nb  line 11\nb  line 20\na  line 21\nb  line 24\na  line 25\na  line 31\nb  line 36\n"
	if out.String() != want || errs.String() != "note: node c is away\n" {
		t.Errorf("printed\n%swant\n%snotes: %s", &out, want, &errs)
	}
	const first = "host=%2A.example&label=x&limit=20&seconds=10&since=2026-01-01T00%3A00%3A00Z"
	const second = "after=%7B%22a%22%3A%7B%22offset%22%3A12%7D%7D&host=%2A.example&label=x&limit=1000&seconds=10"
	if asked[0] != first || !strings.HasPrefix(asked[1], second) || asked[2] != asked[1] {
		t.Errorf("asked %q", asked)
	}
	out.Reset()
	asked, answers = nil, []string{answer(5, true, line("a", 10))}
	mu.Unlock()
	err = s.printLines(cmd, Period{To: time.Now()})
	mu.Lock()
	defer mu.Unlock()
	if err != nil || len(asked) != 1 || out.String() != "a  line 10\n" {
		t.Errorf("with an end: %q, %v, asked %q", &out, err, asked)
	}
}
