package captures

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/arcrawl/arcrawl/archive/changes"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
)

// What is compared to say what a reader sees that changed, see [Between].
type (
	// Page is a version of a URI, with its content.
	Page = changes.Version
	// Change says what a reader sees that changed.
	Change = changes.Change
	// Article is the main text of a version.
	Article = changes.Article
)

// ReadPage reads the version that an open message holds, at most 4 MB of its content, and closes the message.
func ReadPage(uri string, head warc.Head, message io.ReadCloser) (p Page, err error) {
	p = Page{URI: uri, Status: head.Status, Header: head.Header()}
	if digest.IsHTML(p.Header.Get("Content-Type")) {
		var body io.Reader
		if body, err = head.Decode(message); err == nil {
			p.Content, err = io.ReadAll(io.LimitReader(body, maxBytes))
		}
		if err != nil {
			err = fmt.Errorf("decode the payload of %s: %w", uri, err)
		}
	}
	return p, errors.Join(err, message.Close())
}

// PageOf reads the version of an entry, as [ReadPage] does, and whether it is what the visit took for a wall.
func (l *Library) PageOf(ctx context.Context, e Entry) (p Page, err error) {
	c, own, _, err := l.loadHead(e)
	if err != nil {
		return p, err
	}
	o, err := l.Original(ctx, c)
	if err != nil {
		return p, err
	}
	message, err := open(o, false)
	if err != nil {
		return p, err
	}
	p, err = ReadPage(e.URL, message.Head, message)
	p.Wall = c.metadata()["standsIn"]
	if status, errStatus := strconv.Atoi(e.Status); errStatus == nil {
		p.Status = status // the head of the original may be another one's
		if to := own.Header().Get("Location"); to != "" {
			p.Header.Set("Location", to)
		}
	}
	return p, err
}

// ArticleOf returns the main text of a version, and the title of its page. A page on which a parser panics is an error.
func ArticleOf(p Page) (a Article, title string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("no text can be made of the page: %v", p)
		}
	}()
	read := changes.Read(p.Content, p.Header.Get("Content-Type"), p.URI)
	return read.Article(), read.Title, nil
}

// Between says what a reader sees that changed from one version to the next. spec has the scrubbing rules of the host:
// what they leave out does not count. earlier is the number of versions before the second one. A page on which a parser
// panics is an error.
func Between(before, after Page, earlier int, spec digest.Spec) (c Change, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a version of %s cannot be compared: %v", after.URI, p)
		}
	}()
	spec.Text = false
	rules, err := digest.Compile(spec)
	if err != nil {
		return Change{}, err
	}
	if len(spec.Regexes)+len(spec.Selectors) > 0 {
		before, after = scrubbed(before, rules), scrubbed(after, rules)
	}
	return changes.Between(before, after, earlier), nil
}

// scrubbed returns a page without what rules leave out, in UTF-8. If they take too long, the page is whole.
func scrubbed(p Page, rules *digest.Rules) Page {
	const asUTF8 = "text/html; charset=utf-8"
	mime := p.Header.Get("Content-Type")
	if !digest.IsHTML(mime) {
		return p
	}
	p.Content = rules.Scrub(digest.Decode(p.Content, mime), asUTF8)
	p.Header = p.Header.Clone()
	p.Header.Set("Content-Type", asUTF8)
	return p
}
