package config_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// at returns a time in UTC: on 21 November 2026, a Saturday, unless s has a date.
func at(t testing.TB, s string) time.Time {
	t.Helper()
	for _, layout := range []string{"15:04", "15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		if v, err := time.Parse(layout, s); err == nil {
			if v.Year() == 0 {
				v = v.AddDate(2026, 10, 20)
			}
			return v
		}
	}
	t.Fatalf("%q is not a time", s)
	return time.Time{}
}

func TestRefinementAppliesIfAllCriteriaHold(t *testing.T) {
	t.Parallel()
	const live = "https://www.news.example/live/today"
	for _, tt := range []struct {
		name, criteria string
		uri            string // live where it is not said
		hops           uri.HopPath
		mime           string
		now            string // noon where it is not said
		want           bool
	}{
		{name: "a part of the URI", criteria: `uri = "/live/"`, want: true},
		{name: "a part of another URI", criteria: `uri = "/live/"`, uri: "https://www.news.example/sport/"},
		{name: "the query", criteria: `uri = '[?&]print=1'`, uri: "https://www.news.example/a?print=1", want: true},
		{name: "a port", criteria: `port = 8080`, uri: "http://www.news.example:8080/", want: true},
		{name: "the port of the scheme", criteria: `port = 443`, want: true},
		{name: "another port", criteria: `port = 80`},
		{name: "a content type", criteria: `mime = "^text/html.*"`, mime: "text/html; charset=utf-8", want: true},
		{name: "another content type", criteria: `mime = "^text/html.*"`, mime: "image/png"},
		{name: "a content type before the first capture", criteria: `mime = ".*"`},
		{name: "an embed", criteria: `hop = ["embed"]`, hops: "LE", want: true},
		{name: "a link of an embed", criteria: `hop = ["embed"]`, hops: "EL"},
		{name: "one of two kinds", criteria: `hop = ["redirect", "seed"]`, want: true},
		{name: "one criterion of two", criteria: "uri = \"/live/\"\nport = 80"},
		{name: "two criteria of two", criteria: "uri = \"/live/\"\nport = 443", want: true},

		{name: "the first moment of the span", criteria: `time = "06:00-23:00"`, now: "06:00", want: true},
		{name: "the moment before the span", criteria: `time = "06:00-23:00"`, now: "05:59:59"},
		{name: "the end of the span", criteria: `time = "06:00-23:00"`, now: "23:00"},
		{name: "until the end of the day", criteria: `time = "18:00-24:00"`, now: "23:59:59", want: true},
		{name: "before midnight of a span across it", criteria: `time = "22:00-06:00"`, now: "22:00", want: true},
		{name: "after midnight of a span across it", criteria: `time = "22:00-06:00"`, now: "05:59", want: true},
		{name: "outside of a span across midnight", criteria: `time = "22:00-06:00"`, now: "06:00"},
		{name: "a weekday", criteria: `weekdays = ["sat"]`, want: true},
		{name: "another weekday", criteria: `weekdays = ["mon-fri"]`},
		{name: "a range across the end of the week", criteria: `weekdays = ["fri-mon"]`, want: true},
		{name: "Friday's night on Saturday morning", criteria: "time = \"22:00-06:00\"\nweekdays = [\"fri\"]", now: "03:00", want: true},
		{name: "Saturday's night on Saturday morning", criteria: "time = \"22:00-06:00\"\nweekdays = [\"sat\"]", now: "03:00"},
		{name: "Saturday's night on Saturday evening", criteria: "time = \"22:00-06:00\"\nweekdays = [\"sat\"]", now: "22:30", want: true},

		{name: "winter time", criteria: "time = \"06:00-07:00\"\nzone = \"Europe/Copenhagen\"", now: "2026-01-15T05:30", want: true},
		{name: "summer time", criteria: "time = \"06:00-07:00\"\nzone = \"Europe/Copenhagen\"", now: "2026-07-15T04:30", want: true},
		{name: "winter's hour in summer", criteria: "time = \"06:00-07:00\"\nzone = \"Europe/Copenhagen\"", now: "2026-07-15T05:30"},
		{name: "an hour that the clock skips, before", criteria: "time = \"02:00-03:00\"\nzone = \"Europe/Copenhagen\"", now: "2026-03-29T00:59:59"},
		{name: "an hour that the clock skips, after", criteria: "time = \"02:00-03:00\"\nzone = \"Europe/Copenhagen\"", now: "2026-03-29T01:00"},
		{name: "an hour that comes twice, first", criteria: "time = \"02:00-03:00\"\nzone = \"Europe/Copenhagen\"", now: "2026-10-25T00:30", want: true},
		{name: "an hour that comes twice, again", criteria: "time = \"02:00-03:00\"\nzone = \"Europe/Copenhagen\"", now: "2026-10-25T01:30", want: true},
		{name: "the weekday of the zone", criteria: "weekdays = [\"sun\"]\nzone = \"Pacific/Auckland\"", want: true},

		{name: "the last moment of its last day", criteria: `until = 2026-11-21`, now: "23:59:59", want: true},
		{name: "the day after", criteria: `until = 2026-11-20`, now: "00:00"},
		{name: "its last day in its zone", criteria: "until = 2026-11-21\nzone = \"America/New_York\"", now: "2026-11-22T04:59", want: true},
		{name: "after its last day in its zone", criteria: "until = 2026-11-21\nzone = \"America/New_York\"", now: "2026-11-22T05:00"},
		{name: "before a time without offset", criteria: `until = 2026-11-21T12:00:01`, want: true},
		{name: "at a time with offset", criteria: `until = 2026-11-21T13:00:00+01:00`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := load(t, "", "www.news.example.toml", "[[when]]\n"+tt.criteria+"\n[when.scope]\nmax_hops = 3\n")
			if tt.uri == "" {
				tt.uri = live
			}
			if tt.now == "" {
				tt.now = "12:00"
			}
			about := config.About{URI: parse(t, tt.uri), Hops: tt.hops, ContentType: tt.mime, Now: at(t, tt.now)}
			if got := c.For(about).Scope.MaxHops == 3; got != tt.want {
				t.Errorf("%s for %+v: holds %t, want %t", tt.criteria, about, got, tt.want)
			}
		})
	}
}

