package cluster_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cluster"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
	"github.com/arcrawl/arcrawl/uri"
)

// TestAKilledStoreThatIsShippedRestsItsHosts opens a store that a kill in the middle of a visit left, as it is opened
// to be shipped to a cluster. The node that takes the crawl learns nothing of the kill, so the host must rest already.
func TestAKilledStoreThatIsShippedRestsItsHosts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "arcrawl.toml")
	daemontest.Write(t, path, strings.NewReplacer(`uris = [%q]`, "", `_delay = "0s"`, `_delay = "10m"`).Replace(daemontest.MainFile)+
		"[cluster]\ndatabase = \"postgres://nobody@127.0.0.1:1/none\"\nnode = \"a\"\n")
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	alone := *c
	alone.Cluster.Database = ""
	now := time.Now()
	f, err := daemon.MakeStore(daemon.WithWings(t.Context(), []func() daemon.Wing{cluster.Wing}), &alone, now, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(now, frontier.Candidate{URI: uri.FromCanonical("http://patient.example/"), Due: now}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := f.Claim(now.Add(time.Millisecond)); !ok || err != nil {
		t.Fatalf("claimed: %t, %v", ok, err)
	}
	left := filepath.Join(t.TempDir(), "left")
	if err := smalldisk.CopyFS(left, c.Storage.State); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	g, err := daemon.OpenAlone(c, left, now.Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	h, ok := g.Host("patient.example", now.Add(time.Second))
	if !ok || h.Ready.Before(now.Add(10*time.Minute)) {
		t.Errorf("known: %t, ready %s after the kill, want 10 minutes", ok, h.Ready.Sub(now))
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
}
