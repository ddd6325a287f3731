package changes

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// page holds what a builder writes.
type page struct {
	story
	Site, URL              string
	Nav, Related           []link
	Teasers                []teaser
	Comments               []comment
	Live                   []entry
	Picture                *picture
	Meta                   string // description that only search engines read
	Counter                int    // visitors, hits or claps
	Clock                  string
	Ad, AdPicture          string
	CSRF, Session          string
	Hash, Build            string // in names of classes and files
	published              time.Time
	entities, spaces, lazy bool // written in another way that looks the same
}

type story struct {
	Lang, Title, Standfirst, Author string
	Body                            []string
}

type (
	link    struct{ URL, Text string }
	comment struct{ By, Text string }
	entry   struct{ ID, Time, Title, Text string }
	teaser  struct{ URL, Title, Summary, Picture string }
	picture struct{ URL, Path, Alt, Caption string }
)

func (p page) ISO() string   { return p.published.Format(time.RFC3339) }
func (p page) Shown() string { return p.published.Format("2 January 2006, 15:04") }
func (p page) Unix() int64   { return p.published.Unix() }
func (p page) Slug() string  { return strings.ReplaceAll(strings.ToLower(p.Author), " ", "-") }

func (p page) Dir() string {
	if p.Lang == "ar" {
		return "rtl"
	}
	return "ltr"
}

// clone returns a copy that can be edited.
func (p page) clone() page {
	p.Body, p.Nav, p.Related = slices.Clone(p.Body), slices.Clone(p.Nav), slices.Clone(p.Related)
	p.Teasers, p.Comments, p.Live = slices.Clone(p.Teasers), slices.Clone(p.Comments), slices.Clone(p.Live)
	if p.Picture != nil {
		pic := *p.Picture
		p.Picture = &pic
	}
	return p
}

// builder writes pages as one program does.
type builder struct {
	name string
	all  *template.Template
}

func (b builder) front() bool { return strings.HasPrefix(b.name, "front-") }

func (b builder) live() bool { return strings.HasPrefix(b.name, "live") && b.name != "livingdocs" }

// build returns a page in HTML.
func (b builder) build(t testing.TB, p page) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := b.all.ExecuteTemplate(&out, b.name, p); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if p.entities {
		text = strings.NewReplacer("ä", "&auml;", "é", "&eacute;", "’", "&#8217;", "“", "&ldquo;", "ø", "&#xf8;",
			"the ", "t&#104;e ").Replace(text)
	}
	if p.spaces {
		text = strings.NewReplacer("><div", ">\n\n<div", "</p><p", "</p>\n  <p", "><li", ">\n<li", ". ", ".\n ").
			Replace(text)
	}
	if p.lazy && p.Picture != nil {
		src := ` src="` + p.Picture.URL
		text = strings.ReplaceAll(text, "<img"+src, `<img src="/img/placeholder.png" data-src="`+p.Picture.URL)
	}
	return []byte(text)
}

// builders returns all builders in the order of the file.
func builders(t testing.TB) (all []builder) {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/builders.txtar")
	if err != nil {
		t.Fatal(err)
	}
	set := template.New("")
	for _, f := range archive.Files {
		if _, err := set.New(f.Name).Parse(strings.TrimSpace(string(f.Data))); err != nil {
			t.Fatal(err)
		}
		if f.Name != "ad" {
			all = append(all, builder{f.Name, set})
		}
	}
	return all
}

// beginning returns the first four words of a text.
func beginning(text string) string {
	fields := strings.Fields(text)
	return strings.Join(fields[:min(4, len(fields))], " ")
}

// pageOf returns the n-th page, with a story that is published, and everything around it.
func pageOf(n int) page {
	s := stories[n%len(stories)]
	at := func(i int) story { return stories[(n+i)%len(stories)] }
	p := page{
		story: s, Site: []string{"The Courier", "Aftenposten Nord", "Stadtanzeiger", "The Weekly Ledger"}[n%4],
		URL: fmt.Sprintf("https://paper.example/news/%d/story.html", 100+n),
		Nav: []link{{"/world/", "World"}, {"/city/", "City"}, {"/sport/", "Sport"}, {"/culture/", "Culture"}},
		Comments: []comment{
			{"Reader One", "I remember when this was first promised, and nothing came of it."},
			{"quayside", "Has anybody asked the people who live there?"},
		},
		Picture: &picture{
			fmt.Sprintf("https://img.example/photos/%d/harbour.jpg", 100+n), fmt.Sprintf("/photos/%d/harbour.jpg", 100+n),
			"Boats in the harbour", "The harbour in the morning. Photo: Dorit Anselm",
		},
		Meta: "News from the coast", Counter: 1204 + n, Clock: "29 November 2026, 06:35", Ad: "Winter tyres from 49 crowns",
		AdPicture: "tyres.gif", CSRF: "a81fd93c02be", Session: "s7f3a9c1e0042", Hash: "k3x9q", Build: "9f81c2ab",
		published: time.Date(2026, time.November, 20+n%8, 6+n%12, 30, 0, 0, time.UTC),
	}
	for i := 1; i <= 3; i++ {
		p.Related = append(p.Related, link{fmt.Sprintf("/news/%d/older.html", 900+n+i), at(i).Title})
	}
	for i := range 9 {
		other := stories[(n+i)%len(stories)]
		p.Teasers = append(p.Teasers, teaser{
			fmt.Sprintf("/news/%d/%d.html", 300+n, i), fmt.Sprintf("%s (%d)", other.Title, i+1), other.Standfirst,
			fmt.Sprintf("https://img.example/teaser/%d-%d.jpg", n, i),
		})
	}
	for i, text := range s.Body {
		p.Live = append(p.Live, entry{
			fmt.Sprint(7000 - i), fmt.Sprintf("%02d:15", 20-i), beginning(text), text,
		})
	}
	return p
}
