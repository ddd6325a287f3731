package infer_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestAClockToTheMinuteIsSilenced fetches a page twice, a minute apart. Where the fetches differ in the time alone,
// rules are found under which a reader sees the same, also hours later, but sees an edit.
func TestAClockToTheMinuteIsSilenced(t *testing.T) {
	t.Parallel()
	base := compile(t, digest.Spec{})
	for _, c := range clockPages() {
		version := func(after time.Duration) noise.Version {
			at := testcrawl.NewsMorning.Add(after)
			page := `<html><body>` + c.top(at) + `<div class="main"><h1>The council has decided</h1>` + testcrawl.NewsProse
			return noise.Version{Date: at, MIME: htmlType, Content: []byte(page)}
		}
		one, other := version(0), version(65*time.Second)
		differs := finder.DifferInTime(base, one, other)
		if differs != c.silent {
			t.Errorf("%s: the fetches differ in time alone: %t, want %t", c.name, differs, c.silent)
		}
		if shows := finder.ShowsTime(base, one); shows != c.shows {
			t.Errorf("%s: the page shows the time: %t, want %t", c.name, shows, c.shows)
		}
		if !c.silent {
			continue
		}
		rules, err := finder.Silence(t.Context().Err, base, []noise.Version{one, other})
		with, withErr := base.With(rules)
		if err := errors.Join(err, withErr); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if masked(t, with, one.Content) != masked(t, with, version(2*time.Hour+17*time.Minute).Content) {
			t.Errorf("%s: the rules %q do not silence the page hours later", c.name, rules)
		}
		edited := bytes.Replace(other.Content, []byte("has decided"), []byte("has not decided"), 1)
		if masked(t, with, edited) == masked(t, with, one.Content) {
			t.Errorf("%s: the rules %q hide an edit", c.name, rules)
		}
	}
}

// TestRulesForAClockHideNoEdit adds a clock to many kinds of pages, and plants edits of several sizes in the main
// content of that day and of later days. The rules that are found for the clock may hide none.
func TestRulesForAClockHideNoEdit(t *testing.T) {
	t.Parallel()
	base := compile(t, digest.Spec{})
	edits, silenced := 0, 0
	for _, j := range testcrawl.NewsPages {
		draw := func(day int, at time.Time) (page []byte, content []string) {
			text, content := j.Draw(day, rand.New(rand.NewPCG(1, 2)), testcrawl.NewsMorning.AddDate(0, 0, day))
			text = strings.Replace(text, "</body>", `<p class="now">It is `+at.Format("15:04")+`</p>`+testcrawl.NewsProse, 1)
			return []byte(text), content
		}
		var fetches []noise.Version
		for _, when := range []time.Time{testcrawl.NewsMorning, testcrawl.NewsMorning.Add(65 * time.Second)} {
			page, _ := draw(0, when)
			fetches = append(fetches, noise.Version{Date: when, MIME: htmlType, Content: page})
		}
		rules, err := finder.Silence(t.Context().Err, base, fetches)
		if !finder.DifferInTime(base, fetches[0], fetches[1]) || err == nil && rules.String() == "" {
			continue // it has other times, or sentences in scripts
		}
		with, withErr := base.With(rules)
		if err := errors.Join(err, withErr); err != nil {
			t.Fatal(err)
		}
		silenced++
		for day := range 5 {
			page, content := draw(day, testcrawl.NewsMorning.AddDate(0, 0, day))
			before := masked(t, with, page)
			small, big := testcrawl.Planted(string(page), content), testcrawl.Bigger(string(page), content)
			for _, edited := range append(small, big...) {
				if edits++; masked(t, with, []byte(edited)) == before {
					t.Errorf("%s: the rules %q hide an edit:\n%.600s", j.Name, rules, edited)
				}
			}
		}
	}
	if t.Logf("%d planted edits, %d pages", edits, silenced); edits < 2000 || silenced < 15 {
		t.Errorf("%d planted edits on %d pages: too few", edits, silenced)
	}
}

// masked returns the digest of what a reader sees of a page under rules.
func masked(t *testing.T, rules *digest.Rules, page []byte) uint64 {
	t.Helper()
	s, err := rules.Seen(t.Context(), bytes.NewReader(page), htmlType)
	if err != nil {
		t.Fatal(err)
	}
	return s.Masked
}

// clockPage is a page of a test that may differ a minute later.
type clockPage struct {
	name   string
	shows  bool // the time
	silent bool // nothing but the time differs a minute later
	top    func(at time.Time) string
}

func clockPages() []clockPage {
	return []clockPage{
		{"a clock", true, true, func(at time.Time) string { return `<i class="clock">` + at.Format("15:04") + `</i>` }},
		{"a date with the time", true, true, func(at time.Time) string {
			return `<p class="now">` + at.Format("Monday, 2 January 2006, 15:04") + `</p>`
		}},
		{"a clock of another zone", true, true, func(at time.Time) string {
			return `<b id="now">Kathmandu ` + at.Add(5*time.Hour+45*time.Minute).Format("3:04pm") + `</b>`
		}},
		{"an age", true, true, func(at time.Time) string {
			return fmt.Sprintf(`<time class="age">%d minutes ago</time>`, 3+at.Minute()%50)
		}},
		{"no time at all", false, false, func(time.Time) string { return `<p>nothing</p>` }},
		{"a clock with seconds", false, false, func(at time.Time) string { return `<i>` + at.Format("15:04:05") + `</i>` }},
		{"the time of an article", false, false, func(time.Time) string { return `<i>06:37</i>` }},
		{"a clock and a new title", true, false, func(at time.Time) string {
			return `<i class="clock">` + at.Format("15:04") + `</i><h2>News ` + strings.Repeat("x", at.Minute()) + `</h2>`
		}},
		{"a counter", false, false, func(at time.Time) string {
			return fmt.Sprintf(`<b class="views">%d views</b>`, 10+at.Minute())
		}},
		{"a score", false, false, func(at time.Time) string {
			return fmt.Sprintf(`<b class="score">1:%02d</b>`, 20+at.Minute()%40)
		}},
	}
}
