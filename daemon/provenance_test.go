package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/warcout"
)

// lastResource keeps the last resource that was written.
type lastResource struct{ last warcout.Resource }

func (a *lastResource) WriteResource(_ time.Time, r warcout.Resource) (warcout.Written, error) {
	a.last = r
	return warcout.Written{}, nil
}

// TestTheRecordSaysWhatHoldsOnlyAfterARestart changes a key that a reload does not change, and then restarts.
func TestTheRecordSaysWhatHoldsOnlyAfterARestart(t *testing.T) {
	t.Parallel()
	dir, written := t.TempDir(), &lastResource{}
	load := func(more string) *config.Config {
		path := filepath.Join(dir, "arcrawl.toml")
		writeFile(t, path, "[operator]\nname = \"Library\"\ncontact = \"https://library.example/\"\n"+more)
		c, err := config.Load(path)
		archivetest.Must(t, err)
		return c
	}
	r := &recorder{
		archive: written, index: func(digest.Origin, string) {}, state: filepath.Join(dir, "state"), version: "test",
	}
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	began := load("")
	next := load("[crawl]\nworkers = 7\n")
	reloaded, _ := began.Succeed(next)
	for _, c := range []struct {
		when    string
		inForce *config.Config
		records int
		want    []string
	}{
		{"start", began, 2, nil},
		{"reload", reloaded, 2, []string{"crawl.workers"}},
		{"the same", reloaded, 0, []string{"crawl.workers"}},
		{"restart", next, 1, nil},
	} {
		n, err := r.record(t.Context(), c.inForce, now)
		if err != nil || n != c.records {
			t.Errorf("%s: %d records, %v; want %d", c.when, n, err, c.records)
		}
		var list struct {
			AtRestart []string `json:"at_restart"`
		}
		if err := json.Unmarshal(written.last.Content, &list); err != nil || !slices.Equal(list.AtRestart, c.want) {
			t.Errorf("%s: %v, at restart: %q, want %q", c.when, err, list.AtRestart, c.want)
		}
	}

	hosts := filepath.Join(dir, "hosts.d")
	archivetest.Must(t, os.Mkdir(hosts, 0o700))
	writeFile(t, filepath.Join(hosts, "empty.example.toml"), "# nothing yet\n")
	if n, err := r.record(t.Context(), load(""), now); err != nil || n != 2 {
		t.Fatalf("a host file that sets nothing: %d records, %v; want the main file and the list", n, err)
	}
	if s := string(written.last.Content); !strings.Contains(s, `{
      "uri": "urn:arcrawl:configuration:hosts:empty.example.toml"
    }`) {
		t.Errorf("the list has a digest of a record that is not there:\n%s", s)
	}
}
