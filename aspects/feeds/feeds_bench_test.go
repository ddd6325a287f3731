package feeds

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkRead measures the reading of a news feed of 40 items with a summary each, and of the largest sitemap.
func BenchmarkRead(b *testing.B) {
	summary := strings.Repeat("Nobody expected the council to vote before noon. ", 10)
	feed := "<rss version='2.0'><channel>"
	for i := range 40 {
		feed += fmt.Sprintf("<item><guid>%d</guid><title>Title %d</title><link>/article/%d</link>", i, i, i) +
			fmt.Sprintf("<pubDate>Sat, 21 Nov 2026 10:%02d:00 GMT</pubDate><description>%s</description></item>", i, summary)
	}
	feed += "</channel></rss>"
	var sitemap strings.Builder
	sitemap.WriteString("<urlset>")
	for i := range 50_000 {
		fmt.Fprintf(&sitemap, "<url><loc>http://news.example/article/%d</loc><lastmod>2026-11-21T10:00:00Z</lastmod></url>", i)
	}
	sitemap.WriteString("</urlset>")
	self := mustURI(b, "http://news.example/s.xml")
	for name, body := range map[string]string{"feed of 40": feed, "sitemap of 50000": sitemap.String()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				doc, err := Read(self, "", false, strings.NewReader(body), Bounds{})
				if err != nil || doc.Fault != nil {
					b.Fatal(err, doc.Fault)
				}
			}
		})
	}
}

// BenchmarkSeen measures the cost of remembering the items of the largest sitemap at each reading: opening, comparing
// and writing the stored list.
func BenchmarkSeen(b *testing.B) {
	var all []Item
	self := mustURI(b, "http://news.example/s.xml")
	for i := range maxSeen {
		u, err := self.Join(fmt.Sprintf("/article/%d", i))
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, Item{ID: u.String(), URI: u, Updated: start})
	}
	d := Document{Kind: Sitemap, Items: all}
	s, _ := Seen{}.Read(start, d)
	bytes := s.Bytes()
	for b.Loop() {
		opened, err := OpenSeen(bytes)
		if err != nil {
			b.Fatal(err)
		}
		after, round := opened.Read(start.Add(time.Hour), d)
		if round.Any() {
			b.Fatal("unchanged items were reported as new")
		}
		bytes = after.Bytes()
	}
}
