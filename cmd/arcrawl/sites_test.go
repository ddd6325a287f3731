package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

// TestEachCommandAsksForTheChosenHosts runs the commands that ask the daemon, with a label, a collection and an owner.
func TestEachCommandAsksForTheChosenHosts(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path+"?"+r.URL.Query().Encode())
		_, _ = w.Write([]byte("{}"))
	}))
	socket := filepath.Join(t.TempDir(), "admin.sock")
	var err error
	if server.Listener, err = net.Listen("unix", socket); err != nil {
		t.Fatal(err)
	}
	server.Start()
	defer server.Close()
	for name, path := range map[string]string{
		"status": "/status/sites", "overdue": "/overdue", "alarms": "/alarms",
		"report days": "/reports/days", "report headers": "/reports/headers",
	} {
		mu.Lock()
		asked = nil
		mu.Unlock()
		args := append(strings.Fields(name), "--socket", socket, "--label", "papers", "--collection", "daily", "--owner", "maria")
		code, out, errs := command(args...)
		mu.Lock()
		right := slices.ContainsFunc(asked, func(a string) bool {
			return strings.HasPrefix(a, "/api/v1"+path+"?") && strings.Contains(a, "collection=daily") &&
				strings.Contains(a, "label=papers") && strings.Contains(a, "owner=maria")
		})
		if code != cli.ExitOK || !right {
			t.Errorf("arcrawl %s: exit code %d, %s%s\nthe daemon was asked for %q", name, code, out, errs, asked)
		}
		mu.Unlock()
	}
}
