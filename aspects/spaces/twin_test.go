package spaces_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/uri"
)

// twins is a newspaper of articles that link to themselves with a parameter. show returns what they show with it: text
// is the article, and around what is on the page next to it.
func twins(link string, show func(n int, text, around string) string) site {
	return asking(func(target string) (links []string, page string) {
		if target == "/" {
			return numbered("/article-%d", 1, 40), "<h1>News</h1>" + words("front", 50)
		}
		n := number(target, "/article-")
		text := fmt.Sprintf("<h1>Article %d</h1><p>%s</p>", n, words(fmt.Sprint("article", n), 400))
		around := "<nav>World City Sport Weather and the letters of our readers</nav>" + words(fmt.Sprint("related", n%7), 60)
		if !strings.Contains(target, "?") {
			return []string{"/", fmt.Sprintf("/article-%d?%s", n, strings.ReplaceAll(link, "N", fmt.Sprint(100+n)))}, around + text
		}
		return []string{fmt.Sprintf("/article-%d", n)}, show(n, text, around)
	})
}

// TestTwinsOfPagesAreFound crawls newspapers whose articles link to themselves with a parameter. It is a trap only if
// it shows nothing but the article again.
func TestTwinsOfPagesAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, link, pattern string
		show                func(n int, text, around string) string
	}{
		{"for print", "print=1", `^https?://news\.example/[^?]*\?(?:.*&)?print=1(?:&|$)`, func(_ int, text, _ string) string {
			return "<p>The Courier, for print" + text
		}},
		{"the same page with a form", "reply=N", `^https?://news\.example/[^?]*\?(?:.*&)?reply=[0-9]+(?:&|$)`, func(_ int, text, around string) string {
			return around + text + "<form>Your answer <textarea></textarea></form>"
		}},
		{"one in nine is another page", "print=1", `^https?://news\.example/[^?]*\?(?:.*&)?print=1(?:&|$)`, func(n int, text, _ string) string {
			if n == 3 {
				return words("not found", 300)
			}
			return text
		}},
		{"with the comments", "comments=all", "", func(n int, text, around string) string {
			return around + text + words(fmt.Sprint("comments", n), 200)
		}},
		{"the next page", "page=2", "", func(n int, _, around string) string {
			return around + words(fmt.Sprint("second", n), 400)
		}},
		{"in another language", "lang=fr", "", func(n int, _, around string) string {
			return around + words(fmt.Sprint("français", n), 400)
		}},
		{"an empty page", "print=1", "", func(int, string, string) string { return "<p>Please enable scripts" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			w := crawl(t, b, twins(c.link, c.show), 1000)
			var found []string
			for _, trap := range w.found {
				if trap.Kind == spaces.Twin {
					found = append(found, trap.Pattern)
				}
			}
			if strings.Join(found, " ") != c.pattern {
				t.Fatalf("found %q, want %q", found, c.pattern)
			}
			asked := len(w.visited) - 40
			if c.pattern == "" && asked != 39 || c.pattern != "" && asked > spaces.TwinProofs+1 {
				t.Errorf("%d pages with %s were visited", asked, c.link)
			}
			if c.pattern == "" {
				return
			}
			again := reopen(t, b)
			twin := strings.ReplaceAll(host+"/article-30?"+c.link, "N", "130")
			if !again.IsTrapped(parse(t, twin), parse(t, host+"/article-30"), "LL", day) ||
				again.IsTrapped(parse(t, host+"/article-30?more=1"), parse(t, host+"/article-30"), "LL", day) {
				t.Error("after a restart the twins are not kept out, or another page is")
			}
			refuted, err := again.AddListed("news.example", day, parse(t, twin))
			if err != nil || len(refuted) != 1 || !refuted[0].Released {
				t.Errorf("a sitemap that lists a twin refutes %+v, %v", refuted, err)
			}
			if again.IsTrapped(parse(t, twin), uri.URI{}, "LL", day) {
				t.Error("the twins are kept out although a sitemap lists one")
			}
		})
	}
}
