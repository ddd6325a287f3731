package changes

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const article = `<!DOCTYPE html><title>Ferry runs aground – Courier</title>
<meta property="og:title" content="Ferry runs aground">
<header><a href="/">Courier</a></header><article><h1>%s</h1><p>%s</p><p>Nobody was hurt, said the harbour board, and the
passengers were brought ashore by the pilots before noon.</p></article><ul><li><a href="%s">Tram stops again</a></ul>`

func TestAChangeSaysWhatAReaderSees(t *testing.T) {
	const uri = "http://paper.example/ferry"
	page := func(headline, text, link string) Version {
		return version(uri, fmt.Appendf(nil, article, headline, text, link))
	}
	with := func(v Version, status int, wall, to string) Version {
		v.Status, v.Wall = status, wall
		v.Header = v.Header.Clone()
		if to != "" {
			v.Header.Set("Location", to)
		}
		return v
	}
	const text = "The ferry hit the bar at nine. It was foggy. The captain called the pilots at once."
	plain := page("Ferry runs aground", text, "/tram")
	for _, c := range []struct {
		name          string
		before, after Version
		want          string
	}{
		{"the same page", plain, plain, "nothing"},
		{
			"a softer headline", plain, page("Ferry touches bar", text, "/tram"),
			"headline (“Ferry runs aground” → “Ferry touches bar”)",
		},
		{
			"another word", plain, page("Ferry runs aground", strings.Replace(text, "nine", "ten", 1), "/tram"),
			"text (−1 +1 words)",
		},
		{
			"another link", plain, page("Ferry runs aground", text, "/tram-2"),
			"links (−1 +1)",
		},
		{"withdrawn", plain, with(plain, http.StatusGone, "", ""), "withdrawn (after 12 versions)"},
		{"withdrawn with status 200", plain, with(plain, 200, "notFound:title", ""), "withdrawn (after 12 versions)"},
		{"still gone", with(plain, 404, "", ""), with(plain, 404, "", ""), "nothing"},
		{"there again", with(plain, 404, "", ""), plain, "returned"},
		{"moved", plain, with(plain, 301, "", "/ferries/1"), "moved (to /ferries/1)"},
		{"behind a wall", plain, with(plain, 403, "challenge:cloudflare", ""), "wall (challenge:cloudflare)"},
		{
			"a failure", plain, with(plain, 503, "", ""),
			"One of the versions is a failure of the server, which says nothing about the page.",
		},
	} {
		if got := Between(c.before, c.after, 12).String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAClockNextToTheNameOfThePaperIsAroundTheArticle(t *testing.T) {
	page := func(clock string) *Page {
		head := `<header><h1><a href="/">The Harrowmere Courier</a></h1><span class="clock">` + clock + `</span></header>`
		teasers := ""
		for i, s := range stories {
			teasers += fmt.Sprintf(`<article><h3><a href="/%d">%s</a></h3><p>%s</p></article>`, i, s.Title, s.Standfirst)
		}
		content := head + "<main>" + teasers + "</main>"
		return Read([]byte(content), "text/html; charset=utf-8", "http://paper.example/world/")
	}
	if c := Compare(page("29 November, 08:20"), page("29 November, 08:21")); c.String() != "around" {
		t.Errorf("%s, want around", c)
	}
}

// A teaser often begins with a picture that leads to the article, like its title.
func TestALinkThatCameHasTheTitleOfItsTeaser(t *testing.T) {
	page := func(names ...string) *Page {
		teasers := ""
		for _, name := range names {
			teasers += fmt.Sprintf(`<article><a href="/%s.html"><img src="/%s.jpg"></a><h3><a href="/%s.html">About %s</a></h3></article>`,
				name, name, name, name)
		}
		return Read([]byte("<main>"+teasers+"</main>"), "text/html; charset=utf-8", "http://paper.example/")
	}
	c := Compare(page("trams", "ferries", "bridges"), page("schools", "trams", "ferries"))
	if len(c.Came) != 1 || c.Came[0].Text != "About schools" || len(c.Went) != 1 || c.Went[0].Text != "About bridges" {
		t.Errorf("came %+v, went %+v", c.Came, c.Went)
	}
}

// marked returns the words of a sentence with [- -] around removed and [+ +] around added ones.
func marked(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.Removed:
			b.WriteString("[-" + p.Text + "-]")
		case p.Added:
			b.WriteString("[+" + p.Text + "+]")
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestTheFirstChangedSentenceHasItsWordsMarked(t *testing.T) {
	page := func(text string) *Page {
		content := fmt.Appendf(nil, article, "Ferry runs aground", text, "/tram")
		return Read(content, "text/html; charset=utf-8", "http://paper.example/")
	}
	const text = "The ferry hit the bar at nine. It was foggy, and the radar was off. The captain called the pilots at once."
	before := page(text)
	for _, c := range []struct {
		after, want string
		sentences   Size
	}{
		{
			"The ferry hit the bar at nine. It was foggy, and the radar was new. The captain called the pilots at once.",
			"It was foggy, and the radar was [-off-][+new+].",
			Size{1, 1},
		},
		{
			"The ferry hit the bar at nine. The captain called the pilots at once.",
			"[-It was foggy, and the radar was off.-]",
			Size{1, 0},
		},
		{
			text + " An inquiry follows.",
			"[+An inquiry follows.+]",
			Size{0, 1},
		},
		{
			text + "</p><p>11:42:07, 29.11.2026</p><p>The pilots are on board now.",
			"[+The pilots are on board now.+]",
			Size{0, 2},
		},
	} {
		got := Compare(before, page(c.after))
		if s := marked(got.First); s != c.want || got.Sentences != c.sentences {
			t.Errorf("%q: %q, %v; want %q, %v", c.after, s, got.Sentences, c.want, c.sentences)
		}
	}
}
