package config_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

const benchHosts = 10_000

// manyHosts writes a configuration with as many host files as a large team of curators maintains.
func manyHosts(b *testing.B) string {
	b.Helper()
	files := map[string]string{"arcrawl.toml": operator}
	for i := range benchHosts {
		files[fmt.Sprintf("hosts.d/www.news-%d.example.toml", i)] = "[politeness]\nvalence = 2\n\n" +
			"[[wait]]\nmime = \"^text/html.*\"\nmin = \"2h\"\n\n[seeds]\n" + fmt.Sprintf("uris = [\"https://www.news-%d.example/\"]\n", i)
	}
	return folder(b, files)
}

// BenchmarkFor measures how long a visit waits for its settings, with ten thousand host files.
func BenchmarkFor(b *testing.B) {
	c, err := config.Load(manyHosts(b))
	if err != nil {
		b.Fatal(err)
	}
	hosts := make([]uri.Host, benchHosts)
	for i := range hosts {
		hosts[i] = uri.Host(fmt.Sprintf("www.news-%d.example", i))
	}
	b.ReportAllocs()
	i, now := 0, time.Now()
	for b.Loop() {
		if c.ForHost(hosts[i], now).Politeness.Valence != 2 {
			b.Fatal("the host file is not in force")
		}
		i = (i + 1) % benchHosts
	}
}

// BenchmarkLoad measures a reload with ten thousand host files.
func BenchmarkLoad(b *testing.B) {
	path := manyHosts(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := config.Load(path); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkForWithRefinements measures the same with refinements by URI, type, hop and time of day.
func BenchmarkForWithRefinements(b *testing.B) {
	text := operator
	for i := range 8 {
		text += fmt.Sprintf("[[when]]\nuri = '/section-%d/'\ntime = \"06:00-23:00\"\nzone = \"Europe/Copenhagen\"\nscope = { max_hops = %d }\n", i, i)
	}
	c, err := config.Load(folder(b, map[string]string{
		"arcrawl.toml": text, "hosts.d/news.example.toml": "[[when]]\nhop = [\"embed\"]\npoliteness = { min_delay = \"1s\" }\n",
	}))
	if err != nil {
		b.Fatal(err)
	}
	a := config.About{
		URI: uri.FromCanonical("https://www.news.example/section-5/article"), Hops: "LE", ContentType: "text/html", Now: time.Unix(1.8e9, 0),
	}
	b.ReportAllocs()
	for b.Loop() {
		if c.For(a).Scope.MaxHops != 5 {
			b.Fatal("the refinement is not in force")
		}
	}
}
