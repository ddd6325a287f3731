package discover

import (
	"slices"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/uri"
)

// bothWays reads a page with skimming, and with the tokenizer alone.
func bothWays(t *testing.T, text string) (skimmed, tokenized *page) {
	t.Helper()
	self, err := uri.Parse("http://www.example.org/a/b")
	if err != nil {
		t.Fatal(err)
	}
	skimmed, tokenized = newPage(self, 1000), newPage(self, 1000)
	tokenized.noSkim = true
	content := []byte(text)
	skimmed.html(content)
	if string(content) != text {
		t.Errorf("skimming changed the text %q", text)
	}
	tokenized.html([]byte(text))
	return skimmed, tokenized
}

// compareBothWays checks that skimming and the tokenizer find the same links.
func compareBothWays(t *testing.T, text string) {
	t.Helper()
	a, b := bothWays(t, text)
	if !slices.Equal(a.result.Links, b.result.Links) || a.result.Dropped != b.result.Dropped ||
		a.result.Refused != b.result.Refused || a.base != b.base {
		t.Errorf("%q: got %+v by skimming, %+v by the tokenizer", text, a.result, b.result)
	}
}

// oddMarkup is markup that a quick reader may read wrongly.
var oddMarkup = []string{
	"<a href=/1>", "<A HREF='/1'>", "<a href = \"/1\" href=/2>", "<a =href=/1>", "<a href/=/1>", "<a/href=/1>", "<a href=/1/>", "<a href=\"/1\"/>",
	"<a href=/1?a=b&amp;c><a href='/2?x&y'>", "<a title='>' href=/1>", "<a title=\">\" href=/1></a title='>' <a href=/2>'><a href=/3>",
	"<!--><a href=/1>-->", "<!---><a href=/1>-->", "<!-- <a href=/1> --!><a href=/2>", "<!-- a --!- <a href=/1> --><a href=/2>", "<!----><a href=/1>",
	"<!-- <a href=/1>", "<!doctype html><a href=/1>", "<!a><a href=/1>", "<!><a href=/1>", "<!-><a href=/1>", "<?php echo '>' ?><a href=/1>",
	"</><a href=/1>", "</ a><a href=/1>", "<3 <a href=/1>", "< a href=/1><a href=/2>", "<<a href=/1>", "<a <a href=/1>", "<a href=/1", "<a href='/1>",
	"<script>'<a href=/1>'</script><a href=/2>", "<script><!-- <script> </script> --></script><a href=/3>", "<style><a href=/1></style><a href=/2>",
	"<script type=application/ld+json>{\"url\":\"/1\"}</script><a href=/2>", "<object codebase=/c/ data=1></object><form action=/2>",
	"<title><a href=/1></title><a href=/2>", "<noscript><img src=/1></noscript>", "<textarea><a href=/1></textarea ><a href=/2>",
	"<plaintext><a href=/1>", "<svg><script href=/1/></script><a href=/2></svg>", "<svg/><style/><a href=/1>", "<svg a=/><style/><a href=/1>",
	"<svg a='/'><style/><a href=/1>", "<svg a/><style/><a href=/1>", "<SVG><style/></SvG foo><style/><a href=/1>", "<svg><style/></svgx><style/><a href=/1>",
	"<iframe srcdoc='<a href=/1>'></iframe><a href=/2>", "<base href=/x/><a href=1>", "<a href=\x001>", "<a hr\x00ef=/1>", "<a href=/1\r\n2>", "<a href='/1\r\n2'>",
	"<a style='background:url(/1)'>", "<img srcset='/1 1x, /2 2x' data-src=/3>", "<a href=\x80\xff>", "<p a=1 b=2 c=3 a=4><a href=/1>", "<a href>/1</a>", "<a href =\n/1>",
}

func TestSkimmingFindsWhatTheTokenizerFinds(t *testing.T) {
	t.Parallel()
	back := strings.Repeat("<p>", minTokenized/3) // after this, skimming continues
	for _, name := range oddMarkup {
		compareBothWays(t, name)
		compareBothWays(t, "<p>before</p>"+name+"<a href=/last>")
		for _, two := range oddMarkup {
			compareBothWays(t, name+two)
			compareBothWays(t, name+back+two)
		}
	}
}

func FuzzSkimming(f *testing.F) {
	for _, text := range oddMarkup {
		f.Add(text)
	}
	f.Fuzz(compareBothWays)
}
