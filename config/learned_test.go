package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

func TestUnsetBoundsFollowTheRule(t *testing.T) {
	t.Parallel()
	const entry = "[[wait]]\nmime = \"^text/html.*\"\n"
	for _, tt := range []struct {
		name, main, host string
		rule             string
		min, max         time.Duration
	}{
		{"the learned rule waits 5 minutes to 90 days", entry + "rule = \"learned\"\n", "", "evaluators.Learned", 5 * time.Minute, 90 * day},
		{"a bound of the same entry is kept", entry + "rule = \"learned\"\nmax = \"10d\"\n", "", "evaluators.Learned", 5 * time.Minute, 10 * day},
		{"a bound of a shadowed entry is kept", entry + "min = \"2h\"\n", entry + "rule = \"learned\"\n", "evaluators.Learned", 2 * time.Hour, 90 * day},
		{"another rule brings its own bounds", entry + "rule = \"learned\"\n", entry + "rule = \"classic\"\n", "evaluators.Classic", time.Hour, 28 * day},
		{"without an entry, the rule is the one that init writes", "", "", "evaluators.Learned", 5 * time.Minute, 90 * day},
		{"an entry without a rule has this one too", entry + "max = \"9d\"\n", "", "evaluators.Learned", 5 * time.Minute, 9 * day},
		{"also in a host file, for types that no entry decided about", "[[wait]]\nmime = \"^image/.*\"\nrule = \"fixed\"\n", entry, "evaluators.Learned", 5 * time.Minute, 90 * day},
		{"classic is one line", "wait = [{ mime = \".*\", rule = \"classic\" }]\n", "", "evaluators.Classic", time.Hour, 28 * day},
		{"the built-in entry is shadowed like any other", "", "[[wait]]\nmime = \".*\"\nmax = \"9d\"\n", "evaluators.Learned", 5 * time.Minute, 9 * day},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := load(t, tt.main, "www.news.example.toml", tt.host).ForHost("www.news.example", time.Time{}).Wait[0]
			shortest, longest := e.Rule.Bounds()
			if rule := fmt.Sprintf("%T", e.Rule); rule != tt.rule || shortest != tt.min || longest != tt.max {
				t.Errorf("%v from %v to %v, want %v from %v to %v", rule, shortest, longest, tt.rule, tt.min, tt.max)
			}
		})
	}
}

// The learned rule estimates the wait after the first capture, unless a file sets it.
func TestLearnedHasTheInitialWaitThatAFileSets(t *testing.T) {
	t.Parallel()
	const entry = "[[wait]]\nmime = \"^text/.*$\"\nrule = \"learned\"\n"
	for _, tt := range []struct {
		name, main, host string
		want             time.Duration
	}{
		{"not set, in spite of the default of the key", entry, "", 0},
		{"set", entry + "initial = \"6h\"\n", "", 6 * time.Hour},
		{"set for one host", entry, "[[wait]]\nmime = \"^text/.*$\"\ninitial = \"2h\"\n", 2 * time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := load(t, tt.main, "www.news.example.toml", tt.host)
			e := c.ForHost("www.news.example", time.Time{}).Wait[0]
			if got := e.Rule.(evaluators.Learned).Initial; got != tt.want {
				t.Errorf("the initial wait is %v, want %v", got, tt.want)
			}
		})
	}
}

// An entry for other types keeps the rule that the main file has for them, unless it names one.
func TestEntriesOfHostFilesKeepTheRuleOfTheMainFile(t *testing.T) {
	t.Parallel()
	const all = "[[wait]]\nmime = \".*\"\nrule = \"learned\"\ncapture_target = 0.6\n"
	const images = "[[wait]]\nmime = \"^image/.*\"\nrule = \"fixed\"\nevery = \"7d\"\n"
	for _, tt := range []struct{ name, main, host, want string }{
		{"the rule of all types", all, "[[wait]]\nmime = \"^text/html.*\"\nmax = \"30m\"\n", "{CaptureTarget:0.6 ExpectedChanges:0 Min:5m0s Max:30m0s}"},
		{"the rule of these types", images + all, "[[wait]]\nmime = \"^image/png.*\"\n", "{Every:168h0m0s}"},
		{"a type that is not common", images + all, "[[wait]]\nmime = \"^application/x-odd.*\"\n", "{CaptureTarget:0.6 ExpectedChanges:0 Min:5m0s Max:2160h0m0s}"},
		{"a rule of its own", all, "[[wait]]\nmime = \"^text/html.*\"\nrule = \"fixed\"\nevery = \"1h\"\n", "{Every:1h0m0s}"},
		{"no entry in the main file", "", "[[wait]]\nmime = \"^text/html.*\"\nrule = \"fixed\"\nevery = \"1h\"\n", "{Every:1h0m0s}"},
		{"in a refinement", all, "[[when]]\nhop = [\"seed\"]\nwait = [{ mime = \"^text/html.*\", max = \"30m\" }]\n", "{CaptureTarget:0.6 ExpectedChanges:0 Min:5m0s Max:30m0s}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := load(t, tt.main, "www.news.example.toml", tt.host)
			about := config.About{URI: uri.FromCanonical("http://www.news.example/")}
			if got := fmt.Sprintf("%+v", c.For(about).Wait[0].Rule); !strings.HasPrefix(got, tt.want[:len(tt.want)-1]) {
				t.Errorf("the rule is %s, want %s", got, tt.want)
			}
		})
	}
}
