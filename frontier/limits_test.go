package frontier_test

import (
	"testing"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// small limits news.example to two URIs in a folder, and every host to five.
func small(o *frontier.Options) {
	o.MaxURIsPerHost = 5
	o.Limits = func(h uri.Host) frontier.Limits {
		if h == "news.example" {
			return frontier.Limits{PerDirectory: 2}
		}
		return frontier.Limits{URIs: 1}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, small)
	add := func(text string, want frontier.Added) {
		t.Helper()
		if got, err := w.Add(day, candidates(t, text)...); err != nil || got != want {
			t.Errorf("Add(%s) = %+v, %v; want %+v", text, got, err, want)
		}
	}
	isNew, known, refused := frontier.Added{New: 1}, frontier.Added{Known: 1}, frontier.Added{Refused: 1}
	add("http://news.example/a/1", isNew)
	add("https://news.example/a/2", isNew)
	add("http://news.example/a/3", refused)
	add("http://news.example/a/1", known)
	add("http://news.example/b/1", isNew)
	w.reopen(day)
	add("http://news.example/a/4?folders/are/of/the/path", refused)
	add("http://news.example/b/c/1", isNew)
	add("http://news.example/d", isNew)
	add("http://news.example/e", refused) // the host is full
	add("http://other.example/1", isNew)
	add("http://other.example/2", refused)

	got, err := w.Fill(parse(t, "https://news.example/a/3"))
	if want := (frontier.Fill{URIs: 5, InDirectory: 2, Limits: frontier.Limits{URIs: 5, PerDirectory: 2}}); err != nil || got != want {
		t.Errorf("Fill = %+v, %v; want %+v", got, err, want)
	}

	w.steerAt(day, named(t, "http://news.example/a/1"), frontier.Action{Verb: frontier.Forget})
	add("http://news.example/a/5", isNew)
	add("http://news.example/a/6", refused)
}
