package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// TestPlanSendsWhatIsStaged lets a listener answer instead of a daemon, and checks what it is sent.
func TestPlanSendsWhatIsStaged(t *testing.T) {
	t.Parallel()
	var got api.ReloadOrder
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = api.ReloadOrder{}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte(`{"dry_run":true,"plan":{"seeds_removed":["http://gone.example/"]}}`))
	}))
	dir := t.TempDir()
	socket := filepath.Join(dir, "admin.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server.Listener = l
	server.Start()
	defer server.Close()

	staged := filepath.Join(dir, "staged")
	if err := os.Mkdir(staged, 0o750); err != nil {
		t.Fatal(err)
	}
	main := strings.Replace(daemontest.Settled, "[storage]\n", "[storage]\nhosts = \""+filepath.Join(dir, "elsewhere")+"\"\n", 1)
	if err := os.Mkdir(filepath.Join(dir, "elsewhere"), 0o750); err != nil {
		t.Fatal(err)
	}
	daemontest.WriteFile(t, filepath.Join(staged, "arcrawl.toml"), main)
	file := hostFile(t, staged, "www.a.example", "[politeness]\nvalence = 2\n")
	plan := func(args ...string) (int, string, string) {
		return command(append([]string{"reload", "--dry-run", "--socket", socket}, args...)...)
	}
	code, out, errs := plan("--staged", staged)
	if code != cli.ExitOK || !strings.Contains(out, "seed removed: http://gone.example/\n") || !strings.Contains(out, "nothing was changed") {
		t.Errorf("a staged folder: exit code %d, %s%s", code, out, errs)
	}
	if s := got.Staged; s == nil || s.Only || s.Main != main || len(s.Hosts) != 1 || s.Hosts[0].Name != "www.a.example.toml" {
		t.Errorf("a staged folder was sent as %+v", got.Staged)
	}
	if code, _, errs := plan(file); code != cli.ExitOK || got.Staged == nil || !got.Staged.Only || got.Staged.Main != "" || len(got.Staged.Hosts) != 1 {
		t.Errorf("a staged host file: exit code %d, %s, sent as %+v", code, errs, got.Staged)
	}
	for _, args := range [][]string{{"--staged", staged, file}, {filepath.Join(dir, "admin.sock")}} {
		if code, _, errs := plan(args...); code == cli.ExitOK {
			t.Errorf("plan %q: exit code %d, %s", args, code, errs)
		}
	}
	hostFile(t, staged, "www.a.example", "[politeness]\nvalenc = 2\n")
	daemontest.WriteFile(t, filepath.Join(staged, "arcrawl.toml"), daemontest.Settled)
	if code, _, errs := plan("--staged", staged); code != cli.ExitConfig || !strings.Contains(errs, "valenc") {
		t.Errorf("a faulty staged folder: exit code %d, %s", code, errs)
	}
}
