package infer_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// noisyFetches returns fetches of a page of one moment, with noise that readers see and noise that they do not see.
func noisyFetches(j testcrawl.NewsPage, day, fetches int, r *rand.Rand) (all []noise.Version) {
	for i := range fetches {
		at := testcrawl.NewsMorning.AddDate(0, 0, day).Add(time.Duration(7*i) * time.Second)
		page, _ := j.Draw(day, r, at)
		all = append(all, noise.Version{Date: at, MIME: htmlType, Content: []byte(testcrawl.WithUnseen(strings.Replace(page, "</body>", testcrawl.NewsProse, 1), r, false))})
	}
	return all
}

// TestASilencerHidesNoEdit finds the rules that silence pages which differ to a reader at three fetches of one moment.
// It plants edits of several sizes in the main content of that day and of later days. No rule may hide one. Many pages
// must be silenced, and stay so on later days, or the test would prove nothing.
func TestASilencerHidesNoEdit(t *testing.T) {
	t.Parallel()
	edits, hidden, pages, silenced, later, quiet := 0, 0, 0, 0, 0, 0
	base := compile(t, digest.Spec{})
	for _, j := range testcrawl.NewsPages {
		for seed := range uint64(2) {
			r := rand.New(rand.NewPCG(seed, 78))
			fetches := noisyFetches(j, int(seed), 3, r)
			if pages++; sightOf(t, string(fetches[0].Content)).Masked == sightOf(t, string(fetches[1].Content)).Masked {
				pages-- // no noise that a reader sees
				continue
			}
			rules, err := finder.Silence(t.Context().Err, base, fetches)
			if err == nil && rules.String() == "" {
				continue
			}
			with, withErr := base.With(rules)
			if err := errors.Join(err, withErr); err != nil {
				t.Fatal(err)
			}
			silenced++
			see := func(page string) uint64 {
				s, err := with.Seen(t.Context(), strings.NewReader(page), htmlType)
				if err != nil {
					t.Fatal(err)
				}
				return s.Masked
			}
			for day := int(seed); day < int(seed)+4; day++ {
				at := testcrawl.NewsMorning.AddDate(0, 0, day).Add(time.Duration(977*day) * time.Second)
				page, content := j.Draw(day, rand.New(rand.NewPCG(seed, 5)), at)
				page = strings.Replace(page, "</body>", testcrawl.NewsProse, 1)
				before := see(testcrawl.WithUnseen(page, r, false))
				for _, edited := range append(testcrawl.Planted(page, content), testcrawl.Bigger(page, content)...) {
					if edits++; see(testcrawl.WithUnseen(edited, r, false)) == before {
						if hidden++; hidden < 10 {
							t.Errorf("%s: the rules %q hide an edit:\n%.600s", j.Name, rules, edited)
						}
					}
				}
				again, _ := j.Draw(day, r, at.Add(time.Minute))
				if later++; see(testcrawl.WithUnseen(strings.Replace(again, "</body>", testcrawl.NewsProse, 1), r, false)) == before {
					quiet++
				}
			}
		}
	}
	t.Logf("%d planted edits, %d hidden; %d of %d pages silenced, %d of %d pairs of later fetches look the same",
		edits, hidden, silenced, pages, quiet, later)
	if edits < 2000 || 2*silenced < pages || quiet < later*8/10 {
		t.Errorf("%d planted edits, %d of %d pages silenced, %d of %d later pairs look the same", edits, silenced, pages, quiet, later)
	}
}

// TestTheRulesOfAnotherPageHideNoEdit tries the rules that were found for each page on all pages, also on pages of the
// same template with other content. Where two fetches prove that they silence the page, they hide no planted edit.
func TestTheRulesOfAnotherPageHideNoEdit(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	base := compile(t, digest.Spec{})
	found := map[string]digest.Silencer{}
	for _, j := range testcrawl.NewsPages {
		rules, err := finder.Silence(t.Context().Err, base, noisyFetches(j, 0, 3, rand.New(rand.NewPCG(0, 78))))
		if err == nil && rules.String() != "" {
			found[rules.String()] = rules
		}
	}
	pages, silenced, edits, hidden := 0, 0, 0, 0
	for n := range 3 * len(testcrawl.NewsPages) {
		j, r := testcrawl.NewsPages[n%len(testcrawl.NewsPages)], rand.New(rand.NewPCG(uint64(n), 79))
		fetches := noisyFetches(j, 5+n/len(testcrawl.NewsPages), 2, r)
		if sightOf(t, string(fetches[0].Content)).Masked == sightOf(t, string(fetches[1].Content)).Masked {
			continue // no noise that a reader sees
		}
		pages++
		fits := false
		for _, rules := range found {
			if !finder.Silences(base, rules, fetches) {
				continue
			}
			fits = true
			with, err := base.With(rules)
			if err != nil {
				t.Fatal(err)
			}
			see := func(page string) uint64 {
				s, err := with.Seen(t.Context(), strings.NewReader(page), htmlType)
				if err != nil {
					t.Fatal(err)
				}
				return s.Masked
			}
			page, content := j.Draw(9, rand.New(rand.NewPCG(uint64(n), 5)), testcrawl.NewsMorning.AddDate(0, 0, 9))
			page = strings.Replace(page, "</body>", testcrawl.NewsProse, 1)
			before := see(page)
			for _, edited := range append(testcrawl.Planted(page, content), testcrawl.Bigger(page, content)...) {
				if edits++; see(edited) == before {
					hidden++
					t.Errorf("%s: the rules %q of another page hide an edit:\n%.600s", j.Name, rules, edited)
				}
			}
		}
		if fits {
			silenced++
		}
	}
	t.Logf("%d sets of rules silence %d of %d pages; %d planted edits, %d hidden", len(found), silenced, pages, edits, hidden)
	if 2*silenced < pages || edits < 500 {
		t.Errorf("%d of %d pages are silenced, with %d edits: that proves nothing", silenced, pages, edits)
	}
}
