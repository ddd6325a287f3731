package demosite

import (
	"bytes"
	"embed"
	"encoding/xml"
	"fmt"
	"html/template"
	"time"
)

//go:embed pages
var files embed.FS

var templates = template.Must(template.ParseFS(files, "pages/*.html"))

// archiveSize is the minimum size of the archive page, in bytes of text. It is large enough that aborting the transfer
// saves something.
const archiveSize = 300_000

// clockForm is the layout of a clock. It includes the date, so that no two minutes look the same.
const clockForm = "2 January 2006, 15:04"

// view is the data of a page template.
type view struct {
	Title    string
	Clock    string // in the form of clockForm
	Sections []section
	Lead     *story
	Stories  []story
	Number   int
	Lines    []string
}

// render fills a page template. It panics if the template fails, which is a mistake in this package.
func render(name string, v view) []byte {
	v.Sections = sections
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, v); err != nil {
		panic("arcrawl/demosite: render page " + name + ": " + err.Error())
	}
	return b.Bytes()
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
func page(name, title string) func(*Site, edition, string) []byte {
	return func(s *Site, e edition, _ string) []byte { return render(name, view{Title: title, Clock: s.clock(e)}) }
}

func frontBody(s *Site, e edition, _ string) []byte {
	stories := s.teasers(10, nil, e.last)
	return render("front", view{Title: "News", Clock: s.clock(e), Lead: &stories[0], Stories: stories[1:]})
}

func sectionBody(i int) func(*Site, edition, string) []byte {
	return func(s *Site, e edition, _ string) []byte {
		in := sections[i]
		v := view{Title: in.Name, Clock: s.clock(e), Number: e.number + 1, Stories: s.teasers(6, &in, e.last)}
		for line := range 3 {
			salt := uint64(700 + 100*i + 10*line)
			v.Lines = append(v.Lines, fill(pick(briefs, salt, e.number), salt, e.number))
		}
		return render("section", v)
	}
}

func articleBody(s *Site, e edition, _ string) []byte {
	st := s.story(e.number, e.corrections)
	return render("article", view{Title: st.Headline(), Clock: st.Clock(), Lead: &st})
}

func archiveBody(s *Site, e edition, _ string) []byte {
	v := view{Title: "Archive", Clock: s.clock(e)}
	day := time.Date(1911, time.January, 2, 0, 0, 0, 0, time.UTC)
	for i, size := 0, 0; size < archiveSize; i++ {
		salt := uint64(2000 + i%7)
		line := day.AddDate(0, 0, 5*i).Format("2 January 2006: ") + fill(pick(sections[i%3].headlines, salt, i), salt, i)
		v.Lines, size = append(v.Lines, line), size+len(line)
	}
	return render("archive", v)
}

func tickerBody(s *Site, e edition, _ string) []byte {
	v := view{Title: "Ticker", Clock: s.clock(e), Number: e.number}
	for i, thing := range things {
		price := 100 + mix(uint64(3000+i), uint64(e.number))%900
		v.Lines = append(v.Lines, fmt.Sprintf("%s: %d.%02d crowns", thing, price/10, price%10*7))
	}
	return render("ticker", v)
}

// stylesheet returns the style sheet of the site.
func stylesheet() []byte {
	b, err := files.ReadFile("pages/style.css")
	if err != nil {
		panic("arcrawl/demosite: read embedded style sheet: " + err.Error())
	}
	return b
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
