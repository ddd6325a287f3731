package cluster

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/demosite"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// wings holds the wing of a program that can be a node.
var wings = []func() daemon.Wing{Wing}

// awaitLines waits until the log has a number of lines with some words.
func awaitLines(t *testing.T, l *daemontest.Life, n int, words string) {
	t.Helper()
	deadline := time.Now().Add(daemontest.Patience)
	for ; strings.Count(l.Text(), words) < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) || strings.Contains(l.Text(), "Run returned") {
			t.Fatalf("%q is not in the log %d times:\n%s", words, n, l.Text())
		}
	}
}

// TestADaemonIsANode runs a daemon as a node with WebSub, whose files of hosts change three times. It visits a site,
// stops, starts again with its store, and once more when that is damaged. Its store alone is no backup of the crawl.
func TestADaemonIsANode(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	db := postgres.New(t)
	address, err := demosite.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	node := func(_, main string) string {
		return main + fmt.Sprintf("[cluster]\ndatabase = %q\nnode = \"a\"\nsingle_database = true\n[websub]\n"+
			"callback = \"https://crawler.example/websub\"\nlisten = %q\n", db.URL(db.Address()), address)
	}
	l := daemontest.StartIn(t, t.TempDir(), wings, node)
	l.Visited(t)
	if conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address); err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
	for round := range 3 {
		for host := range 20 {
			file := filepath.Join(l.Dir, "hosts.d", fmt.Sprintf("h%d.example.toml", host))
			daemontest.Write(t, file, fmt.Sprintf("[scope]\nmax_hops = %d\n", round+2))
		}
		l.Hangup <- syscall.SIGHUP
		awaitLines(t, l, round+1, `"keys":20`)
	}
	if err := l.End(); err != nil {
		t.Error(err)
	}
	root, said := new(cobra.Command), new(strings.Builder)
	root.AddCommand(archive.Commands()...)
	backUp := []string{"backup", "create", "--config", l.Path, t.TempDir()}
	code := cli.Run(daemon.WithWings(t.Context(), wings), root, backUp, io.Discard, said)
	if code != cli.ExitFolder || !strings.Contains(said.String(), "back up the database") {
		t.Errorf("a backup of one node of a cluster: exit code %d, %s", code, said)
	}
	if text := l.Text(); strings.Contains(text, "could not") || !strings.Contains(text, "shipped the whole store") {
		t.Errorf("the log:\n%s", text)
	}

	same := l.Again(t, wings)
	awaitLines(t, same, 1, "this node crawls more hosts now")
	if err := same.End(); err != nil || strings.Contains(same.Text(), "loaded hosts") {
		t.Errorf("the second start ended with %v and the log\n%s", err, same.Text())
	}
	if err := os.WriteFile(filepath.Join(l.Dir, "state", "MANIFEST"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := l.Again(t, wings)
	awaitLines(t, again, 1, "copy of the crawl is damaged: removing it")
	awaitLines(t, again, 1, "loaded hosts from the database")
	if err := again.End(); err != nil {
		t.Error(err)
	}
}
