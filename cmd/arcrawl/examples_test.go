package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/demosite"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestTheExamplesAreValid checks each configuration in the folder examples.
func TestTheExamplesAreValid(t *testing.T) {
	t.Parallel()
	seeds := map[string]string{"newspaper": "1 seed,", "fifty-sites": "51 seeds,", "institution": "2 seeds,"}
	mains, err := filepath.Glob("../../examples/*/arcrawl.toml")
	if err != nil || len(mains) != len(seeds) {
		t.Fatalf("examples %v, %v; want %d", mains, err, len(seeds))
	}
	for _, main := range mains {
		out, _ := ending(t, cli.ExitOK, "check", "--config", main)
		mustContain(t, out, "is valid: "+seeds[filepath.Base(filepath.Dir(main))])
	}
}

// TestTheExampleOfANewspaperCrawls crawls the site of the demo with the first example. The names in the example are
// replaced by the address of the site, and short rests are added.
func TestTheExampleOfANewspaperCrawls(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	site, stop, err := demosite.Serve(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	dir := t.TempDir()
	n := newcomer{T: t, arcrawl: built.In(t, dir), conf: filepath.Join(dir, "arcrawl.toml")}
	n.host = filepath.Join(dir, "hosts.d", strings.ReplaceAll(site, ":", "_")+".toml")
	if err := os.Mkdir(filepath.Dir(n.host), 0o700); err != nil {
		t.Fatal(err)
	}
	example := func(name string) string {
		text, err := os.ReadFile(filepath.Join("../../examples/newspaper", name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "https://www.news.example", "http://"+site)
	}
	n.write(n.conf, "[storage]\nmin_free = \"1MB\"\n[fetch]\nallow_networks = [\"127.0.0.0/8\"]\n"+example("arcrawl.toml"))
	n.write(n.host, "host = \""+site+"\"\n"+example("hosts.d/www.news.example.toml")+"[politeness]\nmin_delay = \"20ms\"\n")
	mustContain(t, n.says(cli.ExitOK, "check"), "is valid: 1 seed,")

	d := daemontest.StartProcess(t, n.arcrawl, n.conf)
	n.until("the feed, a section and an article were captured", func() bool {
		log, _ := os.ReadFile(filepath.Join(dir, "crawl.log"))
		feed := captured(string(log), "/feed.xml")
		return strings.Contains(feed, ",feedListed:") && captured(string(log), "/city/") != "" && captured(string(log), "/articles/") != ""
	})
	d.Terminate(t)
}

// captured returns the first line of a crawl log about a URI with a text in it that was answered with 200.
func captured(log, text string) string {
	for line := range strings.Lines(log) {
		if f := strings.Fields(line); len(f) > 3 && f[1] == "200" && strings.Contains(f[3], text) {
			return line
		}
	}
	return ""
}
