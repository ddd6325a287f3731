package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// TestTopUpdatesTheStatus watches pages with the status and the hosts until the end.
func TestTopUpdatesTheStatus(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"version":"1.2","stand":{"state":"crawling"},"config":{"digest":"sha256:0123456789abcdef"}}`
		if strings.HasSuffix(r.URL.Path, "/hosts") {
			answer = `{"total":1,"hosts":[{"host":"news.example","state":"snoozed","uris":12,"overdue_seconds":7200}]}`
			if asked++; asked == 3 {
				cancel()
			}
		}
		_, _ = w.Write([]byte(answer))
	}))
	socket := filepath.Join(t.TempDir(), "admin.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server.Listener = l
	server.Start()
	defer server.Close()
	var out bytes.Buffer
	if err := (&top{every: 10 * time.Millisecond, hosts: 10}).run(ctx, &out, api.NewClient(socket)); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "arcrawl 1.2"); n != 2 && n != 3 {
		t.Errorf("the status was shown %d times", n)
	}
	if !strings.Contains(out.String(), "news.example  snoozed  12    2h") {
		t.Errorf("the hosts are not shown as they should:\n%s", &out)
	}
}

func TestTopSaysThatNoDaemonAnswers(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := (&top{every: time.Second, hosts: 10}).run(t.Context(), &out, api.NewClient(filepath.Join(t.TempDir(), "none.sock")))
	if exitCode(err) != exitBusy {
		t.Errorf("exit code %d for %v, want %d", exitCode(err), err, exitBusy)
	}
}
