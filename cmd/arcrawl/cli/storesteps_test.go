package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// open opens the store of a stopped daemon that knows a number of URIs.
func open(t *testing.T, uris int) cli.Store {
	t.Helper()
	dir := t.TempDir()
	now := time.Now()
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uris {
		u := uri.FromCanonical(fmt.Sprintf("http://a.example/%d", i))
		if _, err := f.Add(now, frontier.Candidate{URI: u}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "arcrawl.toml")
	text := "[operator]\nname = \"Test\"\ncontact = \"https://library.example/\"\n"
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	s, err := cli.OpenStore(t.Context(), path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestEveryStepIsMade(t *testing.T) {
	t.Parallel()
	const uris = 2*cli.Batch + 1
	s := open(t, uris)
	ctx := t.Context()
	var lines bytes.Buffer
	seen := 0
	err := cli.EachSelected(ctx, s, frontier.Selection{}, func(e frontier.Entry) error {
		seen++
		return json.NewEncoder(&lines).Encode(e)
	})
	if err != nil || seen != uris {
		t.Errorf("Each: %d entries, %v; want %d", seen, err, uris)
	}
	if n, err := cli.CountSelected(ctx, s, frontier.Selection{}); err != nil || n != uris {
		t.Errorf("Count: %d, %v; want %d", n, err, uris)
	}
	hold := frontier.Action{Verb: frontier.Hold}
	if done, err := cli.Steer(ctx, s, frontier.Selection{}, hold); err != nil || done.Changed != uris {
		t.Errorf("Steer: %+v, %v; want %d changed", done, err, uris)
	}
	if done, err := cli.ImportEntries(ctx, open(t, 0), &lines, "export", false); err != nil || done.New != uris {
		t.Errorf("Import into an empty store: %+v, %v; want %d new", done, err, uris)
	}
}

func TestAnInvalidLineStopsAnImport(t *testing.T) {
	t.Parallel()
	_, err := cli.ImportEntries(t.Context(), open(t, 0), strings.NewReader("\n{\"uri\": 7}\n"), "export.jsonl", false)
	if err == nil || !strings.Contains(err.Error(), "export.jsonl, line 2") {
		t.Errorf("error %v, want one that names file and line", err)
	}
}
