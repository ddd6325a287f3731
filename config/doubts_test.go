package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

// Each of these slips was valid, and nothing said a word about it.
func TestSlipsAreWarnedOf(t *testing.T) {
	t.Parallel()
	const seeds = "[seeds]\nuris = [\"https://www.news.example/\"]\n"
	const file = "hosts.d/www.news.example.toml"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string // parts of the warnings; none = no warning
	}{
		{name: "nothing odd", files: map[string]string{"arcrawl.toml": seeds}},
		{
			name:  "no rest at all",
			files: map[string]string{"arcrawl.toml": "[politeness]\nmin_delay = \"0s\"\ndelay_factor = 0\n" + seeds},
			want:  []string{`arcrawl.toml:2:13: politeness.min_delay: "0s" lets hosts no rest`},
		},
		{
			name: "no rest on hosts of a private network only",
			files: map[string]string{"arcrawl.toml": "[politeness]\nmin_delay = \"0s\"\ndelay_factor = 0\n[fetch]\nallow_networks = [\"10.0.0.0/8\"]\n" +
				"[seeds]\nuris = [\"http://10.1.2.3/\"]\n"},
		},
		{
			name:  "many visits at once",
			files: map[string]string{"arcrawl.toml": seeds, file: "[politeness]\nvalence = 16\nmin_delay = \"10ms\"\n"},
			want:  []string{`politeness.min_delay: "10ms" allows about 27 requests a second`},
		},
		{
			name:  "many visits at once, by a refinement",
			files: map[string]string{"arcrawl.toml": seeds, file: "[[when]]\ntime = \"01:00-05:00\"\npoliteness = { min_delay = \"0s\", delay_factor = 0 }\n"},
			want:  []string{`www.news.example.toml:3:28: politeness.min_delay: "0s" lets hosts no rest`},
		},
		{
			name:  "a private address",
			files: map[string]string{"arcrawl.toml": "[seeds]\nuris = [\"http://192.168.1.5/\"]\n"},
			want:  []string{`arcrawl.toml:2:9: seeds.uris: "http://192.168.1.5/" is at a private address`},
		},
		{
			name:  "an empty host file",
			files: map[string]string{"arcrawl.toml": seeds, file: "# all gone\n"},
			want:  []string{file + ": is empty: it lists no seed and sets nothing"},
		},
		{
			name:  "a host file of a misspelled host",
			files: map[string]string{"arcrawl.toml": seeds, "hosts.d/www.nwes.example.toml": "[politeness]\nvalence = 2\n"},
			want:  []string{"hosts.d/www.nwes.example.toml: applies to nothing so far", "did you mean www.news.example.toml?"},
		},
		{
			name:  "a host file of a public suffix",
			files: map[string]string{"arcrawl.toml": seeds, "hosts.d/com.toml": "[politeness]\nvalence = 2\n"},
			want:  []string{"hosts.d/com.toml: applies to no host: anybody can register a name below com"},
		},
		{
			name:  "a host file of the domain of a seed",
			files: map[string]string{"arcrawl.toml": seeds, "hosts.d/news.example.toml": "[politeness]\nvalence = 2\n"},
		},
		{
			name:  "rules that can never match",
			files: map[string]string{"arcrawl.toml": "[scope]\nrules = [\n'reject ^/print/',\n'accept .*',\n'reject /archive/']\n" + seeds},
			want: []string{
				`arcrawl.toml:3:1: scope.rules: "reject ^/print/" can never match: a URI begins with http:// or https://`,
				`arcrawl.toml:5:1: scope.rules: "reject /archive/" never decides`,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.files["arcrawl.toml"] = "" + c.files["arcrawl.toml"] + operator
			loaded, err := config.Load(folder(t, c.files))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range loaded.Doubts(time.Now(), nil) {
				got = append(got, w.String())
			}
			all := strings.Join(got, "\n")
			for _, want := range c.want {
				if !strings.Contains(all, want) {
					t.Errorf("no warning %q in\n%s", want, all)
				}
			}
			if len(c.want) == 0 && len(got) > 0 {
				t.Errorf("warned of\n%s", all)
			}
		})
	}
}

// A file for a host that the crawl found by itself, such as a content delivery network, is not doubtful.
func TestFilesOfKnownHostsAreNotDoubtful(t *testing.T) {
	t.Parallel()
	path := folder(t, map[string]string{
		"arcrawl.toml":                    operator + "[seeds]\nuris = [\"https://www.news.example/\"]\n",
		"hosts.d/cdn.images.example.toml": "[politeness]\nvalence = 2\n",
	})
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Doubts(time.Now(), nil); len(got) != 1 {
		t.Errorf("unknown host: %v, want one warning", got)
	}
	known := func(pattern string) bool { return pattern == "*.cdn.images.example" }
	if got := c.Doubts(time.Now(), known); len(got) != 0 {
		t.Errorf("known host: %v, want no warning", got)
	}
}

func TestAddressesWithPasswordOrFinalDotAreRefused(t *testing.T) {
	t.Parallel()
	for seed, want := range map[string]string{
		"https://user:pass@www.news.example/": "user name or password",
		"https://user@www.news.example/":      "user name or password",
		"https://www.news.example./":          "remove the dot: https://www.news.example/",
		"https://www.news.example.:8443/a":    "remove the dot: https://www.news.example:8443/a",
	} {
		_, err := config.Load(folder(t, map[string]string{"arcrawl.toml": operator + "[seeds]\nuris = [\"" + seed + "\"]\n"}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", seed, err, want)
		}
	}
	_, err := config.Load(folder(t, map[string]string{"arcrawl.toml": operator + "[seeds]\nuris = [\"https://www.news.example/a@b\"]\n"}))
	if err != nil {
		t.Errorf("an @ in the path: %v", err)
	}
	_, err = config.Load(folder(t, map[string]string{"arcrawl.toml": operator, "hosts.d/www.news.example..toml": "[politeness]\nvalence = 2\n"}))
	if err == nil {
		t.Error("a host file with a final dot was accepted")
	}
}
