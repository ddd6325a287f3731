package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/evaluators"
)

// FuzzLoad loads random bytes as main file and as host file. The result is either a Config or Faults. Each fault must
// have a position inside its file. A Config must satisfy the invariants in the package comment.
func FuzzLoad(f *testing.F) {
	for _, path := range badCases(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, text)
	}
	f.Add([]byte(everything(f)+operator), []byte("[[wait]]\nmime = \".*\"\nmin = \"2h\"\n"))
	f.Add([]byte(operator+"storage.hosts = \"hosts.d\"\r\n"), []byte("host = 'b.example:81'\nseeds.uris = ['http://b.example:81/']"))
	for _, text := range []string{
		"", "\ufeff[a]\r\nb = 1", "[politeness]\nmin_delay = \"2s\"\nmin_delay = 5", "[[wait]]\nmime = '.*'\nmin = \"5\"\n[wait.x]\n",
		"wait = [{ mime = \".*\", min = \"1h\" }, { mime = 5 }, []]\n", "\"politeness\".'valence' = 0x10", "a = {b = {c = [[{d = 1}]]}}",
		"seeds.uris = ['http://a.example/', \"\"\"\nx\"\"\", 1979-05-27]\nhost = 'a.example:80'", "[fetch]\nallow_networks = [\"::1/128\"]\nmax_body = '1GB'",
		"until = 2026-12-01\n[[when]]\nuri = '/live/'\ntime = \"06:00-23:00\"\nuntil = 2026-12-01T10:00:00\nwait = [{ mime = \".*\", min = \"1m\" }]\n[when.politeness]\nmin_delay = \"1m\"\n",
		"[[wait]S\nmime =\x15\x7f\x00*'\nPin = \"5\"\n[wait.x]\n",
	} {
		f.Add([]byte(text+operator), []byte(text))
	}
	f.Fuzz(func(t *testing.T, main, host []byte) {
		texts := map[string][]byte{"": main, "a.example.toml": host}
		c, err := config.LoadTexts("arcrawl.toml", texts)
		if err != nil {
			checkFaults(t, c, err, texts)
			return
		}
		checkConfig(t, c)
	})
}

func checkFaults(t *testing.T, c *config.Config, err error, texts map[string][]byte) {
	t.Helper()
	var faults config.Faults
	if c != nil || !errors.As(err, &faults) || len(faults) == 0 {
		t.Fatalf("Load = %v, %v; want Faults and no Config", c, err)
	}
	for _, f := range faults {
		if f.Problem == "" || f.Remedy == "" || (f.Line == 0) != (f.Column == 0) {
			t.Fatalf("%#v lacks a part", f)
		}
		name := filepath.Base(f.File)
		switch {
		case f.Line == 0:
			continue
		case name == "arcrawl.toml":
			name = ""
		}
		lines := strings.Split(string(texts[name]), "\n")
		if f.Line < 1 || f.Column < 1 || f.Line > len(lines) || f.Column > len(lines[f.Line-1])+1 {
			t.Fatalf("%#v is not in a line of its file", f)
		}
	}
}

func checkConfig(t *testing.T, c *config.Config) {
	t.Helper()
	for _, s := range c.Seeds {
		if !c.SeedHost(s.URI.Host()) || s.Line < 1 {
			t.Fatalf("seed %v has no host or line", s)
		}
		settings := c.For(config.About{URI: s.URI, ContentType: "text/html", Now: time.Unix(1e9, 0)})
		if settings.Scope.By == scope.ByPrefix && len(settings.Scope.Prefixes) == 0 {
			t.Fatalf("host of the seed %v has no prefixes", s)
		}
	}
	for _, s := range []config.Settings{c.ForHost("a.example", time.Time{}), c.ForHost("elsewhere.example", time.Time{})} {
		if s.Politeness.MinDelay > s.Politeness.MaxDelay || s.Retry.First > s.Retry.Max || s.Fetch.MaxBody <= 0 ||
			schema.Find[robots.Options](&s).Wait <= 0 {
			t.Fatalf("settings %+v contradict themselves", s)
		}
		if len(s.Wait) == 0 {
			t.Fatal("the stack is empty")
		}
		for _, e := range s.Wait {
			shortest, longest := e.Rule.Bounds()
			if e.MIME == nil || shortest <= 0 || shortest > longest || !factors(e.Rule) {
				t.Fatalf("entry %+v contradicts itself", e)
			}
		}
	}
	if agent := c.UserAgent("1"); strings.ContainsAny(agent, "\r\n") {
		t.Fatalf("User-Agent %q has more than one line", agent)
	}
}

// factors reports whether the factors of a rule, if it has any, are at least 1.
func factors(rule evaluators.Rule) bool {
	classic, ok := rule.(evaluators.Classic)
	if target, has := rule.(evaluators.Target); has {
		classic, ok = target.Classic, true
	}
	return !ok || classic.ChangedFactor >= 1 && classic.UnchangedFactor >= 1
}
