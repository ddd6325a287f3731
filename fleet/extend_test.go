package fleet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

// TestStatusOfAFleet shows two daemons of which one was never started, once and repeatedly, as a page and as JSON.
func TestStatusOfAFleet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "a.sock"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"version":"1.2","condition":{"state":"crawling"}}`))
	}))
	server.Listener = l
	server.Start()
	defer server.Close()
	both, one := filepath.Join(dir, "both"), filepath.Join(dir, "one")
	for path, text := range map[string]string{both: "press a.sock\nweb b.sock\n", one: "press a.sock\n", dir + "/none": "#\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args   []string
		code   int
		out, e string
	}{
		{[]string{"--fleet", one}, cli.ExitOK, "press     crawling", ""},
		{[]string{"--fleet", both}, cli.ExitBusy, "web       no answer", "no arcrawl answers for 1 of 2 instances: web"},
		{[]string{"--fleet", both, "--json"}, cli.ExitBusy, `"error": "no arcrawl answers`, "web"},
		{[]string{"--fleet", dir + "/none"}, cli.ExitUsage, "", "no line names a daemon"},
		{[]string{"--fleet", one, "--watch", "--every", "1ms"}, cli.ExitUsage, "", "minimum is 100ms"},
		{[]string{"--fleet", one, "--health"}, cli.ExitUsage, "", "health"},
	} {
		var out, errs bytes.Buffer
		if code := cli.Run(t.Context(), program(), append([]string{"status"}, c.args...), &out, &errs); code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(errs.String(), c.e) {
			t.Errorf("%q: code %d, want %d; printed\n%s%s", c.args, code, c.code, &out, &errs)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	pages := 0
	var out bytes.Buffer
	screen := writerFunc(func(p []byte) (int, error) {
		if pages++; pages == 2 {
			cancel()
		}
		return out.Write(p)
	})
	args := []string{"status", "--fleet", both, "--watch", "--every", "100ms"}
	if code := cli.Run(ctx, program(), args, screen, io.Discard); code != cli.ExitOK {
		t.Errorf("watching ended with %d, although a daemon that does not answer is a row", code)
	}
	if strings.Count(out.String(), "web: no answer: "+askFleet(t.Context(), []fleetMember{{Where: filepath.Join(dir, "b.sock")}}, time.Minute).Instances[0].Error) != 2 {
		t.Errorf("two pages are\n%s", &out)
	}
}

// program returns a program whose only command is status, with the flags of the core.
func program() *cobra.Command {
	root, status := &cobra.Command{Use: "arcrawl"}, &cobra.Command{Use: "status"}
	status.RunE = func(*cobra.Command, []string) error { return errors.New("the command of the core ran") }
	cli.Prepare(root)
	var d cli.Daemon
	d.Add(status)
	status.Flags().Bool("watch", false, "")
	status.Flags().Bool("health", false, "")
	status.Flags().Duration("every", 2*time.Second, "")
	root.AddCommand(status)
	Extend(root, nil)
	return root
}

// writerFunc is a function that is a writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
