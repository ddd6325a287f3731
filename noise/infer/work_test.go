package infer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/noise/infer"
)

// TestWorkOfSuggestGrowsWithThePage looks for rules in two fetches of a page that is long in one way.
func TestWorkOfSuggestGrowsWithThePage(t *testing.T) {
	for _, c := range []struct{ name, beginning, piece string }{
		{"brackets", "", "]"},
		{"words", "", "word "},
		{"items", "", "<li>1</li>"},
		{"signs", "", "&amp;"},
		{"names", "<p id='", "a"},
		{"scripts", "<script>", "a=1;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := func(n int) string { return c.beginning + strings.Repeat(c.piece, n/len(c.piece)) }
			slow.Linear(t, page, func(text string) {
				fetch := func(clock string, after time.Duration) noise.Version {
					return noise.Version{Date: testcrawl.NewsMorning.Add(after), MIME: htmlType, Content: []byte(text + clock + text)}
				}
				fetches := []noise.Version{fetch("12:34:56", 0), fetch("12:35:06", 10*time.Second)}
				if _, err := infer.Suggest(t.Context().Err, fetches); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
