package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// TestTrapsOfAStoppedAndOfARunningDaemon lists and releases traps in the store and through the daemon.
func TestTrapsOfAStoppedAndOfARunningDaemon(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir()
	site := startKillSite(t)
	path := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, path, site.toml())
	first, second := keepOut(t, filepath.Join(dir, "state"), "http://news.example/a/a/a/1"), keepOut(t, filepath.Join(dir, "state"), "http://news.example/b/b/b/1")
	says := func(code int, words string, args ...string) {
		t.Helper()
		got, out, errs := command(append(args, "--config", path)...)
		if got != code || !strings.Contains(out+errs, words) {
			t.Errorf("arcrawl %v: exit code %d, want %d with %q:\n%s%s", args, got, code, words, out, errs)
		}
	}
	says(cli.ExitOK, "news.example: repeats, since", "traps", "news.example")
	says(cli.ExitOK, "no traps found", "traps", "other.example")
	says(cli.ExitFailure, "list the traps with: arcrawl traps news.example", "traps", "release", "news.example", "nothing")
	says(cli.ExitOK, "released; 1 URI due now", "traps", "release", "news.example", first.Pattern)

	d := daemontest.StartProcess(t, built.In(t, dir), path)
	site.waitFor(t, d, site.asked.Load()+5)
	says(cli.ExitOK, "news.example: repeats, released, since", "traps")
	says(cli.ExitOK, `"kept_out": 1`, "traps", "--json")
	says(cli.ExitFailure, "arcrawl release", "traps", "release", "news.example", "nothing")
	says(cli.ExitOK, "released; 1 URI due now", "traps", "release", "news.example", second.Pattern)
	d.Terminate(t)
	says(cli.ExitOK, `"due": 0`, "traps", "release", "news.example", second.Pattern, "--json")
}

// keepOut lets a store keep out a URI that is a trap by itself.
func keepOut(t *testing.T, dir, text string) spaces.Trap {
	t.Helper()
	now := time.Now()
	f, err := frontier.Open(frontier.Options{Dir: dir, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	book := spaces.Open(f.DB())
	u := uri.FromCanonical(text)
	trap, ok, err := book.Judge(u, uri.URI{}, "L", now)
	if err != nil || !ok {
		t.Fatalf("%s is no trap: %v", text, err)
	}
	if err := book.CountKeptOut(trap, now, u); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(now, frontier.Candidate{URI: u, Hops: "L", Seed: "http://news.example/", Due: now.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	return trap
}