func TestRefinementCanSetKeysOfHostFiles(t *testing.T) {
	t.Parallel()
	c := load(t, "wait = [{ mime = '^text/.*$', rule = 'classic' }, { mime = '^image/.*$', rule = 'classic' }, { mime = '.*', rule = 'classic' }]\n", "www.news.example.toml", `
[[wait]]
mime = "^text/html.*"
initial = "30m"
min = "20m"

[change]
mode = "scrubbed"
scrub = ['\d+ views']

[[when]]
uri = "/live/"
wait = [{ mime = "^text/html.*", min = "1m" }, { mime = "^image/.*$", min = "2h" }]
change = { scrub = ['\d+ likes'] }
[when.politeness]
min_delay = "1m"
`)
	plain := c.For(config.About{URI: parse(t, "https://www.news.example/")})
	refined := c.For(config.About{URI: parse(t, "https://www.news.example/live/")})

	want := plain
	want.Politeness.MinDelay = time.Minute
	want.Politeness.MaxDelay = time.Minute // the refinement's own bound moves the other
	change := *config.Own[noise.Options](&plain)
	change.Scrub = []string{`\d+ likes`}
	want.Own = slices.Clone(plain.Own)
	for i, own := range want.Own {
		if _, is := own.(*noise.Options); is {
			want.Own[i] = &change
		}
	}
	html, image := plain.Wait[0], plain.Wait[2]
	of := func(e evaluators.WaitEvaluator) evaluators.Classic { return e.Rule.(evaluators.Classic) }
	rule := of(html)
	rule.Min = time.Minute
	html.Rule = rule
	rule = of(image)
	rule.Min = 2 * time.Hour
	image.Rule = rule
	image.Name = "^image/.*$"
	want.Wait = append(plain.Wait[:0:0], html, image)
	want.Wait = append(want.Wait, plain.Wait...)
	if diff := cmp.Diff(want, refined, compare); diff != "" {
		t.Errorf("under /live/ (-want +got):\n%s", diff)
	}
	if config.Own[noise.Options](&refined).Rules == config.Own[noise.Options](&plain).Rules {
		t.Error("the rules are compiled from the scrub list outside of the refinement")
	}
}

