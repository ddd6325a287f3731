package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// stock creates the store of a stopped daemon with some URIs.
func stock(t *testing.T, uris ...string) (conf string) {
	t.Helper()
	conf, dir := daemontest.Configure(t, daemontest.Settled)
	if err := addURIs(filepath.Join(dir, "state"), uris); err != nil {
		t.Fatal(err)
	}
	return conf
}

// addURIs adds URIs to the store in a folder.
func addURIs(state string, uris []string) error {
	f, err := frontier.Open(frontier.Options{Dir: state, Now: time.Now()})
	if err != nil {
		return err
	}
	for _, text := range uris {
		_, added := f.Add(time.Now(), frontier.Candidate{URI: uri.FromCanonical(text), Seed: text})
		err = errors.Join(err, added)
	}
	return errors.Join(err, f.Close())
}

// steer runs visit, hold, release or a command of frontier, and expects an exit code and words.
func steer(t *testing.T, conf string, code int, words string, args ...string) (out string) {
	t.Helper()
	if !slices.Contains([]string{"visit", "hold", "release", "backup"}, args[0]) {
		args = append([]string{"frontier"}, args...)
	}
	got, out, errs := command(append(args, "--config", conf)...)
	if got != code || !strings.Contains(out+errs, words) {
		t.Fatalf("arcrawl %v: exit code %d, want %d with %q:\n%s%s", args, got, code, words, out, errs)
	}
	return out
}

func TestFrontierOfARunningDaemon(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir()
	site := startKillSite(t)
	path := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, path, site.toml())
	d := daemontest.StartProcess(t, built.In(t, dir), path)
	site.waitFor(t, d, site.asked.Load()+50)
	list := steer(t, path, cli.ExitOK, "", "list", "--json")
	lines := bufio.NewScanner(strings.NewReader(list))
	n := 0
	for lines.Scan() {
		var e frontier.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n < 10 {
		t.Errorf("%d URIs of the running daemon:\n%s", n, list)
	}
	steer(t, path, cli.ExitOK, "of", "hold", "--all")
	held := steer(t, path, cli.ExitOK, "", "list", "--count", "--state", "held")
	steer(t, path, cli.ExitOK, "", "release", "--all")
	if held == "0\n" {
		t.Error("nothing is held")
	}
	asked := site.asked.Load()
	site.waitFor(t, d, asked+20) // the crawl continues
	d.Terminate(t)
	steer(t, path, cli.ExitOK, fmt.Sprintln(0), "list", "--count", "--state", "held")
}
