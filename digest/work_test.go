package digest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/growth"
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
			growth.Linear(t, page, func(text string) {
				fetch := func(clock string, after time.Duration) digest.Version {
					return digest.Version{Date: morning.Add(after), Content: []byte(text + clock + text)}
				}
				fetches := []digest.Version{fetch("12:34:56", 0), fetch("12:35:06", 10*time.Second)}
				if _, err := digest.Suggest(t.Context().Err, fetches, htmlType); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
