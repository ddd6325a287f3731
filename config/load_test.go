package config_test

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

const operator = `
[operator]
name = "National Library"
contact = "https://library.example/crawler"
`

const day = 24 * time.Hour

// compare compares types of other packages by their own notion of equality.
var compare = cmp.Options{
	cmpopts.IgnoreUnexported(config.Config{}),
	cmpopts.IgnoreFields(noise.Options{}, "Rules", "Seen"), // made of the other fields
	cmp.Comparer(func(a, b *regexp.Regexp) bool { return a == b || a != nil && b != nil && a.String() == b.String() }),
	cmp.Comparer(func(a, b uri.URI) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
}

// folder writes files, named by their paths, into a new folder and returns the path of its main file.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "arcrawl.toml")
}

// load loads a main file with an operator, and host files in pairs of name and text.
func load(t testing.TB, main string, hosts ...string) *config.Config {
	t.Helper()
	files := map[string]string{"arcrawl.toml": main + operator}
	for i := 0; i < len(hosts); i += 2 {
		files["hosts.d/"+hosts[i]] = hosts[i+1]
	}
	c, err := config.Load(folder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mime(t testing.TB, expr string) *regexp.Regexp {
	t.Helper()
	re, err := digest.TypePattern(expr)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

func parse(t testing.TB, s string) uri.URI {
	t.Helper()
	u, err := uri.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// plain is the rule of an entry that sets nothing.
var plain = evaluators.Classic{
	Initial: day, Min: time.Hour, Max: 28 * day, Unknown: 3 * day, ChangedFactor: 1.5, UnchangedFactor: 1.5,
}

// everything returns a text that sets each key to a value other than its default.
func everything(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/everything.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestKeysReachTheirFields loads a configuration that sets nothing but a seed, and one that sets everything. The golden
// files have all fields of both that are not zero.
func TestKeysReachTheirFields(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing": "[seeds]\nuris = [\"https://www.news.example/#top\"]\n", "everything": everything(t),
	} {
		main := folder(t, map[string]string{
			"arcrawl.toml": text + operator, "curators/sport.example.toml": "[politeness]\nvalence = 3\n",
		})
		c, err := config.Load(main)
		if err != nil {
			t.Fatal(err)
		}
		settings := c.ForHost("www.news.example", time.Time{})
		for _, h := range []uri.Host{"sport.example", "elsewhere.example"} {
			if diff := cmp.Diff(settings, c.ForHost(h, time.Time{}), compare); diff != "" {
				t.Errorf("settings of %s (-www.news.example +its own):\n%s", h, diff)
			}
		}
		var b strings.Builder
		writeFields(&b, "config", reflect.ValueOf(*c))
		writeFields(&b, "settings", reflect.ValueOf(settings))
		got := strings.ReplaceAll(b.String(), filepath.Dir(main), "/FOLDER")
		golden := "testdata/fields-of-" + name + ".want"
		if *update {
			check(t, os.WriteFile(golden, []byte(got), 0o644))
		}
		want, err := os.ReadFile(golden)
		check(t, err)
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", golden, diff)
		}
	}
}

// writeFields writes a line for each exported field below v that is not zero. A value without such fields is a text.
func writeFields(b *strings.Builder, path string, v reflect.Value) {
	before := b.Len()
	switch {
	case v.IsZero() || strings.HasSuffix(path, ".Digest"): // it depends on the bytes of the file
		return
	case v.Kind() == reflect.Pointer && reflect.VisibleFields(v.Type().Elem())[0].IsExported():
		writeFields(b, path, v.Elem())
	case v.Kind() == reflect.Interface:
		writeFields(b, fmt.Sprintf("%s(%s)", path, v.Elem().Type()), v.Elem())
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			writeFields(b, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				writeFields(b, path+"."+f.Name, v.Field(i))
			}
		}
	}
	_, text := v.Interface().(fmt.Stringer)
	if b.Len() == before && (text || v.Kind() < reflect.Array || v.Kind() == reflect.String) {
		fmt.Fprintf(b, "%s = %v\n", path, v)
	}
}

func TestHostFileOverridesSingleKeys(t *testing.T) {
	t.Parallel()
	c := load(t, "[politeness]\nmin_delay = \"4s\"\nvalence = 2\n[scope]\nmax_hops = 7\n",
		"www.news.example.toml", "[politeness]\nmin_delay = \"6s\"\n[scope]\nembeds_anywhere = false\n[fetch]\nmax_body = \"1MB\"\n",
		"other.toml", "host = \"WWW.News.example:8080\"\nseeds.uris = [\"http://www.news.example:8080/a\"]\n[robots]\nwait = \"1h\"\n")

	main := load(t, "").ForHost("www.news.example", time.Time{})
	main.Politeness.MinDelay, main.Politeness.Valence, main.Scope.MaxHops = 4*time.Second, 2, 7
	news := main
	news.Politeness.MinDelay, news.Scope.EmbedsAnywhere, news.Fetch.MaxBody = 6*time.Second, false, 1e6
	port := news
	own := *schema.Find[robots.Options](&port)
	own.Wait = time.Hour
	port.Own = append([]any{&own}, port.Own[1:]...)

	for h, want := range map[uri.Host]config.Settings{
		"www.news.example": news, "www.news.example:8080": port, "news.example": main, "sub.www.news.example": news, "xwww.news.example": main,
	} {
		if diff := cmp.Diff(want, c.ForHost(h, time.Time{}), compare); diff != "" {
			t.Errorf("settings of %s (-want +got):\n%s", h, diff)
		}
	}
}

func TestForWithoutURIUsesTheMainFile(t *testing.T) {
	t.Parallel()
	c := load(t, "[politeness]\nmin_delay = \"4s\"\n[[when]]\nuri = \".\"\npoliteness = { min_delay = \"9s\" }\n",
		"www.news.example.toml", "[politeness]\nmin_delay = \"6s\"\n")
	if got := c.For(config.About{}).Politeness.MinDelay; got != 4*time.Second {
		t.Errorf("min_delay is %s, want 4s as in the main file", got)
	}
	if got := c.Effective(config.About{}); len(got) == 0 {
		t.Error("no setting is in force")
	}
}

func TestHostEntriesPrecedeAndShadowTheStack(t *testing.T) {
	t.Parallel()
	of := func(expr string, rule evaluators.Rule) evaluators.WaitEvaluator {
		return evaluators.WaitEvaluator{Name: expr, MIME: mime(t, expr), Rule: rule}
	}
	rule := plain
	rule.Initial, rule.Min, rule.Max, rule.ChangedFactor = 6*time.Hour, 2*time.Hour, 10*day, 3
	html := of("^text/html.*", rule)
	rule.Initial, rule.Min = 30*time.Minute, 5*time.Minute
	changed := of("^text/html.*", rule)
	rule = plain
	rule.UnchangedFactor = 4
	feed := of("^application/rss.*", rule)
	text := of("^text/.*$", evaluators.Learned{CaptureTarget: 0.8, Min: 5 * time.Minute, Max: 14 * day, Prefer: "pages"})
	shadowing := "[[wait]]\nmime = \"^text/html.*\"\ninitial = \"30m\"\nmin = \"5m\"\n"
	for _, tt := range []struct {
		name, main, host string
		want             evaluators.Stack
	}{
		{
			name: "an entry inherits from the main file's entry with the same pattern",
			main: "[[wait]]\nmime = \"^text/html.*\"\nrule = \"classic\"\ninitial = \"6h\"\nmin = \"2h\"\nmax = \"10d\"\nchanged_factor = 3\n",
			host: shadowing, want: evaluators.Stack{changed, html},
		},
		{
			name: "an entry with a new pattern has the defaults",
			main: "[[wait]]\nmime = \"^text/html.*\"\nrule = \"classic\"\ninitial = \"6h\"\nmin = \"2h\"\nmax = \"10d\"\nchanged_factor = 3\n",
			host: "wait = [{ mime = \"^application/rss.*\", rule = \"classic\", unchanged_factor = 4 }]\n" + "# a comment",
			want: evaluators.Stack{feed, html},
		},
		{
			name: "without entries in the main file, the host's entries precede the built-in one and keep its rule",
			host: "[[wait]]\nmime = \"^text/.*$\"\nmax = \"2w\"\n",
			want: append(evaluators.Stack{text}, evaluators.Default()...),
		},
		{
			name: "a host file without entries has the main file's stack",
			main: "[[wait]]\nmime = \"^text/html.*\"\nrule = \"classic\"\ninitial = \"6h\"\nmin = \"2h\"\nmax = \"10d\"\nchanged_factor = 3\n",
			want: evaluators.Stack{html},
		},
		{name: "an empty list in the main file is the built-in stack", main: "wait = []\n", want: evaluators.Default()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := load(t, tt.main, "www.news.example.toml", tt.host)
			if diff := cmp.Diff(tt.want, c.ForHost("www.news.example", time.Time{}).Wait, compare); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrefixesAreTheFoldersOfTheSeedsUnlessSet(t *testing.T) {
	t.Parallel()
	c := load(t, "[scope]\nby = \"prefix\"\n[seeds]\nuris = [\"https://a.example/news/today.html?x=/\", \"http://a.example/news/\", \"http://b.example:8080/x\"]\n",
		"c.example.toml", "[seeds]\nuris = [\"https://c.example/one/two\"]\n[scope]\nprefixes = [\"https://c.example/one\"]\n",
		"d.example.toml", "[seeds]\nuris = [\"https://d.example/one/two\"]\n[scope]\nby = \"host\"\n")
	for h, want := range map[uri.Host][]string{
		"a.example":      {"http://a.example/news/", "https://a.example/news/"},
		"b.example:8080": {"http://b.example:8080/"},
		"c.example":      {"https://c.example/one"},
		"d.example":      nil,
		"e.example":      nil,
	} {
		if diff := cmp.Diff(want, c.ForHost(h, time.Time{}).Scope.Prefixes); diff != "" {
			t.Errorf("prefixes of %s (-want +got):\n%s", h, diff)
		}
	}
}

func TestHostsFolderCanBeNamed(t *testing.T) {
	t.Parallel()
	elsewhere := filepath.Dir(folder(t, map[string]string{"a.example.toml": "[politeness]\nvalence = 4\n"}))
	c := load(t, "[storage]\nhosts = \""+elsewhere+"\"\n", "a.example.toml", "[politeness]\nvalence = 5\n")
	if got := c.ForHost("a.example", time.Time{}).Politeness.Valence; got != 4 {
		t.Errorf("valence = %d, want 4 as in the named folder", got)
	}
}

func TestSeedsComeFromAllFilesInOrder(t *testing.T) {
	t.Parallel()
	c := load(t, "[seeds]\nuris = [\n  \"https://z.example/\",\n  \"https://b.example/\",\n]\n",
		"b.example.toml", "[seeds]\nuris = [\"http://b.example/x\"]\n", "a.example.toml", "[seeds]\nuris = [\"https://a.example/\"]\n")
	dir := filepath.Dir(c.Path)
	want := []config.Seed{
		{parse(t, "https://z.example/"), filepath.Join(dir, "arcrawl.toml"), 3},
		{parse(t, "https://b.example/"), filepath.Join(dir, "arcrawl.toml"), 4},
		{parse(t, "https://a.example/"), filepath.Join(dir, "hosts.d/a.example.toml"), 2},
		{parse(t, "http://b.example/x"), filepath.Join(dir, "hosts.d/b.example.toml"), 2},
	}
	if diff := cmp.Diff(want, c.Seeds, compare); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for h, want := range map[uri.Host]bool{
		"z.example": true, "b.example": true, "a.example": true, "c.example": false, "b.example:8080": false,
	} {
		if got := c.SeedHost(h); got != want {
			t.Errorf("SeedHost(%s) = %v, want %v", h, got, want)
		}
	}
}

func TestUserAgentNamesTheContact(t *testing.T) {
	t.Parallel()
	got := load(t, "").UserAgent("0.3.1")
	if want := "Mozilla/5.0 (compatible; arcrawl/0.3.1; +https://library.example/crawler)"; got != want {
		t.Errorf("UserAgent = %q, want %q", got, want)
	}
}

func TestDigestDependsOnNamesAndBytes(t *testing.T) {
	t.Parallel()
	base := load(t, "", "a.example.toml", "# a", "b.example.toml", "").Digest
	if !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(base) {
		t.Errorf("Digest = %q, want sha256: and 64 hexadecimal digits", base)
	}
	for _, tt := range []struct {
		name, main string
		hosts      []string
		same       bool
	}{
		{name: "the same files in another folder", hosts: []string{
			"b.example.toml", "", "a.example.toml", "# a",
		}, same: true},
		{name: "a backup next to them", hosts: []string{
			"a.example.toml", "# a", "b.example.toml", "", "b.example.toml~", "[[",
		}, same: true},
		{name: "another main file", main: "# x", hosts: []string{"a.example.toml", "# a", "b.example.toml", ""}},
		{name: "another host file", hosts: []string{"a.example.toml", "# b", "b.example.toml", ""}},
		{name: "another file name", hosts: []string{"a.example.toml", "# a", "c.example.toml", ""}},
		{name: "the bytes in the other file", hosts: []string{"a.example.toml", "", "b.example.toml", "# a"}},
		{name: "the name and bytes of a file inside another", hosts: []string{"a.example.toml", "# ab.example.toml"}},
		{name: "a file less", hosts: []string{"a.example.toml", "# a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := load(t, tt.main, tt.hosts...).Digest; (got == base) != tt.same {
				t.Errorf("Digest = %s, before %s; want the same: %v", got, base, tt.same)
			}
		})
	}
}

func TestLoadIsRepeatable(t *testing.T) {
	t.Parallel()
	main := folder(t, map[string]string{
		"arcrawl.toml": everything(t) + operator, "curators/a.example.toml": "[[wait]]\nmime = \".*\"\nmin = \"2h\"\n", "curators/b.example.toml": "",
	})
	first, err := config.Load(main)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := config.Load(main)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, again, compare); diff != "" {
			t.Fatalf("(-first +again):\n%s", diff)
		}
		if diff := cmp.Diff(first.ForHost("a.example", time.Time{}), again.ForHost("a.example", time.Time{}), compare); diff != "" {
			t.Fatalf("settings (-first +again):\n%s", diff)
		}
	}
}

// TestKeysOfAWingNeedTheWing sets keys of wings that are not linked, each in another place.
func TestKeysOfAWingNeedTheWing(t *testing.T) {
	t.Parallel()
	for i, c := range []*config.Config{
		load(t, "[upload]\n[render]\n"),
		load(t, "[render]\nkeep = \"all\"\n[upload]\nregion = \"here\"\n"),
		load(t, "", "a.example.toml", "[render]\nkeep = \"all\"\n"),
		load(t, "[[when]]\nuri = \"/live/\"\n[when.render]\nkeep = \"all\"\n"),
		load(t, "[mail]\ndigest = \"07:00\"\n"),
		load(t, "[admin]\ngit = true\n"),
		load(t, "[admin]\nwebhook = \"https://alarms.library.example/\"\n"),
	} {
		want := []string{"", "[upload]", "[render]", "[render]", "[mail]", "", "admin.webhook"}[i]
		if got := c.Lacks(func(wing string) bool { return wing == "cluster" }); got != want {
			t.Errorf("configuration %d lacks %q, want %q", i, got, want)
		}
	}
}
