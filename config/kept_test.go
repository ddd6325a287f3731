package config_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

func TestLoadKeptUsesCopiesOrHoldsHosts(t *testing.T) {
	t.Parallel()
	path := folder(t, map[string]string{
		"arcrawl.toml":                   operator + "[seeds]\nuris = [\"https://third.example/\"]\n",
		"hosts.d/good.example.toml":      "[scope]\nmax_hops = 3\n",
		"hosts.d/copied.example.toml":    "[scope]\nmax_hopes = 4\n",
		"hosts.d/never.example.toml":     "[scope\nmax_hops = 5\n",
		"hosts.d/www.never.example.toml": "[scope]\nmax_hops = 6\n",
		"hosts.d/third.toml":             "host = \"third.example:8080\"\n[scope]\nmax_hops = \"x\"\n",
		"hosts.d/twice.toml":             "host = \"good.example\"\n",
	})
	c, err := config.LoadKept(path, func(_, name string) ([]byte, bool) {
		text, ok := map[string]string{"copied.example.toml": "[scope]\nmax_hops = 7\n", "third.toml": "also broken"}[name]
		return []byte(text), ok
	})
	if err != nil {
		t.Fatal(err)
	}
	var broken []string
	for _, f := range c.Broken {
		broken = append(broken, strings.TrimPrefix(f.String(), filepath.Dir(path)+"/"))
	}
	if len(broken) != 4 {
		t.Errorf("broken:\n%s\nwant one fault for each of four files", strings.Join(broken, "\n"))
	}
	for h, want := range map[uri.Host]int{"good.example": 3, "copied.example": 7, "www.never.example": 6} {
		if _, held := c.Held(h); held || c.ForHost(h, time.Time{}).Scope.MaxHops != want {
			t.Errorf("%s: held %t, max_hops %d; want %d", h, held, c.ForHost(h, time.Time{}).Scope.MaxHops, want)
		}
	}
	for h, want := range map[uri.Host]bool{
		"never.example": true, "img.never.example": true, "third.example:8080": true, "third.example": false, "example": false,
	} {
		if why, held := c.Held(h); held != want || held && why.Line == 0 {
			t.Errorf("%s: held %t because of %v, want %t", h, held, why, want)
		}
	}
	if diff := cmp.Diff([]uri.Host{"never.example", "third.example:8080"}, c.HeldHosts()); diff != "" {
		t.Errorf("held hosts (-want +got):\n%s", diff)
	}
}

func TestLoadKeptRefusesABrokenMainFile(t *testing.T) {
	t.Parallel()
	path := folder(t, map[string]string{"arcrawl.toml": "[operator]\n"})
	if c, err := config.LoadKept(path, func(_, _ string) ([]byte, bool) { return nil, true }); c != nil || err == nil {
		t.Errorf("LoadKept = %v, %v; want faults", c, err)
	}
}

func TestEffectiveNamesTheOrigin(t *testing.T) {
	t.Parallel()
	c := load(t, "[politeness]\nmin_delay = \"4s\"\nvalence = 2\n[[when]]\ntime = \"06:00-23:00\"\n[when.politeness]\nmin_delay = \"6s\"\n",
		"news.example.toml", "[scope]\nmax_hops = 7\n[[wait]]\nmime = \"^text/html.*\"\nmin = \"2h\"\n",
		"www.news.example.toml", "[fetch]\nmax_body = \"1MB\"\n[[when]]\nuri = \"/live/\"\nwait = [{ mime = \"^text/html.*\", max = \"90m\" }]\n")
	got := map[string]string{}
	at := config.About{URI: parse(t, "https://www.news.example/live/"), Now: at(t, "12:00")}
	for _, s := range c.Effective(at) {
		if _, ok := got[s.Key]; !ok {
			got[s.Key] = s.Value + " " + strings.TrimPrefix(s.Origin(), filepath.Dir(c.Path)+"/")
		}
	}
	for key, want := range map[string]string{
		"politeness.min_delay":         `"6s" arcrawl.toml:7`,
		"politeness.max_delay":         `"30s" default`,
		"politeness.valence":           `2 arcrawl.toml:3`,
		"scope.max_hops":               `7 hosts.d/news.example.toml:2`,
		"fetch.max_body":               `"1MB" hosts.d/www.news.example.toml:2`,
		`wait["^text/html.*"].max`:     `"1h30m" hosts.d/www.news.example.toml:5`,
		`wait["^text/html.*"].min`:     `"1h30m" hosts.d/news.example.toml:5`, // moved by the refinement's longest wait
		`wait["^text/html.*"].initial`: `"0s" default`,                        // estimated
		`wait["built-in"].rule`:        `"learned" default`,
		"change.mode":                  `"strict" default`,
		"midfetch.decide_by":           `"agree" default`,
	} {
		if got[key] != want {
			t.Errorf("%s is %s, want %s", key, got[key], want)
		}
	}
	want := []config.Refinement{
		{File: c.Path, Line: 4, Criteria: "time = 06:00-23:00", Holds: true},
		{File: filepath.Join(filepath.Dir(c.Path), "hosts.d/www.news.example.toml"), Line: 3, Criteria: `uri = "/live/"`, Holds: true},
	}
	if diff := cmp.Diff(want, c.Refinements("www.news.example", at)); diff != "" {
		t.Errorf("refinements (-want +got):\n%s", diff)
	}
}

// TestEverySettingHasAText finds keys whose value `arcrawl effective` cannot show.
func TestEverySettingHasAText(t *testing.T) {
	t.Parallel()
	for _, s := range load(t, "").EffectiveHost("a.example", time.Time{}) {
		if s.Value == "" || s.Origin() != "default" {
			t.Errorf("%+v", s)
		}
	}
}

func TestChangesAreListedOnce(t *testing.T) {
	t.Parallel()
	before := load(t, "[politeness]\nmin_delay = \"4s\"\n", "a.example.toml", "[scope]\nmax_hops = 7\n", "b.example.toml", "[politeness]\nmin_delay = \"5s\"\n")
	after := load(t, "[politeness]\nmin_delay = \"6s\"\n", "a.example.toml", "[scope]\nmax_hops = 8\n[[when]]\nuri = \"/live/\"\nscope = { max_hops = 9 }\n",
		"b.example.toml", "[politeness]\nmin_delay = \"5s\"\n")
	var got []string
	for _, x := range before.Changes(after, time.Time{}) {
		got = append(got, x.String())
	}
	want := []string{
		`politeness.min_delay: "4s" → "6s"`, "a.example: scope.max_hops: 7 → 8",
		`a.example: when: nothing → [uri = "/live/"] { scope = { max_hops = 9 } }`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := before.Changes(before, time.Time{}); len(again) != 0 {
		t.Errorf("a configuration differs from itself: %v", again)
	}
}

func TestExpiredSettingsAreWarnedOf(t *testing.T) {
	t.Parallel()
	c := load(t, "[[when]]\nuri = \"/\"\nuntil = 2026-11-20\nscope = { max_hops = 3 }\n", "a.example.toml", "until = 2026-11-20\n", "b.example.toml", "until = 2026-11-21\n")
	var got []string
	for _, f := range c.Expired(at(t, "12:00")) {
		got = append(got, strings.TrimPrefix(f.String(), filepath.Dir(c.Path)+"/"))
	}
	want := []string{
		"arcrawl.toml:3:9: when.until: has passed; remove the expired settings, or set a later date",
		"hosts.d/a.example.toml:1:9: until: has passed; remove the expired settings, or set a later date",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
