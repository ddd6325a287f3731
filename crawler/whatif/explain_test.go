package whatif_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// knows is a fake frontier with a few records.
type knows struct {
	records map[string]frontier.Record
	fill    frontier.Usage
	robots  string
	status  int    // of robots.txt; 0 = 200
	at      string // of the robots.txt to which it redirects
	same    uri.URI
}

func (k knows) Get(u uri.URI) (frontier.Record, bool, error) {
	r, ok := k.records[u.String()]
	r.URI = u
	return r, ok, nil
}

func (k knows) Usage(uri.URI) (frontier.Usage, error) { return k.fill, nil }

func (k knows) VisitedInstead(uri.URI) (uri.URI, bool, error) { return k.same, !k.same.IsZero(), nil }

func (k knows) Robots(uri.URI) (frontier.RobotsCopy, bool, error) {
	c := frontier.RobotsCopy{Status: max(k.status, 200), Body: []byte(k.robots), Expires: time.Now().Add(time.Hour)}
	if k.at != "" {
		c.Status, c.Body = 301, []byte(k.at)
	}
	return c, k.robots != "", nil
}

func TestExplainNamesTheRuleThatDecides(t *testing.T) {
	t.Parallel()
	const seed = "https://news.example/"
	room := frontier.Usage{Limits: frontier.Limits{URIs: 100}}
	for _, c := range []struct {
		name, scope, host, uri, via string
		hop                         uri.Hop
		known                       knows
		want                        string // opinion, rule and part of the explanation of the last rule that decided
		silent                      string // what the rules without an opinion say, if it is compared
	}{
		{name: "nothing", uri: "https://news.example/a", want: "accepts scope.by: news.example is a host of the seeds [default]"},
		{name: "the seed", uri: seed, want: "accepts seeds.uris: it is a seed"},
		{
			name: "another host", uri: "https://other.example/a", want: `rejects scope: no rule accepts it; scope.by is "host" [default]`,
			silent: `known: no; judged as if the seed https://news.example/ named it
seeds.uris: found from the seed https://news.example/ by the path L
scope.max_hops: 1 hops from the seed: within all limits on hops
scope.rules: none of 0 rules matches
scope.max_redirects: the seed does not redirect to it
scope.embeds_anywhere: it is not embedded
scope.by: other.example is not a host of the seeds
scope.seed_redirects: the seed is not known to redirect
`,
		},
		{name: "another host, with its line", scope: "by = \"domain\"\nprefixes = [\"https://other.example/\"]", uri: "https://other.example/a", want: `rejects scope: no rule accepts it; scope.by is "domain" [arcrawl.toml:7]`},
		{name: "a prefix, with its line", scope: "by = \"prefix\"\nprefixes = [\"https://news.example/b/\"]", uri: "https://news.example/a", want: `rejects scope: no rule accepts it; scope.by is "prefix" [arcrawl.toml:8]`},
		{name: "an embed of another host", uri: "https://other.example/a.png", hop: uri.Embed, want: "accepts scope.embeds_anywhere: it is embedded"},
		{name: "a rule, with its line", scope: "rules = [\n'accept /a', \n'reject /print/']", uri: "https://news.example/print/", want: "rejects scope.rules: reject /print/ [arcrawl.toml:9]"},
		{
			name: "a limit on hops", scope: "max_hops = 2", uri: "https://news.example/b", via: "https://news.example/a",
			known: knows{records: map[string]frontier.Record{"https://news.example/a": {Hops: "LL", Seed: seed}}, fill: room},
			want:  "rejects scope.max_hops: 3 hops from the seed, embeds and redirects not counted, at most 2 are allowed [arcrawl.toml:7]",
		},
		{
			name: "a limit on guesses that nobody set", uri: "https://news.example/b", via: "https://news.example/a", hop: uri.Speculative,
			known: knows{records: map[string]frontier.Record{"https://news.example/a": {Hops: "LX", Seed: seed}}, fill: room},
			want:  "rejects scope.max_speculative_hops: 2 guesses out of scripts, at most 1 are allowed [default]",
		},
		{
			name: "a limit on hops in a refinement", scope: "max_hops = 5\n[[when]]\nuri = \"news\"\nscope = { max_hops = 2 }", uri: "https://news.example/b", via: "https://news.example/a",
			known: knows{records: map[string]frontier.Record{"https://news.example/a": {Hops: "LL", Seed: seed}}, fill: room},
			want:  "rejects scope.max_hops: 3 hops from the seed, embeds and redirects not counted, at most 2 are allowed [arcrawl.toml:10]",
		},
		{
			name: "a full host by its own limit", scope: "max_uris = 100", uri: "https://news.example/b", known: knows{fill: frontier.Usage{URIs: 100, Limits: room.Limits}},
			want: "rejects scope.max_uris: its host has 100 URIs, at most 100 are kept [arcrawl.toml:7]",
		},
		{
			name: "a full host by the limit of all", scope: "[crawl]\nmax_uris_per_host = 100", uri: "https://news.example/b", known: knows{fill: frontier.Usage{URIs: 100, Limits: room.Limits}},
			want: "rejects scope.max_uris: its host has 100 URIs, at most 100 are kept [arcrawl.toml:8]",
		},
		{
			name: "a full folder", scope: "max_uris_per_directory = 9", uri: "https://news.example/b",
			known: knows{fill: frontier.Usage{URIs: 10, InDirectory: 9, Limits: frontier.Limits{URIs: 100, PerDirectory: 9}}},
			want:  "rejects scope.max_uris_per_directory: its folder has 9 URIs, at most 9 are kept [arcrawl.toml:7]",
		},
		{
			name: "a seed that was taken out", uri: "https://old.example/b",
			known: knows{records: map[string]frontier.Record{"https://old.example/b": {Hops: "L", Seed: "https://old.example/"}}, fill: room},
			want:  "rejects seeds.uris: no seed is listed on old.example",
		},
		{
			name: "a full host", uri: "https://news.example/b", known: knows{fill: frontier.Usage{URIs: 100, Limits: room.Limits}},
			want: "rejects scope.max_uris: its host has 100 URIs, at most 100 are kept [default]",
		},
		{
			name: "another URI of its name", uri: "https://news.example/b?ref=1", known: knows{fill: room, same: uri.FromCanonical("https://news.example/b")},
			scope: "[names]\ndrop = [\"ref\"]", want: "rejects names: it is the same as https://news.example/b, which is visited [arcrawl.toml:8]",
		},
		{
			name: "a private address", uri: "http://10.0.0.1/a.png", via: seed, hop: uri.Embed,
			want: "rejects fetch.allow_networks: it is at a private address, which is not fetched; add its network to",
		},
		{
			name: "a private address that is allowed", uri: "http://10.0.0.1/a.png", via: seed, hop: uri.Embed,
			scope: "[fetch]\nallow_networks = [\"10.0.0.0/8\"]", want: "accepts scope.embeds_anywhere: it is embedded",
		},
		{
			name: "robots.txt", uri: "https://news.example/b", known: knows{fill: room, robots: "User-agent: *\nDisallow: /b"},
			want: "rejects robots.txt: https://news.example/robots.txt, fetched",
		},
		{
			name: "robots.txt that allows it", uri: "https://news.example/c", known: knows{fill: room, robots: "User-agent: *\nDisallow: /b"},
			want: "accepts robots.txt: https://news.example/robots.txt, fetched",
		},
		{
			name: "robots.txt that forbids it, by permission", uri: "https://news.example/b", known: knows{fill: room, robots: "User-agent: *\nDisallow: /b"},
			host: "[robots]\nobey = false\nreason = \"letter of 2026\"\n",
			want: "accepts robots.obey: https://news.example/robots.txt forbids it, but may be ignored: letter of 2026 [news.example.toml:2]",
		},
		{
			name: "a robots.txt elsewhere", uri: "https://news.example/b",
			known: knows{robots: "User-agent: *\nDisallow: /b", at: "https://cdn.example/robots.txt"},
			want:  "rejects robots.txt: https://news.example/robots.txt, which redirects to https://cdn.example/robots.txt, fetched",
		},
		{
			name: "sitemaps of a robots.txt elsewhere", uri: "https://news.example/c",
			known: knows{
				robots: "Sitemap: https://news.example/a.xml\nSitemap: b.xml\nSitemap: c.xml\nSitemap: d.xml", at: "https://cdn.example/robots.txt",
				records: map[string]frontier.Record{"https://news.example/a.xml": {History: frontier.History{LastCapture: time.Unix(0, 0).UTC()}}, "https://cdn.example/b.xml": {}},
			},
			want: "accepts robots.txt: https://news.example/robots.txt, which redirects to https://cdn.example/robots.txt, fetched",
			silent: `known: no; judged as if the seed https://news.example/ named it
seeds.uris: found from the seed https://news.example/ by the path L
scope.max_hops: 1 hops from the seed: within all limits on hops
scope.rules: none of 0 rules matches
scope.max_redirects: the seed does not redirect to it
scope.embeds_anywhere: it is not embedded
scope.max_uris: its host has 0 URIs of 100
sitemaps: robots.txt names 4; https://news.example/a.xml was read at 1970-01-01T00:00:00Z; https://cdn.example/b.xml could not be read yet; https://cdn.example/c.xml is not followed: it is out of scope, or [feeds] says so; and 1 more
`,
		},
		{
			name: "a robots.txt that is forbidden itself", uri: "https://news.example/c", known: knows{robots: "no", status: 403},
			want: "accepts robots.txt: https://news.example/robots.txt, fetched 0001-01-01T00:00:00Z, has the status 403, so it allows everything",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			text := "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n" +
				"[seeds]\nuris = [\"" + seed + "\"]\n[scope]\n" + c.scope + "\n"
			hosts := filepath.Join(dir, "hosts.d")
			archivetest.Must(t, os.Mkdir(hosts, 0o750))
			archivetest.Must(t, os.WriteFile(filepath.Join(hosts, "news.example.toml"), []byte(c.host), 0o600))
			cfg := testcrawl.Load(t, dir, text)
			q := whatif.Question{URI: uri.FromCanonical(c.uri), Via: uri.FromCanonical(c.via), Hop: c.hop}
			if c.known.fill == (frontier.Usage{}) {
				c.known.fill = room
			}
			reasons, err := whatif.Explain(cfg, c.known, nil, q, time.Now())
			if err != nil || len(reasons) == 0 {
				t.Fatalf("%d reasons, %v", len(reasons), err)
			}
			var last scope.Reason
			silent := ""
			for _, r := range reasons {
				if r.Opinion != scope.Silent {
					last = r
					continue
				}
				silent += r.Rule + ": " + r.Why + "\n"
			}
			if c.silent != "" && c.silent != silent {
				t.Errorf("reasons without an opinion\n got %s\nwant %s", silent, c.silent)
			}
			got := fmt.Sprintf("%s %s: %s", last.Opinion, last.Rule, last.Why)
			if last.Where != "" {
				got += " [" + last.Where[strings.LastIndexByte(last.Where, '/')+1:] + "]"
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("last reason\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func (k knows) Substitute(u uri.URI) (frontier.RobotsCopy, bool, error) {
	c := frontier.RobotsCopy{Status: 200, Body: []byte(k.robots), Expires: time.Now().Add(time.Hour)}
	return c, k.at != "" && u.String() == k.at, nil
}

func TestNameChangesFindsMergesAndSplits(t *testing.T) {
	t.Parallel()
	known := []string{
		"http://news.example/a", "http://news.example/A", "http://news.example/b?utm_source=x", "http://news.example/b", "http://news.example/c",
		"http://other.example/a", "http://other.example/A",
	}
	each := func(see func(frontier.Record) error) error {
		for _, s := range known {
			if err := see(frontier.Record{URI: uri.FromCanonical(s)}); err != nil {
				return err
			}
		}
		return nil
	}
	rules := func(n *uri.Naming) func(uri.Host) *uri.Naming {
		return func(h uri.Host) *uri.Naming {
			if h == "news.example" {
				return n
			}
			return nil
		}
	}
	heritrix, drop := &uri.Naming{Set: uri.Heritrix}, &uri.Naming{Drop: []string{"utm_*"}}
	for _, c := range []struct {
		name          string
		before, after *uri.Naming
		want          whatif.Names
	}{
		{"no change", heritrix, heritrix, whatif.Names{}},
		{"first rules", nil, heritrix, whatif.Names{Hosts: 1, URIs: 5, Merged: 1}},
		{"no more rules", drop, nil, whatif.Names{Hosts: 1, URIs: 5, Parted: 1}},
		{"other rules", heritrix, drop, whatif.Names{Hosts: 1, URIs: 5, Merged: 1, Parted: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := whatif.NameChanges(each, rules(c.before), rules(c.after), 10)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(whatif.Names{}, "Merges", "Splits")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got.Merges) != got.Merged || len(got.Splits) != got.Parted {
				t.Errorf("%d and %d examples of %+v", len(got.Merges), len(got.Splits), got)
			}
		})
	}
}
