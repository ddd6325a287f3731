package config_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/arcrawl/arcrawl/config"
)

// samples holds values of the keys without a default.
var samples = map[string]string{
	"host":              `"a.example:8080"`,
	"operator.name":     `"Another Library"`,
	"operator.contact":  `"crawler@library.example"`,
	"wait.mime":         `"^audio/.*"`,
	"seeds.uris":        `["https://a.example/"]`,
	"until":             `2026-12-01`,
	"labels":            `["newspapers", "Bund & Länder"]`,
	"title":             `"The Daily News"`,
	"collections":       `["elections-2026"]`,
	"owner":             `"maria"`,
	"note":              `"asks us to call before large changes"`,
	"subscription.name": `"press"`,
	"when.uri":          `"/live/"`,
	"when.mime":         `"^text/html.*"`,
	"when.port":         `8080`,
	"when.hop":          `["embed", "seed"]`,
	"when.time":         `"06:00-23:00"`,
	"when.weekdays":     `["mon-fri"]`,
	"when.until":        `2026-12-01T18:00:00Z`,
}

// statement returns a file that sets the key, or only its table if value is "".
func statement(name, value string) string {
	table, key, ok := strings.Cut(name, ".")
	set := "\n"
	if value != "" {
		set = name[strings.LastIndexByte(name, '.')+1:] + " = " + value + "\n"
	}
	switch {
	case !ok:
		return set
	case table == "wait" && key != "mime" && key != "rule":
		return "[[wait]]\nmime = \"^audio/.*\"\nrule = \"classic\"\n" + set
	case key == "rule" && table == "wait":
		return "[[wait]]\nmime = \"^audio/.*\"\n" + set
	case table == "wait":
		return "[[wait]]\n" + set
	case table == "subscription":
		if key != "name" {
			set = "name = \"press\"\n" + set
		}
		if key == "mail" {
			set = "webhook = \"\"\n" + set
		} else {
			set = "mail = []\n" + set
		}
		return "[[subscription]]\n" + set
	case table == "when" && key != "uri":
		return "[[when]]\nuri = \"/\"\n" + set
	case table == "when":
		return "[[when]]\n" + set
	}
	return "[" + table + "]\n" + set
}

func TestKeysAreAcceptedOnlyInTheirScope(t *testing.T) {
	t.Parallel()
	for _, k := range config.Keys() {
		value := k.Default
		if s, ok := samples[k.Name]; ok {
			value = s
		}
		for _, where := range []string{"main", "host"} {
			main, host := operator, ""
			if where == "main" {
				main = statement(k.Name, value) + "\n"
				if !strings.HasPrefix(k.Name, "operator.") {
					main += operator
				} else {
					main = strings.Replace(operator, map[string]string{
						"operator.name": `name = "National Library"`, "operator.contact": `contact = "https://library.example/crawler"`,
					}[k.Name], strings.TrimPrefix(main, "[operator]\n"), 1)
				}
			} else {
				host = statement(k.Name, value)
			}
			_, err := config.Load(folder(t, map[string]string{"arcrawl.toml": main, "hosts.d/a.example.toml": host}))
			accepted := k.Scope == "both" || k.Scope == where
			if (err == nil) != accepted {
				t.Errorf("%s = %s in a %s file: %v; want accepted: %v", k.Name, value, where, err, accepted)
			}
		}
	}
}

func TestDefaultsChangeNothing(t *testing.T) {
	t.Parallel()
	all := cmp.Options{
		compare, cmpopts.IgnoreFields(config.Config{}, "Path", "HostsDir", "Storage", "Admin", "Digest", "Warnings"),
	}
	for _, k := range config.Keys() {
		if k.Default == "" {
			if _, ok := samples[k.Name]; !ok {
				t.Errorf("%s has no default and no sample", k.Name)
			}
			continue
		}
		files := func(value string) map[string]string {
			if !k.In(config.InMain) {
				return map[string]string{"arcrawl.toml": operator, "hosts.d/a.example.toml": statement(k.Name, value)}
			}
			return map[string]string{"arcrawl.toml": statement(k.Name, value) + operator, "hosts.d/a.example.toml": ""}
		}
		without, err := config.Load(folder(t, files("")))
		if err != nil {
			t.Fatal(err)
		}
		with, err := config.Load(folder(t, files(k.Default)))
		if err != nil {
			t.Fatalf("%s = %s: %v", k.Name, k.Default, err)
		}
		if diff := cmp.Diff(without, with, all); diff != "" {
			t.Errorf("%s = %s changes (-without +with):\n%s", k.Name, k.Default, diff)
		}
		if diff := cmp.Diff(without.ForHost("a.example", time.Time{}), with.ForHost("a.example", time.Time{}), compare); diff != "" {
			t.Errorf("%s = %s changes (-without +with):\n%s", k.Name, k.Default, diff)
		}
		relative := func(c *config.Config) config.Storage {
			s, dir := c.Storage, filepath.Dir(c.Path)
			for _, p := range []*string{&s.State, &s.WARC, &s.Log, &s.Secrets} {
				*p = strings.TrimPrefix(*p, dir)
			}
			return s
		}
		if diff := cmp.Diff(relative(without), relative(with)); diff != "" {
			t.Errorf("%s = %s changes (-without +with):\n%s", k.Name, k.Default, diff)
		}
	}
}

// Each list, and each text of it, is accepted at its bound and refused beyond it.
func TestListsAndTextsHaveBounds(t *testing.T) {
	t.Parallel()
	list := func(format string) func(int) string {
		return func(n int) string {
			var all []string
			for i := range n {
				all = append(all, strings.ReplaceAll(format, "N", strconv.Itoa(i)))
			}
			return "[" + strings.Join(all, ", ") + "]"
		}
	}
	text := func(format string) func(int) string {
		return func(n int) string {
			return "[" + strings.Replace(format, "N", strings.Repeat("x", n), 1) + "]"
		}
	}
	for _, c := range []struct {
		name  string
		value func(n int) string
		bound int
	}{
		{"names.drop", list(`"aN"`), 100},
		{"names.rewrite", list(`'/aN$ -> /'`), 100},
		{"names.drop", text(`"N"`), 2000},
		{"names.rewrite", text(`'N -> /'`), 2000 - len(" -> /")},
		{"scope.rules", list(`'reject /aN/'`), 500},
		{"request.headers", list(`{ name = "X-N", value = "a" }`), 50},
		{"request.headers", text(`{ name = "A", value = "N" }`), 4 << 10},
		{"request.headers", text(`{ name = "N", value = "a" }`), 100},
		{"login.fields", text(`{ name = "A", value = "N" }`), 4 << 10},
		{"login.fields", text(`{ name = "N", value = "a" }`), 200},
	} {
		for n := c.bound; n <= c.bound+1; n++ {
			_, err := config.Load(folder(t, map[string]string{
				"arcrawl.toml": operator, "hosts.d/a.example.toml": statement(c.name, c.value(n)),
			}))
			if (err == nil) != (n == c.bound) {
				t.Errorf("%s with %d is %.200v; the bound is %d", c.name, n, err, c.bound)
			}
		}
	}
}
