package digest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/town"
)

func sightOf(t *testing.T, page string) digest.Sight {
	t.Helper()
	s, err := compile(t, digest.Spec{}).Seen(t.Context(), strings.NewReader(page), htmlType)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// same returns the strictest comparison by which two fetches are the same.
func same(a, b digest.Sight) func(digest.Sight) uint64 {
	switch {
	case a.Exact != 0 && a.Exact == b.Exact:
		return func(s digest.Sight) uint64 { return s.Exact }
	case a.Masked != 0 && a.Masked == b.Masked:
		return func(s digest.Sight) uint64 { return s.Masked }
	}
	return nil
}

// TestWhatAReaderSeesHidesNoEdit plants edits of several sizes in the main content of pages with noise. Two fetches
// that differ in noise must look the same, or the test would prove nothing.
func TestWhatAReaderSeesHidesNoEdit(t *testing.T) {
	t.Parallel()
	edits, hidden, fetches, noisy := 0, 0, 0, 0
	for _, j := range town.NewsPages {
		for seed := range uint64(8) {
			r := rand.New(rand.NewPCG(seed, 77))
			day := int(seed)
			at := town.NewsMorning.AddDate(0, 0, day)
			clean, content := j.Draw(day, rand.New(rand.NewPCG(seed, 5)), at)
			clean = strings.Replace(clean, "</body>", town.NewsProse, 1)
			inLinks := seed%2 == 1
			first := sightOf(t, town.WithUnseen(clean, r, inLinks))
			by := same(first, sightOf(t, town.WithUnseen(clean, r, inLinks)))
			if fetches++; by == nil {
				continue
			}
			noisy++
			for _, edited := range append(town.Planted(clean, content), town.Bigger(clean, content)...) {
				edits++
				if by(sightOf(t, town.WithUnseen(edited, r, inLinks))) == by(first) {
					if hidden++; hidden < 5 {
						t.Errorf("%s: what a reader sees hides an edit:\n%s", j.Name, edited)
					}
				}
			}
		}
	}
	t.Logf("%d planted edits, %d hidden; %d of %d pairs of fetches look the same", edits, hidden, noisy, fetches)
	if edits < 2000 || noisy < fetches*9/10 {
		t.Errorf("%d planted edits, %d of %d pairs of fetches look the same", edits, noisy, fetches)
	}
}

func TestWhatAReaderSees(t *testing.T) {
	t.Parallel()
	page := func(body string) string { return "<html><body>" + body + town.NewsProse + "</html>" }
	for _, c := range []struct {
		name          string
		before, after string
		exact, masked bool // the same
	}{
		{"a comment", "<!-- a -->", "<!-- b -->", true, true},
		{"a class", `<b class="x1">bold</b>`, `<b class="x2">bold</b>`, true, true},
		{"a hidden field", `<input type="hidden" value="1">`, `<input type=hidden value="2">`, true, true},
		{"a style sheet", `<link href="/a.css?1">`, `<link href="/a.css?2">`, true, true},
		{"white space", "one two", "one\n\n  two", true, true},
		{"a session in a link", `<a href="/a?sid=0123456789abcdef">a</a>`, `<a href="/a?sid=fedcba9876543210">a</a>`, false, true},
		{"an article in a link", `<a href="/a?id=a123456789">a</a>`, `<a href="/a?id=a123456780">a</a>`, false, false},
		{"a page in a session link", `<a href="/a?sid=0123456789abcdef">a</a>`, `<a href="/b?sid=0123456789abcdef">a</a>`, false, false},
		{"a picture", `<img src="/a.jpg">`, `<img src="/b.jpg">`, false, false},
		{"a picture in a style", `<b style="background:url(/a.jpg)">`, `<b style="background:url(/b.jpg)">`, false, false},
		{"a picture loaded later", `<img data-src="/a.jpg">`, `<img data-src="/b.jpg">`, false, false},
		{"a frame", `<iframe src="/a"></iframe>`, `<iframe src="/b"></iframe>`, false, false},
		{"the alternative text", `<img alt="Fire">`, `<img alt="Flood">`, false, false},
		{"a drawing", `<svg><path d="M0 0"/></svg>`, `<svg><path d="M1 1"/></svg>`, false, false},
		{"a text in a drawing", `<svg><text>1</text></svg>`, `<svg><text>2</text></svg>`, false, false},
		{"a field", `<input value="open">`, `<input value="closed">`, false, false},
	} {
		a, b := sightOf(t, page(c.before)), sightOf(t, page(c.after))
		if a.Exact == 0 || (a.Exact == b.Exact) != c.exact || (a.Masked == b.Masked) != c.masked {
			t.Errorf("%s: the same by whole addresses: %v; without sessions: %v", c.name, a.Exact == b.Exact, a.Masked == b.Masked)
		}
	}
}

func TestPagesWithoutTextHaveNothingThatAReaderSees(t *testing.T) {
	t.Parallel()
	news := `<script>self.state = {"news": ["Council rejects the new terminal", "Mayor opens the old pier again", "Police close the bridge"]}</script>`
	for name, page := range map[string]string{
		"short":              "<html><body><div id=app></div></body></html>",
		"written by scripts": "<html><body>" + news + town.NewsProse,
	} {
		if s := sightOf(t, page); s != (digest.Sight{}) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	s, err := compile(t, digest.Spec{}).Seen(t.Context(), strings.NewReader(`{"a": 1}`), "application/json")
	if err != nil || s != (digest.Sight{}) {
		t.Errorf("JSON: %+v, %v", s, err)
	}
}

// Accepted rules are applied before.
func TestWhatAReaderSeesIsWithoutWhatRulesMatch(t *testing.T) {
	t.Parallel()
	rules := compile(t, digest.Spec{Regexes: []string{`Made at [0-9:]+`}, Selectors: []string{"#ad"}})
	of := func(clock time.Duration, ad string) digest.Sight {
		page := fmt.Sprintf("<body><p>Made at %s</p><div id=ad>%s</div>%s", town.NewsMorning.Add(clock).Format("15:04:05"), ad, town.NewsProse)
		s, err := rules.Seen(t.Context(), strings.NewReader(page), htmlType)
		if err != nil || s.Exact == 0 {
			t.Fatal(s, err)
		}
		return s
	}
	if of(0, "Boats") != of(time.Minute, "Nets") {
		t.Error("a clock that a rule matches makes pages look different")
	}
}
