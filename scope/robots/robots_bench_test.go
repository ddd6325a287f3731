package robots_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jimsmart/grobotstxt"

	"github.com/arcrawl/arcrawl/scope/robots"
)

// large is a file with 200 rules in the group for everyone, as big shops and news sites have it.
func large() string {
	var b strings.Builder
	b.WriteString("User-agent: other\nDisallow: /\n\nUser-agent: *\n")
	for i := range 200 {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "Disallow: /*/print%d/*.html$\n", i)
		case 1:
			fmt.Fprintf(&b, "Allow: /archive/%d/\n", i)
		default:
			fmt.Fprintf(&b, "Disallow: /section-%d/private\n", i)
		}
	}
	return b.String()
}

// How long does a decision take for one URI, against 200 rules? It is asked once for every claim.
func BenchmarkAllowed200Rules(b *testing.B) {
	rules := robots.Parse([]byte(large()))
	u := news(b, "/section-77/2026/11/20/a-headline-of-ordinary-length.html?page=2")
	b.ReportAllocs()
	for b.Loop() {
		if !rules.Allowed("arcrawl", u) {
			b.Fatal("forbidden")
		}
	}
}

// What would the same decision cost if the file were read anew for each URI, as the parser's own matcher does?
func BenchmarkAllowed200RulesParsingEachTime(b *testing.B) {
	file := large()
	u := news(b, "/section-77/2026/11/20/a-headline-of-ordinary-length.html?page=2").String()
	b.ReportAllocs()
	for b.Loop() {
		if !grobotstxt.AgentAllowed(file, "arcrawl", u) {
			b.Fatal("forbidden")
		}
	}
}

// How long does reading a file with 200 rules take? It happens when a host's rules are read back from the store.
func BenchmarkParse200Rules(b *testing.B) {
	file := []byte(large())
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		_ = robots.Parse(file)
	}
}
