package demosite

import (
	_ "embed"
	"encoding/xml"
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"
)

//go:embed style.css
var stylesheet []byte

// archiveSize is the minimum size of the archive page, in bytes of text. It is large enough that aborting the transfer
// saves something.
const archiveSize = 300_000

// clockForm is the layout of a clock. It includes the date, so that no two minutes look the same.
const clockForm = "2 January 2006, 15:04"

// sheet is a page in HTML.
type sheet struct{ strings.Builder }

// add writes HTML. It has %s in place of texts, which are escaped.
func (p *sheet) add(form string, texts ...string) {
	escaped := make([]any, len(texts))
	for i, text := range texts {
		escaped[i] = html.EscapeString(text)
	}
	fmt.Fprintf(p, form, escaped...)
}

const pageHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s – The Harrowmere Courier</title>
<link rel="stylesheet" href="/style.css">
<link rel="icon" type="image/png" href="/images/logo.png">
<link rel="alternate" type="application/rss+xml" title="The Harrowmere Courier" href="/feed.xml">
</head>
<body>
<div class="page">
<header>
<a href="/"><img src="/images/logo.png" width="48" height="48" alt=""></a>
<h1><a href="/">The Harrowmere Courier</a></h1>
<span class="clock">%s</span>
</header>
<nav>`

const pageFoot = `</main>
<footer><img src="/images/brand.png" width="24" height="24" alt=""> The Harrowmere Courier is invented, and so is everything
in it.</footer>
</div>
</body>
</html>
`

// inPaper returns a page of the paper with what a function writes between its head and its foot.
func inPaper(title, clock string, write func(p *sheet)) []byte {
	var p sheet
	p.add(pageHead, title, clock)
	for _, in := range append(sections[:len(sections):len(sections)],
		section{Path: "/live.html", Name: "Live"}, section{Path: "/weather.html", Name: "Weather"},
		section{Path: "/ticker.html", Name: "Ticker"}, section{Path: "/archive.html", Name: "Archive"},
		section{Path: "/about.html", Name: "About"}) {
		p.add(`<a href="%s">%s</a>`, in.Path, in.Name)
	}
	p.add("</nav>\n<main>\n")
	write(&p)
	p.add(pageFoot)
	return []byte(p.String())
}

// teasers writes a grid of articles.
func (p *sheet) teasers(stories []story) {
	p.add("<section class=\"grid\">\n")
	for _, st := range stories {
		p.add(`<article>
<a href="%s"><img class="picture" src="%s" width="320" height="180" alt=""></a>
<p class="kicker">%s</p>
<h3><a href="%[1]s">%[4]s</a></h3>
<p class="small">%s</p>
</article>
`, st.Path(), st.Picture(), st.Section().Name, st.Headline(), st.Summary())
	}
	p.add("</section>\n")
}

// table writes lines as rows of a table.
func (p *sheet) table(lines []string) {
	p.add("<table>\n")
	for _, line := range lines {
		p.add("<tr><td>%s</td></tr>\n", line)
	}
	p.add("</table>\n")
}

// clock returns the text of the clock of a page: the running time if the edition has one, otherwise when the site
// began.
func (s *Site) clock(e edition) string {
	if e.minute == 0 {
		return s.start.Format(clockForm)
	}
	return time.Unix(e.minute*60, 0).UTC().Format(clockForm)
}

// page returns a page on which nothing changes, except possibly the clock.
func page(title, text string) func(*Site, edition, string) []byte {
	return func(s *Site, e edition, _ string) []byte {
		return inPaper(title, s.clock(e), func(p *sheet) { p.add(text) })
	}
}

const aboutText = `<article class="text">
<h2>About this paper</h2>
<p>The Harrowmere Courier has come out several times a minute for as long as this program has been running. It is written
by a handful of tables and read, as far as we know, by one crawler.</p>
<p>This page never changes. The front page does so about every twenty seconds, the sections every three quarters of a
minute, and articles are corrected once or twice while they are young.</p>
</article>
`

const weatherText = `<article class="text">
<h2>Weather for Harrowmere</h2>
<p>Fresh wind from the west, showers towards evening, fog on the bar until noon. The forecast has been the same since the
station was founded; only the clock above runs.</p>
</article>
`

const privateText = `<h2>Newsroom</h2>
<p>Staff only. A crawler that reads robots.txt never sees this page.</p>
`

func frontBody(s *Site, e edition, _ string) []byte {
	stories := s.teasers(10, nil, e.last)
	return inPaper("News", s.clock(e), func(p *sheet) {
		lead := stories[0]
		p.add(`<section class="lead">
<div>
<p class="kicker">%s</p>
<h2><a href="%s">%s</a></h2>
<p>%s %s</p>
<p class="small">%s, %s</p>
</div>
`, lead.Section().Name, lead.Path(), lead.Headline(), lead.Summary(), lead.Paragraphs()[0], lead.Author(), lead.Published())
		p.add(`<a href="%s"><img class="picture" src="%s" srcset="%[2]s 1x, %s 2x" width="320" height="180" alt=""></a>
</section>
`, lead.Path(), lead.Picture(), lead.LargePicture())
		p.teasers(stories[1:])
		p.add(`<p class="small"><a href="/latest">Newest article</a> · <a href="/feed.xml">Feed</a> ·
