package frontier_test

import (
	"fmt"
	"testing"

	"github.com/arcrawl/arcrawl/frontier"
)

// BenchmarkSurvey measures surveying a URI in a store of 100,000.
func BenchmarkSurvey(b *testing.B) {
	w := newWorld(b)
	var cs []frontier.Candidate
	for i := range 100_000 {
		cs = append(cs, frontier.Candidate{URI: parse(b, fmt.Sprintf("http://h%d.example/some/path/of/a/page-%d.html", i%100, i)), Seed: "http://h.example/"})
	}
	if _, err := w.Add(day, cs...); err != nil {
		b.Fatal(err)
	}
	seen := 0
	for from := frontier.Cursor(""); b.Loop(); {
		next, err := w.Survey("", from, func(frontier.SurveyedURI) { seen++ })
		if err != nil {
			b.Fatal(err)
		}
		from = next
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(seen), "ns/URI")
}