func TestHostFileExpires(t *testing.T) {
	t.Parallel()
	c := load(t, "[politeness]\nmin_delay = \"3s\"\n",
		"news.example.toml", "until = 2026-11-20\n[politeness]\nmin_delay = \"4s\"\n[[when]]\nuri = \"/\"\nscope = { max_hops = 9 }\n",
		"www.news.example.toml", "[fetch]\nmax_body = \"1MB\"\n[seeds]\nuris = [\"https://www.news.example/\"]\n")
	u := parse(t, "https://www.news.example/")
	before, after := c.For(config.About{
		URI: u, Now: at(t, "2026-11-20T23:59"),
	}), c.For(config.About{URI: u, Now: at(t, "2026-11-21T00:00")})
	if before.Politeness.MinDelay != 4*time.Second || before.Scope.MaxHops != 9 || before.Fetch.MaxBody != 1e6 {
		t.Errorf("before the end: %+v %+v", before.Politeness, before.Scope)
	}
	if after.Politeness.MinDelay != 3*time.Second || after.Scope.MaxHops != 20 || after.Fetch.MaxBody != 1e6 {
		t.Errorf("after the end: %+v %+v", after.Politeness, after.Scope)
	}
	if !c.SeedHost("www.news.example") {
		t.Error("its seeds ended too")
	}
}

func TestHostsDoNotInheritFromPublicSuffixes(t *testing.T) {
	t.Parallel()
	file := "[scope]\nmax_hops = 3\n"
	c := load(t, "", "co.uk.toml", file, "github.io.toml", file, "news.example.toml", file)
	for h, want := range map[uri.Host]int{
		"co.uk": 3, "news.co.uk": 20, "github.io": 3, "someone.github.io": 20, "example": 20, "news.example": 3, "a.b.news.example": 3,
		"a.news.example:8080": 3, "oldnews.example": 20, "10.0.0.1": 20, "[::1]:8080": 20,
	} {
		if got := c.ForHost(h, time.Time{}).Scope.MaxHops; got != want {
			t.Errorf("max_hops of %s is %d, want %d", h, got, want)
		}
	}
}

// TestPrecedence compares random configurations with a simple rule. A key has the value of the last refinement that
// applies and sets it, in the order main file, domain file, host file. Otherwise it has the value of the host file, of
// the domain file, of the main file, or its default.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	keys := []string{"max_hops", "max_embed_hops", "max_redirects", "max_links"}
	defaults := []int{20, 2, 5, 5000}
	read := func(s config.Settings) []int {
		return []int{s.Scope.MaxHops, s.Scope.MaxEmbedHops, s.Scope.MaxRedirects, s.Links.MaxLinks}
	}
	for range 60 {
		plain, refined := append([]int(nil), defaults...), map[int]int{}
		value := 6
		sets := func(record func(key, value int)) string {
			var b strings.Builder
			for i, k := range keys {
				if r.IntN(3) == 0 {
					value++ // each one is another
					fmt.Fprintf(&b, "%s = %d\n", k, value%50)
					record(i, value%50)
				}
			}
			return b.String()
		}
		var files [3]string
		for i := range files {
			files[i] = "[scope]\n" + sets(func(k, v int) { plain[k] = v })
			for range r.IntN(4) {
				holds := r.IntN(2) == 0
				pattern := map[bool]string{true: "/live/", false: "/sport/"}[holds]
				files[i] += "[[when]]\nuri = \"" + pattern + "\"\n[when.scope]\n" + sets(func(k, v int) {
					if holds {
						refined[k] = v
					}
				})
			}
		}
		for k, v := range refined {
			plain[k] = v
		}
		c := load(t, files[0], "news.example.toml", files[1], "www.news.example.toml", files[2])
		for range 2 { // the second time from what was kept
			got := c.For(config.About{URI: uri.FromCanonical("https://www.news.example/live/"), Now: at(t, "12:00")})
			if diff := cmp.Diff(plain, read(got)); diff != "" {
				t.Fatalf("seed %d (-rule +For):\n%s\n%s", seed, diff, strings.Join(files[:], "\n----\n"))
			}
		}
	}
}
