package infer_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/noise/infer"
)

// fetchesOf returns the versions of a page that were fetched on some days, once or twice a day.
func fetchesOf(j testcrawl.NewsPage, days, perDay int, seed uint64) []noise.Version {
	var all []noise.Version
	for day := range days {
		for i := range perDay {
			at := testcrawl.NewsMorning.AddDate(0, 0, day).Add(time.Duration(day*day*37+1+3*i) * time.Second)
			page, _ := j.Draw(day, rand.New(rand.NewPCG(seed, uint64(10*day+i))), at)
			all = append(all, noise.Version{Date: at, MIME: htmlType, Content: []byte(page)})
		}
	}
	return all
}

// TestNoSuggestedRuleHidesNews asks for rules with little and with much evidence, and plants edits in each word of the
// main content. A rule must hide none of them. Noise must still be found, or the test would prove nothing.
func TestNoSuggestedRuleHidesNews(t *testing.T) {
	t.Parallel()
	evidence := []struct {
		name         string
		days, perDay int
		wantQuiet    int // percent of noise that the rules must remove at least
	}{
		{"two days", 2, 1, 0},
		{"three days", 3, 1, 0},
		{"four days", 4, 1, 30},
		{"ten days", 10, 1, 30},
		{"twenty days", 20, 1, 30},
		{"two fetches within seconds", 1, 2, 40},
		{"six days with two fetches each", 6, 2, 40},
	}
	for _, e := range evidence {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			edits, hidden, pairs, quiet := 0, 0, 0, 0
			for _, j := range testcrawl.NewsPages {
				for seed := range uint64(3) {
					p, err := infer.Suggest(t.Context().Err, fetchesOf(j, e.days, e.perDay, seed))
					if err != nil && !errors.Is(err, infer.ErrTooFew) && !errors.Is(err, infer.ErrApart) {
						t.Fatal(err)
					}
					rules := compile(t, digest.Spec{Regexes: p.Regexes, Selectors: p.Selectors})
					for day := e.days - 1; day < e.days+3; day++ {
						at := testcrawl.NewsMorning.AddDate(0, 0, day).Add(time.Duration(day*977) * time.Second)
						r := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1000+n)) }
						page, content := j.Draw(day, r(1), at)
						before := string(rules.Scrub([]byte(page), htmlType))
						for _, edited := range testcrawl.Planted(page, content) {
							edits++
							if string(rules.Scrub([]byte(edited), htmlType)) == before {
								if hidden++; hidden < 10 {
									t.Errorf("%s: the rules %q and %q hide an edit:\n%s", j.Name, p.Regexes, p.Selectors, edited)
								}
							}
						}
						again, _ := j.Draw(day, r(2), at.Add(time.Hour))
						if again != page {
							pairs++
							if string(rules.Scrub([]byte(again), htmlType)) == before {
								quiet++
							}
						}
					}
				}
			}
			t.Logf("%d planted edits, %d hidden; %d pairs that differ in noise, %d of them equal under the rules", edits, hidden, pairs, quiet)
			if edits < 1000 || 100*quiet < e.wantQuiet*pairs {
				t.Errorf("%d edits; %d of %d pairs that differ in noise are equal under the rules, want %d %%", edits, quiet, pairs, e.wantQuiet)
			}
		})
	}
}
