package discover

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/uri"
)

// TestTheShellOfAnApplicationIsRecognized reads pages that scripts make, and pages that only look so.
func TestTheShellOfAnApplicationIsRecognized(t *testing.T) {
	t.Parallel()
	const app = `<script src="/app.js"></script>`
	text := strings.Repeat("The council has met. ", 12)
	for _, c := range []struct {
		name, page string
		want       bool
	}{
		{"the shell of an application", `<title>News</title><body><div id=root></div>` + app, true},
		{"its long note for readers without scripts", `<noscript><p>` + text + `<a href=/1>1</a><iframe src=/f></iframe></noscript>` + app, true},
		{"a long script in the page", "<script>var news = '" + text + "'</script>", true},
		{"a comment, a style and a title are no text", "<title>" + text + "</title><style>" + text + "</style><!-- " + text + " -->" + app, true},
		{"a page with text", app + "<p>" + text, false},
		{"text in many parts", app + "<p>" + strings.ReplaceAll(text, " ", " <b>"), false},
		{"a list of links", app + `<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a>`, false},
		{"a short page without scripts", "<p>Moved.", false},
		{"a page of frames", app + `<frameset><frame src=/a><frame src=/b><frame src=/c></frameset>`, false},
	} {
		doc := Document{URI: uri.FromCanonical("https://news.example/"), Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}}
		got, err := Links(context.Background(), doc, strings.NewReader(c.page), Bounds{})
		if err != nil || got.Shell != c.want {
			t.Errorf("%s: a shell: %t, want %t; %v", c.name, got.Shell, c.want, err)
		}
		skimmed, tokenized := bothWays(t, c.page)
		if skimmed.shown != tokenized.shown {
			t.Errorf("%s: %+v by skimming, %+v by the tokenizer", c.name, skimmed.shown, tokenized.shown)
		}
	}
}
