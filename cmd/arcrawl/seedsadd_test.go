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
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// TestSeedsAddWritesTheFileAndTellsTheDaemon lets a listener answer instead of a daemon.
func TestSeedsAddWritesTheFileAndTellsTheDaemon(t *testing.T) {
	t.Parallel()
	path, dir := daemontest.Configure(t, daemontest.Settled)
	file := hostFile(t, dir, "www.a.example", "# by maria\n[seeds]\nuris = [\"https://www.a.example/\"]\n")
	add := func(args ...string) (int, string, string) {
		return command(append([]string{"seeds", "add", "-c", path}, args...)...)
	}
	if code, out, errs := add("https://www.a.example/1"); code != cli.ExitOK || !strings.Contains(out, "added 1 seed to "+file) ||
		!strings.Contains(out, "no daemon runs") {
		t.Errorf("without a daemon: exit code %d, %s%s", code, out, errs)
	}
	if code, _, errs := add("--running-only", "https://www.a.example/2"); code != cli.ExitBusy || strings.Contains(readText(t, file), "/2") {
		t.Errorf("without a daemon and --running-only: exit code %d, %s", code, errs)
	}

	var got api.Seeds
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte(`{"new":1,"outside":["https://www.new.example/"]}`))
	}))
	socket := filepath.Join(t.TempDir(), "admin.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server.Listener = l
	server.Start()
	defer server.Close()
	code, out, errs := add("--socket", socket, "https://www.a.example/3", "https://www.new.example/")
	if code != cli.ExitOK || len(got.URIs) != 2 || !strings.Contains(out, "1 added") || !strings.Contains(out, "https://www.new.example/ is on a new host") {
		t.Errorf("with a daemon: exit code %d, sent %q, %s%s", code, got.URIs, out, errs)
	}
	if text := readText(t, file); !strings.Contains(text, "https://www.a.example/3") || !strings.Contains(text, "# by maria") {
		t.Errorf("the file of a known host:\n%s", text)
	}
	if text := readText(t, filepath.Join(dir, "hosts.d", "www.new.example.toml")); !strings.Contains(text, "https://www.new.example/") {
		t.Errorf("the file of a new host:\n%s", text)
	}
	before := readText(t, file)
	if code, out, errs := add("--socket", socket, "--running-only", "https://www.a.example/4"); code != cli.ExitOK || len(got.URIs) != 1 || readText(t, file) != before {
		t.Errorf("--running-only: exit code %d, sent %q, %s%s", code, got.URIs, out, errs)
	}
	code, out, errs = add("--socket", socket, "--json", "https://www.a.example/5")
	if code != cli.ExitOK || !json.Valid([]byte(out)) || !strings.Contains(errs, "added 1 seed") {
		t.Errorf("--json: exit code %d, %s%s", code, out, errs)
	}
}

// A file that root makes with the usual umask can be edited by the group whose folder it is in.
func TestSeedsAddLetsTheGroupOfTheFolderWrite(t *testing.T) {
	t.Parallel()
	path, dir := daemontest.Configure(t, daemontest.Settled)
	hosts := filepath.Join(dir, "hosts.d")
	archivetest.Must(t, os.MkdirAll(hosts, 0o770))
	archivetest.Must(t, os.Chmod(hosts, 0o770))
	succeed(t, "seeds", "add", "https://www.new.example/", "-c", path)
	info, err := os.Stat(filepath.Join(hosts, "www.new.example.toml"))
	archivetest.Must(t, err)
	if info.Mode().Perm() != 0o660 {
		t.Errorf("the mode is %v, want 660 as in a folder with the mode 770", info.Mode())
	}
}
