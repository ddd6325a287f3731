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
	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/demosite"
	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// wings holds the wing of a program that can be a node.
var wings = []func() daemon.Wing{Wing}

// divided starts a node alone, divides its crawl, and starts it again in the same folder.
func divided(t *testing.T, db *postgres.Server, shards int, changes ...func(dir, main string) string) *daemontest.Life {
	t.Helper()
	dir := t.TempDir()
	url := db.URL(db.Address())
	node := func(_, main string) string {
		return main + fmt.Sprintf("[cluster]\ndatabase = %q\nnode = \"a\"\nsingle_database = true\n", url)
	}
	first := daemontest.StartIn(t, dir, wings, append(changes, node)...)
	first.Visited(t)
	if err := first.End(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "hosts.d")); err != nil {
		t.Fatal(err)
	}
	if _, err := shared.Split(t.Context(), url, shards); err != nil {
		t.Fatal(err)
	}
	return daemontest.StartIn(t, dir, wings, append(changes, node)...)
}

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

// TestANodeListensForHubsOnceForAllShards starts a node of three shards with WebSub. Each shard wanted to listen at the
// same address. Then the files of hosts change three times, which all shards read at the same moment.
func TestANodeListensForHubsOnceForAllShards(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	address, err := demosite.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	l := divided(t, postgres.New(t), 3, func(_, main string) string {
		return main + fmt.Sprintf("[websub]\ncallback = \"https://crawler.example/websub\"\nlisten = %q\n", address)
	})
	awaitLines(t, l, 3, `"message":"started"`)
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
		awaitLines(t, l, 3*(round+1), `"keys":20`)
	}
	if err := l.End(); err != nil {
		t.Error(err)
	}
	root, said := new(cobra.Command), new(strings.Builder)
	root.AddCommand(archive.Commands()...)
	backUp := []string{"backup", "create", "--config", l.Path, t.TempDir()}
	code := cli.Run(daemon.WithWings(t.Context(), wings), root, backUp, io.Discard, said)
	if code != cli.ExitFolder || !strings.Contains(said.String(), "back up the database") {
		t.Errorf("a backup of one node of a divided crawl: exit code %d, %s", code, said)
	}
	if text := l.Text(); strings.Contains(text, "could not") {
		t.Errorf("the log:\n%s", text)
	}
}
