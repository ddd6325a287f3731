package changes

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// edit holds what an editor, or a program, does to a page, and the kind of change by construction.
type edit struct {
	name string
	want []Kind // without Around, if there is another one
	also Kind   // may be there, too
	do   func(p *page)
}

var articleEdits = []edit{
	{"headline softened", []Kind{Headline}, "", func(p *page) { p.Title = softened(p.Title) }},
	{"sentence removed", []Kind{Text}, "", func(p *page) { p.Body[2] = firstHalf(p.Body[2]) }},
	{"paragraph added", []Kind{Text}, "", func(p *page) { p.Body = slices.Insert(p.Body, 3, other(p).Body[1]) }},
	{"paragraph removed", []Kind{Text}, "", func(p *page) { p.Body = slices.Delete(p.Body, 3, 4) }},
	{"word changed", []Kind{Text}, "", func(p *page) { p.Body[1] = softened(p.Body[1]) }},
	{"standfirst edited", []Kind{Text}, "", func(p *page) { p.Standfirst = softened(p.Standfirst) }},
	{"picture replaced", []Kind{Images}, "", func(p *page) {
		p.Picture.URL, p.Picture.Path = "https://img.example/photos/77/council.jpg", "/photos/77/council.jpg"
	}},
	{"related links turned", []Kind{Entries}, "", func(p *page) {
		p.Related = append([]link{{"/news/999/new.html", other(p).Title}}, p.Related[:2]...)
	}},
	{"comments came", []Kind{Around}, "", func(p *page) {
		p.Comments = append(p.Comments, comment{
			"harbourmaster",
			"The piles were checked by divers twice this year, and the report is public for all.",
		})
	}},
	{"clock and counter", []Kind{Around}, "", func(p *page) {
		p.Clock, p.Counter = "29 November 2026, 06:40", p.Counter+17
	}},
	{"session and token", []Kind{Nothing}, "", func(p *page) { p.CSRF, p.Session = "77c0de1182aa", "s0d9e8f7a6b5c4" }},
	{"names of classes", []Kind{Nothing}, "", func(p *page) { p.Hash, p.Build = "zz81m", "11aa22bb" }},
	{"white space", []Kind{Nothing}, "", func(p *page) { p.spaces = true }},
	{"entities", []Kind{Nothing}, "", func(p *page) { p.entities = true }},
	{"description for search engines", []Kind{Nothing}, "", func(p *page) {
		p.Meta = "All the news from the coast and the islands"
	}},
	{"advertisement", []Kind{Around}, "", func(p *page) { p.Ad, p.AdPicture = "Two nights by the sea", "hotel.gif" }},
	{"menu", []Kind{Entries}, "", func(p *page) { p.Nav = append(p.Nav, link{"/elections/", "Elections"}) }},
	{"headline and paragraph", []Kind{Headline, Text}, "", func(p *page) {
		p.Title, p.Body = other(p).Title+" again", slices.Insert(p.Body, 0, other(p).Body[0])
	}},
	{"correction below", []Kind{Text}, "", func(p *page) {
		p.Body = append(p.Body, "Correction: an earlier version named the wrong pier.")
	}},
	{"comma", []Kind{Text}, "", func(p *page) { p.Body[0] = strings.NewReplacer(".", "!", "。", "!").Replace(p.Body[0]) }},
	{"picture loaded later", []Kind{Nothing}, "", func(p *page) { p.lazy = true }},
	{"picture removed", []Kind{Images}, Text, func(p *page) { p.Picture = nil }},
	{"order of paragraphs", []Kind{Text}, "", func(p *page) { p.Body[1], p.Body[3] = p.Body[3], p.Body[1] }},
	{"noise of all kinds", []Kind{Around}, "", func(p *page) {
		p.CSRF, p.Session, p.Hash, p.Build, p.Ad, p.spaces = "1", "s1234567890ab", "q1", "b2", "Shoes", true
	}},
}

var liveEdits = []edit{
	{"liveblog grows", []Kind{Text}, "", func(p *page) {
		p.Live = append([]entry{{"7001", "20:41", "Vote is over", other(p).Body[0]}}, p.Live...)
	}},
	{"entry edited", []Kind{Text}, "", func(p *page) { p.Live[1].Text = softened(p.Live[1].Text) }},
	{"entry removed", []Kind{Text}, "", func(p *page) { p.Live = p.Live[:len(p.Live)-1] }},
	{"five entries", []Kind{Text}, "", func(p *page) {
		for i, text := range other(p).Body[:5] {
			p.Live = append([]entry{{fmt.Sprint(7010 + i), "21:00", "Short news", text}}, p.Live...)
		}
	}},
}

