package config_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// described is a configuration whose domain, host and seed are described.
var described = map[string]string{
	"arcrawl.toml":           operator + "\n[seeds]\nuris = [\"https://m.example/\"]\nabout = [{ uri = \"https://m.example/\", labels = [\"main\"] }]\n",
	"hosts.d/a.example.toml": "labels = [\"papers\"]\nowner = \"maria\"\ntitle = \"The A group\"\n",
	"hosts.d/www.a.example.toml": "collections = [\"elections\"]\nowner = \"jan\"\ntitle = \"The Daily A\"\nnote = \"call first\"\n" +
		"[seeds]\nuris = [\"https://www.a.example/\", \"https://www.a.example/b\"]\n" +
		"about = [{ uri = \"https://www.a.example/b\", title = \"B\", labels = [\"b\"], owner = \"kim\" }]\n",
}

// TestHostsAndSeedsHaveLabelsCollectionsAndOwners reads what a domain, a host and a seed inherit from each other.
func TestHostsAndSeedsHaveLabelsCollectionsAndOwners(t *testing.T) {
	t.Parallel()
	c, err := config.Load(folder(t, described))
	if err != nil {
		t.Fatal(err)
	}
	names := func(s ...string) []string { return s }
	for what, got := range map[string]struct{ got, want config.Site }{
		"the host has the names of its seeds": {c.Site("www.a.example"), config.Site{
			Title: "The Daily A", Labels: names("b", "papers"), Collections: names("elections"), Owners: names("jan", "kim"), Note: "call first",
		}},
		"a host without a file inherits from its domain, but not its title": {
			c.Site("x.a.example"), config.Site{Labels: names("papers"), Owners: names("maria")},
		},
		"a seed": {c.SeedSite(uri.FromCanonical("https://www.a.example/b")), config.Site{
			Title: "B", Labels: names("b", "papers"), Collections: names("elections"), Owners: names("kim"),
		}},
		"a seed that is not described": {c.SeedSite(uri.FromCanonical("https://www.a.example/")), config.Site{
			Labels: names("papers"), Collections: names("elections"), Owners: names("jan"),
		}},
		"a host of the main file": {c.Site("m.example"), config.Site{Labels: names("main")}},
		"a stranger":              {c.Site("other.example"), config.Site{}},
	} {
		if diff := cmp.Diff(got.want, got.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	for f, want := range map[config.Filter][]string{
		{Label: "papers"}: {"*.a.example", "*.www.a.example"}, {Owner: "kim"}: {"www.a.example"}, {Owner: "maria"}: {"*.a.example"},
		{Label: "main"}: {"m.example"}, {Label: "papers", Collection: "elections"}: {"*.www.a.example"},
	} {
		if got, err := c.Sites().Choose(f); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s chooses %q, %v; want %q", f, got, err, want)
		}
	}
	if _, err := c.Sites().Choose(config.Filter{Label: "paper"}); err == nil || !strings.Contains(err.Error(), "labels b, main, papers") {
		t.Errorf("an unknown label returns %v; want the labels in use", err)
	}
}

// TestChangesShowWhatCuratorsChanged compares two configurations with other labels.
func TestChangesShowWhatCuratorsChanged(t *testing.T) {
	t.Parallel()
	load := func(text string) *config.Config {
		c, err := config.Load(folder(t, map[string]string{"arcrawl.toml": operator, "hosts.d/a.example.toml": text}))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	changes := load("labels = [\"a\"]\n").Changes(load("labels = [\"a\", \"b\"]\nowner = \"maria\"\n"), time.Now())
	if len(changes) != 2 || changes[0].String() != `a.example: labels: "a" → "a, b"` || changes[1].Key != "owner" {
		t.Errorf("the changes are %v", changes)
	}
}
