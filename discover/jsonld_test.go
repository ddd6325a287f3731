package discover_test

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/discover"
)

func TestLinksOfJSONLD(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, json, want string }{
		{"an address", `{"@type":"NewsArticle","url":"https://news.example/b"}`, "L /b"},
		{"escaped slashes", `{"url":"https:\/\/news.example\/b\u002fc"}`, "L /b/c"},
		{"images", `{"image":["/1.jpg","/2.jpg"],"thumbnailUrl":"/3.jpg","logo":"/4.png","photo":"/5.jpg"}`, "E /1.jpg, E /2.jpg, E /3.jpg, E /4.png, E /5.jpg"},
		{"an image as an object", `{"publisher":{"url":"/p/","logo":{"@type":"ImageObject","url":"/l.png","width":60}}}`, "L /p/, E /l.png"},
		{"images as objects", `{"image":[{"url":"/1.jpg"},{"contentUrl":"/2.jpg"}],"url":"/b"}`, "E /1.jpg, E /2.jpg, L /b"},
		{"a film", `{"video":{"url":"/v/","contentUrl":"/v.mp4","embedUrl":"/player/v","thumbnailUrl":"/v.jpg"}}`, "L /v/, E /v.mp4, E /player/v, E /v.jpg"},
		{"the page of the article", `{"mainEntityOfPage":"/m1"} `, "L /m1"},
		{"the page of the article by @id", `{"mainEntityOfPage":{"@type":"WebPage","@id":"https://news.example/m2"}}`, "L /m2"},
		{"breadcrumbs", `{"itemListElement":[{"@type":"ListItem","item":"https://news.example/s/"},{"item":{"@id":"https://news.example/t/"}}]}`, "L /s/, L /t/"},
		{"an image by @id", `{"image":{"@id":"https://news.example/i.jpg"}}`, "E /i.jpg"},
		{"names that are not addresses", `{"@id":"https://news.example/x","image":{"@id":"https://news.example/y#image"},"mainEntityOfPage":{"@id":"/z"}}`, ""},
		{"a graph", `{"@context":"https://schema.org","@graph":[{"url":"/1"},{"isPartOf":{"url":"/2"}}]}`, "L /1, L /2"},
		{"the terms of a context", `{"@context":[{"image":{"@id":"https://news.example/no"},"url":"/no"}],"url":"/b"}`, "L /b"},
		{"full names of properties", `{"https://schema.org/url":"/b","schema:image":"/i.png"}`, "L /b, E /i.png"},
		{"a list of blocks", `[{"url":"/1"},{"url":"/2"}]`, "L /1, L /2"},
		{"values that are not references", `{"name":"/n","headline":"a/b.c","sameAs":"https://x.example/","image":"none","url":"two words.","logo":"{{ a.b }}","potentialAction":{"target":"/s?q={q}"}}`, ""},
		{"numbers, true and null", `{"url":1,"image":null,"logo":true,"mainEntityOfPage":"/m"}`, "L /m"},
		{"a trailing comma", `{"image":["/1.png",],"url":"/b",}`, "E /1.png, L /b"},
		{"a line end in a string", "{\"description\":\"one\ntwo\",\"url\":\"/b\"}", "L /b"},
		{"JSON that is cut", `{"url":"/b","image":"/1.p`, "L /b"},
		{"faulty JSON", `{"url":"/b", oops "image":"/1.png"}`, "L /b"},
		{"not JSON", `url = "/no"`, ""},
		{"in a comment", "\n<!-- \n{\"url\":\"/b\"} -->", "L /b"},
		{"in a CDATA section", `//<![CDATA[` + "\n" + `{"url":"/b"}` + "\n//]]>", "L /b"},
		{"allowed nesting", strings.Repeat(`{"a":`, 50) + `{"url":"/b"}`, "L /b"},
		{"too deep nesting", strings.Repeat(`{"a":`, 80) + `{"url":"/b"}`, ""},
		{"too deep nesting in a context", `{"@context":` + strings.Repeat("[", 80), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := `<script type="Application/LD+JSON; charset=utf-8">` + c.json + `</script><script>{"url":"/no"}</script>`
			if got := short(find(t, page(t), text, discover.Bounds{})); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.json, got, c.want)
			}
		})
	}
}