<a href="/letters.html">Letters</a> · <a href="/private/newsroom.html">Newsroom (staff only)</a></p>
`)
	})
}

func sectionBody(i int) func(*Site, edition, string) []byte {
	return func(s *Site, e edition, _ string) []byte {
		in := sections[i]
		return inPaper(in.Name, s.clock(e), func(p *sheet) {
			p.add("<h2>%s</h2>\n<p class=\"small\">Edition %s. In brief:", in.Name, strconv.Itoa(e.number+1))
			for line := range 3 {
				salt := uint64(700 + 100*i + 10*line)
				p.add(" %s", fill(pick(briefs, salt, e.number), salt, e.number))
			}
			p.add("</p>\n")
			p.teasers(s.teasers(6, &in, e.last))
		})
	}
}

func articleBody(s *Site, e edition, _ string) []byte {
	st := s.story(e.number, e.corrections)
	return inPaper(st.Title(), st.Clock(), func(p *sheet) {
		p.add(`<article class="text">
<p class="kicker"><a href="%s">%s</a></p>
<h2>%s</h2>
<p class="small">%s, %s</p>
<figure style="margin:0"><img class="picture" src="%s" width="320" height="180" alt=""><figcaption>%s</figcaption></figure>
`, st.Section().Path, st.Section().Name, st.Title(), st.Author(), st.Published(), st.Picture(), st.Summary())
		for _, text := range st.Paragraphs() {
			p.add("<p>%s</p>\n", text)
		}
		for _, text := range st.Corrections() {
			p.add("<p class=\"correction\">%s</p>\n", text)
		}
		p.add("</article>\n")
	})
}

// liveBody returns the liveblog: its newest entry is on top, and all older ones stay.
func liveBody(s *Site, e edition, _ string) []byte {
	return inPaper(liveTitle, liveModified(s, e).Format(clockForm), func(p *sheet) {
		p.add("<article class=\"text\">\n<p class=\"kicker\">Live</p>\n<h2>%s</h2>\n", liveTitle)
		for n := e.number; n >= 0; n-- {
			p.add("<section>\n<h3><time>%s</time></h3>\n<p>%s</p>\n</section>\n",
				liveModified(s, edition{number: n}).Format("15:04:05"), fill(pick(happenings, 900, n), 900, n))
		}
		p.add("</article>\n")
	})
}

func archiveBody(s *Site, e edition, _ string) []byte {
	var lines []string
	day := time.Date(1911, time.January, 2, 0, 0, 0, 0, time.UTC)
	for i, size := 0, 0; size < archiveSize; i++ {
		salt := uint64(2000 + i%7)
		line := day.AddDate(0, 0, 5*i).Format("2 January 2006: ") + fill(pick(sections[i%3].headlines, salt, i), salt, i)
		lines, size = append(lines, line), size+len(line)
	}
	return inPaper("Archive", s.clock(e), func(p *sheet) {
		p.add("<h2>From our archive</h2>\n<p class=\"small\">Every headline of the old series. The server sends the whole " +
			"list each time, whatever it is asked.</p>\n")
		p.table(lines)
	})
}

func tickerBody(s *Site, e edition, _ string) []byte {
	lines := make([]string, len(things))
	for i, thing := range things {
		price := 100 + mix(uint64(3000+i), uint64(e.number))%900
		lines[i] = fmt.Sprintf("%s: %d.%02d crowns", thing, price/10, price%10*7)
	}
	return inPaper("Ticker", s.clock(e), func(p *sheet) {
		p.add("<h2>Harbour exchange, live</h2>\n<p class=\"small\">Second %s of trading.</p>\n", strconv.Itoa(e.number))
		p.table(lines)
	})
}

// rss and item are the parts of RSS 2.0 that the feed needs.
type rss struct {
	XMLName xml.Name `xml:"rss"`
	Version string   `xml:"version,attr"`
	Title   string   `xml:"channel>title"`
	Link    string   `xml:"channel>link"`
	About   string   `xml:"channel>description"`
	Built   string   `xml:"channel>lastBuildDate"`
	Items   []item   `xml:"channel>item"`
}

type item struct {
	Title     string `xml:"title"`
	Link      string `xml:"link"`
	GUID      string `xml:"guid"`
	Published string `xml:"pubDate"`
	Summary   string `xml:"description"`
}

// feedBody returns a feed of the ten newest articles. RSS needs absolute links, so it depends on the host in the
// request.
func feedBody(s *Site, e edition, host string) []byte {
	base := "http://" + host
	feed := rss{
		Version: "2.0", Title: "The Harrowmere Courier", Link: base + "/", About: "News that is invented as you watch",
		Built: s.story(e.last, 0).published.Format(time.RFC1123Z),
	}
	for _, st := range s.teasers(10, nil, e.last) {
		link := base + st.Path()
		feed.Items = append(feed.Items, item{
			Title: st.Headline(), Link: link, GUID: link,
			Published: st.published.Format(time.RFC1123Z), Summary: st.Summary(),
		})
	}
	b, err := xml.MarshalIndent(feed, "", " ")
	if err != nil {
		panic("arcrawl/demosite: write feed: " + err.Error())
	}
	return append([]byte(xml.Header), b...)
}
