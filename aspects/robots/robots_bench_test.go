package robots_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jimsmart/grobotstxt"

	"github.com/arcrawl/arcrawl/aspects/robots"
)

// large returns a file with 200 rules in the group for all crawlers. Large shops and news sites have such files.
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

// BenchmarkAllowed200Rules measures the decision about one URI with 200 rules. Each claim makes one such
// decision.
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

// BenchmarkAllowed200RulesParsingEachTime measures the same decision with the file read again each time, as the
// parser's own matcher does.
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

// BenchmarkParse200Rules measures the reading of a file with 200 rules. It happens when a host's rules are read from
// the store.
func BenchmarkParse200Rules(b *testing.B) {
	file := []byte(large())
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		_ = robots.Parse(file)
	}
}
