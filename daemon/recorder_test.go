package daemon_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// configurations returns the records of the configuration in an archive, oldest first.
func configurations(t *testing.T, dir string) (all []archivetest.CheckedRecord) {
	t.Helper()
	for _, r := range archivetest.CheckDir(t, filepath.Join(dir, "warc")) {
		if strings.HasPrefix(r.Target(), "urn:arcrawl:configuration") {
			all = append(all, r)
		}
	}
	return all
}

func TestTheArchiveHasEachConfigurationInForceOnce(t *testing.T) {
	t.Parallel()
	const named = "urn:arcrawl:configuration"
	l := daemontest.Start(t, func(_, main string) string {
		return main + "[warc]\ncollection = \"The Press\" # hush-1\nsealed_url = \"http://127.0.0.1:9/hush-2\"\n"
	})
	l.Visited(t)
	daemontest.Write(t, filepath.Join(l.Dir, "hosts.d", "a.example.toml"), "[scope]\nmax_hops = 5 # hush-3\n")
	l.WaitFor(t, `"keys":1`)
	archivetest.Must(t, l.End())
	all := configurations(t, l.Dir)
	var uris []string
	for _, r := range all {
		uris = append(uris, strings.TrimPrefix(r.Target(), named))
		if r.Type() != "resource" || strings.Contains(string(r.Block), "hush") {
			t.Errorf("%s is a %s with secrets:\n%s", r.Target(), r.Type(), r.Block)
		}
	}
	if got, want := strings.Join(uris, " "), ":arcrawl.toml  :hosts:a.example.toml "; got != want {
		t.Fatalf("the archive has the records %q, want %q: main file, changes, host file, changes", got, want)
	}
	if got := string(all[2].Block); got != "[scope]\nmax_hops = 5\n" {
		t.Errorf("the host file is %q", got)
	}
	var changes struct {
		Changed   []struct{ URI string }
		Unchanged int
		Defaults  map[string]string
	}
	if err := json.Unmarshal(all[3].Block, &changes); err != nil || len(changes.Changed) != 1 || changes.Unchanged != 1 ||
		changes.Changed[0].URI != named+":hosts:a.example.toml" || changes.Defaults["crawl.workers"] == "" {
		t.Errorf("%v: the last changes are %s", err, all[3].Block)
	}
	info := archivetest.CheckDir(t, filepath.Join(l.Dir, "warc"))[0]
	if !strings.Contains(string(info.Block), "isPartOf: The Press\r\n") {
		t.Errorf("the warcinfo record has no collection:\n%s", info.Block)
	}
	isIndexed(t, l.Dir, named)

	again := l.Again(t, nil) // without the host file
	again.WaitFor(t, "READY=1")
	archivetest.Must(t, again.End())
	later := configurations(t, l.Dir)[len(all):]
	if len(later) != 1 || later[0].Target() != named || !strings.Contains(string(later[0].Block), `"removed": [`) {
		t.Errorf("after a host file was removed, the archive has %d more records, want one that says so: %+v", len(later), later)
	}
}

// isIndexed checks that the live index has the records of a URI as an index that is made from the files has them.
func isIndexed(t *testing.T, dir, uri string) {
	t.Helper()
	folder := filepath.Join(dir, "warc")
	live, err := os.ReadFile(filepath.Join(folder, "recent.cdxj"))
	archivetest.Must(t, err)
	var built strings.Builder
	none := func(f warc.Finding) error { t.Error(f); return nil }
	if _, err := index.Build(context.Background(), []string{folder}, index.Options{}, &built, none); err != nil {
		t.Fatal(err)
	}
	if string(live) != built.String() || strings.Count(built.String(), uri) < 2 {
		t.Errorf("the live index is\n%swant\n%s", live, built.String())
	}
}
