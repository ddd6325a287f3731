package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// A host file is emptied by a slip. check names its seeds: while a daemon runs, and while none does.
func TestCheckNamesSeedsThatVanish(t *testing.T) {
	t.Parallel()
	const seed, warning = "http://www.a.example/", "http://www.a.example/ is in force but not listed any more"
	dir := t.TempDir()
	main := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, main, daemontest.Settled)
	file := hostFile(t, dir, "www.a.example", "[seeds]\nuris = [\""+seed+"\"]\n")
	check := func() string {
		_, errs := ending(t, cli.ExitOK, "check", "--config", main)
		return errs
	}
	if errs := check(); strings.Contains(errs, "any more") {
		t.Errorf("before the first start of a daemon:\n%s", errs)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "state", "last-good")
	if err := os.MkdirAll(kept, 0o750); err != nil {
		t.Fatal(err)
	}
	daemontest.WriteFile(t, filepath.Join(kept, "www.a.example.toml"), string(text))
	if errs := check(); strings.Contains(errs, "any more") {
		t.Errorf("nothing has changed:\n%s", errs)
	}
	daemontest.WriteFile(t, file, "")
	if errs := check(); !strings.Contains(errs, warning) || !strings.Contains(errs, "is empty") {
		t.Errorf("without a daemon, an emptied host file:\n%s", errs)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if errs := check(); !strings.Contains(errs, warning) {
		t.Errorf("without a daemon, a removed host file:\n%s", errs)
	}
	answerWith(t, filepath.Join(dir, "state", "admin.sock"), map[string]string{
		"/api/v1/config": `{"digest":"another"}`,
		"/api/v1/reload": `{"dry_run":true,"plan":{"seeds_removed":["http://www.gone.example/"]}}`,
	})
	if errs := check(); !strings.Contains(errs, "http://www.gone.example/ is in force") || strings.Contains(errs, warning) {
		t.Errorf("with a daemon:\n%s", errs)
	}
}

// answerWith lets a listener answer instead of a daemon, by path.
func answerWith(t *testing.T, socket string, answers map[string]string) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, ok := answers[r.URL.Path]; ok {
			_, _ = w.Write([]byte(text))
			return
		}
		http.NotFound(w, r)
	}))
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
}