var frontEdits = []edit{
	{"teaser turned over", []Kind{Entries}, Images, func(p *page) {
		fresh := teaser{
			"/news/800/fresh.html", other(p).Title + " today", other(p).Standfirst,
			"https://img.example/teaser/800.jpg",
		}
		p.Teasers = append([]teaser{fresh}, p.Teasers[:8]...)
	}},
	{"teaser reworded", []Kind{Entries}, "", func(p *page) { p.Teasers[2].Title = softened(p.Teasers[2].Title) }},
	{"teasers in another order", []Kind{Entries}, "", func(p *page) {
		p.Teasers[0], p.Teasers[4] = p.Teasers[4], p.Teasers[0]
	}},
	{"summary reworded", []Kind{Entries}, "", func(p *page) { p.Teasers[1].Summary = softened(p.Teasers[1].Summary) }},
	{"teaser picture", []Kind{Images}, "", func(p *page) { p.Teasers[3].Picture = "https://img.example/teaser/new.jpg" }},
	{"teaser gone", []Kind{Entries}, Images, func(p *page) { p.Teasers = p.Teasers[:7] }},
	{"front page turned over", []Kind{Entries}, Images, func(p *page) {
		for i := range p.Teasers {
			t := &p.Teasers[i]
			t.URL, t.Title = fmt.Sprintf("/news/%d/n.html", 600+i), softened(t.Title)
			t.Picture = fmt.Sprintf("https://img.example/n/%d.jpg", i)
		}
	}},
}

// around are edits of what every page has.
func everywhere() (all []edit) {
	for _, e := range articleEdits {
		switch e.name {
		case "clock and counter", "session and token", "names of classes", "white space", "entities",
			"description for search engines", "advertisement", "menu", "noise of all kinds":
			all = append(all, e)
		}
	}
	return all
}

// other returns another story in the same language, or in English.
func other(p *page) story {
	for _, s := range stories {
		if s.Lang == p.Lang && s.Author != p.Author {
			return s
		}
	}
	return stories[2]
}

// softened returns a text with one word replaced, as an editor does who regrets it.
func softened(text string) string {
	fields := strings.Fields(text)
	if len(fields) < 3 {
		return strings.Replace(text, "港湾局", "市の担当者", 1) + "か"
	}
	fields[len(fields)/2] = "reportedly"
	return strings.Join(fields, " ")
}

// firstHalf returns a text without its last sentence.
func firstHalf(text string) string {
	all := sentencesOf(text)
	return strings.Join(all[:len(all)-1], " ")
}

// pair is two versions of a page, and what is true of them.
type pair struct {
	builder, edit string
	held          bool // neither the builder nor the edit was seen while the rules were made
	before, after []byte
	want          []Kind
	also          Kind
	uri           string
}

// pairs returns the labelled set. An edit that a builder does not show is left out.
func labelled(t testing.TB) (all []pair) {
	for i, b := range builders(t) {
		edits := slices.Concat(articleEdits)
		switch {
		case b.front():
			edits = slices.Concat(frontEdits, everywhere())
		case b.live():
			edits = slices.Concat(liveEdits, everywhere(), articleEdits[:1])
		}
		for k, e := range edits {
			p := pageOf(i + k)
			q := p.clone()
			e.do(&q)
			x := pair{b.name, e.name, i%2 == 1 || k%2 == 1, b.build(t, p), b.build(t, q), e.want, e.also, p.URL}
			if e.name == "noise of all kinds" && !bytes.Contains(x.before, []byte(p.Ad)) {
				x.want = []Kind{Nothing} // only the advertisement is seen
			}
			if !bytes.Equal(x.before, x.after) {
				all = append(all, x)
			}
		}
	}
	return all
}

var all = flag.Bool("all", false, "also show what is wrong in the half that is held out")

// TestKindsOfChangesAreRight demands that 95 % of the kinds are right, and that nothing that a reader sees is missed.
func TestKindsOfChangesAreRight(t *testing.T) {
	var right, count [2]int // seen, held out
	for _, p := range labelled(t) {
		c := Between(version(p.uri, p.before), version(p.uri, p.after), 1)
		half := 0
		if p.held {
			half = 1
		}
		count[half]++
		if fits(c.Kinds, p) {
			right[half]++
		} else if !p.held || *all {
			t.Logf("%s, %s: %v, want %v; %+v", p.builder, p.edit, c.Kinds, p.want, c)
		}
		if c.Is(Nothing) && !slices.Contains(p.want, Nothing) {
			t.Errorf("%s, %s: a reader sees %v, but it is called nothing", p.builder, p.edit, p.want)
		}
	}
	for half, name := range []string{"seen", "held out"} {
		t.Logf("%s: %d of %d right", name, right[half], count[half])
		if 100*right[half] < 95*count[half] {
			t.Errorf("%s: only %d of %d right", name, right[half], count[half])
		}
	}
	if count[0]+count[1] < 300 {
		t.Errorf("only %d pairs", count[0]+count[1])
	}
}

// version returns an ordinary version.
func version(uri string, content []byte) Version {
	header := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	return Version{URI: uri, Status: http.StatusOK, Header: header, Content: content}
}

// fits reports whether the kinds of a change are right.
func fits(got []Kind, p pair) bool {
	var left []Kind
	for _, k := range got {
		if k != p.also && (k != Around || slices.Contains(p.want, Around)) {
			left = append(left, k)
		}
	}
	return slices.Equal(left, p.want)
}
