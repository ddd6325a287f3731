package discover_test

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/discover"
)

func TestLinksOfScripts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, js, want string }{
		{"a path from the root", `load("/news/list"); x = '/b'; y = ` + "`/c`", "X /news/list, X /b, X /c"},
		{"full addresses", `a="https://news.example/d";b="//cdn.example/e.js"`, "X /d, X https://cdn.example/e.js"},
		{"relative files", `i="img/1.jpg"; j='../2.png?v=3'; k="./4.html#x"`, "X /a/img/1.jpg, X /2.png?v=3, X /a/4.html"},
		{"escapes", `{"u":"https:\/\/news.example\/e\u0026f","v":"\x2fg"}`, "X /e&f, X /g"},
		{"JSON in a string", `s = "{\"u\":\"\/h\"}"`, "X /h"},
		{"each guess once", `"/b","/b",'/b'`, "X /b"},
		{"unmatched quotes", `// it's a comment` + "\n" + `r = /["']/; a = "/b"`, "X /b"},
		{"a list", `["/1","/2",'/3']`, "X /1, X /2, X /3"},
		{"strings that are not addresses", `"text/html" "a/b" "1.2.3" "/" "//" "./" "../" "/>" "/ x" "a.b.c" "./locale/en" "use strict" "https://" "//comment" "/\\d+/" "${a}/b.js" "/a{b}"`, ""},
		{"an unclosed string", `"/b` + "\n" + `"/c"`, "X /c"},
		{"a string that is too long", `"/` + strings.Repeat("a", 5000) + `" "/c"`, "X /c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wanted := discover.Bounds{Speculative: true}
			script := response(t, 200, "Content-Type", "text/javascript; charset=utf-8")
			if got := short(find(t, script, c.js, wanted)); got != c.want {
				t.Errorf("script file %s\n got %s\nwant %s", c.js, got, c.want)
			}
			if got := short(find(t, page(t), "<script>"+c.js+"</script>", wanted)); got != c.want {
				t.Errorf("script element %s\n got %s\nwant %s", c.js, got, c.want)
			}
			if got := short(find(t, script, c.js, discover.Bounds{})); got != "" {
				t.Errorf("without Speculative: %s\n got %s, want nothing", c.js, got)
			}
		})
	}
}

func TestLinksOfScriptsInPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, html, want string }{
		{"an event handler", `<p onclick="go('/b')">`, "X /b"},
		{"a javascript: address", `<a href="JavaScript:go('/b')">`, "X /b"},
		{"JSON of the page", `<script type=application/json>{"u":"/b"}</script>`, "X /b"},
		{"JSON-LD is not a guess", `<script type=application/ld+json>{"url":"/b","other":"/c"}</script>`, "L /b"},
		{"a linked URI is not a guess", `<script>"/b";"/c"</script><a href=/b><img src=/d.png>`, "L /b, E /d.png, X /c"},
		{"a page inside a frame", `<iframe srcdoc="<script>'/b'</script>"></iframe>`, "X /b"},
		{"a giant script", `<script>var x = "` + strings.Repeat("QUJD", 1<<19) + `"; y = "/b"</script>`, "X /b"},
		{"text is not a script", `<p>"/b"</p>`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := short(find(t, page(t), c.html, discover.Bounds{Speculative: true})); got != c.want {
				t.Errorf("%.200s\n got %s\nwant %s", c.html, got, c.want)
			}
		})
	}
}

func TestLinksComeBeforeGuesses(t *testing.T) {
	t.Parallel()
	got := find(t, page(t), `<script>"/1","/2","/3"</script><a href=/b>`, discover.Bounds{MaxLinks: 2, Speculative: true})
	if short(got) != "L /b, X /1" || got.Dropped != 2 {
		t.Errorf("got %s, %d dropped", short(got), got.Dropped)
	}
}
