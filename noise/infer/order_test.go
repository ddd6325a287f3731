package infer_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// shuffledPage returns a page whose list comes in another order at each fetch.
func shuffledPage(r *rand.Rand, entries int, more string) string {
	var list strings.Builder
	for _, n := range r.Perm(entries) {
		fmt.Fprintf(&list, "<li><a href=/story-%d><img src=/%d.jpg> What happened in street %d</a>", n, n, n)
	}
	return "<html><body><h1>News of the town</h1>" + testcrawl.NewsProse + "<ul>" + list.String() + "</ul>" + more
}

// TestAListInAnotherOrderIsComparedAsASet finds that only the order of a list differs between fetches of one moment.
// From then on the page is the same in any order, and another one with each edit.
func TestAListInAnotherOrderIsComparedAsASet(t *testing.T) {
	t.Parallel()
	r, base := rand.New(rand.NewPCG(3, 7)), compile(t, digest.Spec{})
	fetches := func(next func() string) (all []noise.Version) {
		for i := range 3 {
			at := testcrawl.NewsMorning.Add(time.Duration(7*i) * time.Second)
			all = append(all, noise.Version{Date: at, MIME: htmlType, Content: []byte(next())})
		}
		return all
	}
	found, err := finder.Silence(t.Context().Err, base, fetches(func() string { return shuffledPage(r, 12, "") }))
	if err != nil || !found.Unordered || len(found.Regexes)+len(found.Selectors) > 0 ||
		digest.ParseSilencer(found.String()).String() != found.String() {
		t.Fatalf("found %+v, %v; want that the order does not matter", found, err)
	}
	with, err := base.With(found)
	if err != nil || with.Fingerprint() == base.Fingerprint() {
		t.Fatalf("the fingerprint is %x, %v", with.Fingerprint(), err)
	}
	see := func(page string) digest.Sight {
		s, err := with.Seen(t.Context(), strings.NewReader(page), htmlType)
		if err != nil || s.Exact == 0 {
			t.Fatal(s, err)
		}
		return s
	}
	before := see(shuffledPage(r, 12, ""))
	if after := see(shuffledPage(r, 12, "")); after != before {
		t.Error("the page differs in another order")
	}
	for name, edited := range map[string]string{
		"an entry more":           shuffledPage(r, 13, ""),
		"an entry less":           shuffledPage(r, 11, ""),
		"an entry twice":          shuffledPage(r, 12, "<li><a href=/story-3><img src=/3.jpg> What happened in street 3</a>"),
		"another title":           strings.Replace(shuffledPage(r, 12, ""), "street 4", "street 44", 1),
		"another address":         strings.Replace(shuffledPage(r, 12, ""), "/story-4", "/story-44", 1),
		"another picture":         strings.Replace(shuffledPage(r, 12, ""), "/4.jpg", "/44.jpg", 1),
		"a word in an article":    strings.Replace(shuffledPage(r, 12, ""), "News of the town", "News of our town", 1),
		"two titles change hands": strings.NewReplacer("street 4<", "street 5<", "street 5<", "street 4<").Replace(shuffledPage(r, 12, "")),
	} {
		if see(edited).Masked == before.Masked {
			t.Errorf("%s is hidden", name)
		}
	}
	draw := func() string { return shuffledPage(r, 5+r.IntN(9), "") }
	if found, err := finder.Silence(t.Context().Err, base, fetches(draw)); err != nil || found.Unordered {
		t.Errorf("a list of other entries at each fetch is silenced by %+v, %v", found, err)
	}
}

// TestAClockNextToEqualElementsIsSilenced has a clock in a paragraph next to others that are all the same, as empty
// ones and advertisements are. They have not moved.
func TestAClockNextToEqualElementsIsSilenced(t *testing.T) {
	t.Parallel()
	for _, equal := range []string{"<p>&nbsp;</p>", "<p>The office is open from eight to four on all days of the week.</p>", "<p></p>"} {
		var fetches []noise.Version
		for i := range 3 {
			at := testcrawl.NewsMorning.Add(time.Duration(7*i) * time.Second)
			page := "<html><body><h1>News of the town</h1>" + testcrawl.NewsProse +
				at.Format("<p>It is 15:04:05</p>") + strings.Repeat(equal, 5)
			fetches = append(fetches, noise.Version{Date: at, MIME: htmlType, Content: []byte(page)})
		}
		found, err := finder.Silence(t.Context().Err, compile(t, digest.Spec{}), fetches)
		if err != nil || len(found.Regexes) != 1 || !strings.Contains(found.Regexes[0], "It is ") {
			t.Errorf("next to %s the rules are %q, %v; want one for the clock", equal, found, err)
		}
	}
}
