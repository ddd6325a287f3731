package messages

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"net/url"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/human"
)

// The bounds of a mail with changes. What is left out is counted.
const (
	maxMailed      = 50
	maxMailedBytes = 256 << 10 // of the text and of the HTML
	maxCounted     = 100_000   // the rest comes with the next mail
)

// changesDigest collects the changes for a mail to a subscriber.
type changesDigest struct {
	subscription string
	since        time.Time

	list  []api.Capture // the first ones
	count int
	rest  map[string]int // those that are not in list, by their most important kind
}

// collect adds the changes that were noted after a time, and returns up to when.
func (d *changesDigest) collect(
	ctx context.Context, find findChanges, s config.Subscription, after time.Time,
) (upTo time.Time) {
	for {
		found, upTo := find(s, after, mostChanges)
		for _, c := range found {
			d.add(c)
		}
		if upTo.Equal(after) || after.IsZero() || d.count >= maxCounted || ctx.Err() != nil {
			return upTo
		}
		after = upTo
	}
}

// add adds a change.
func (d *changesDigest) add(c api.Capture) {
	d.count++
	if len(d.list) < maxMailed {
		d.list = append(d.list, c)
		return
	}
	d.leaveOut(c)
}

// leaveOut counts a change that the mail does not show.
func (d *changesDigest) leaveOut(c api.Capture) {
	if d.rest == nil {
		d.rest = map[string]int{}
	}
	d.rest[append(c.Change.Kinds, "other")[0]]++
}

// mail returns the mail without addresses and date.
func (d *changesDigest) mail(c *config.Config) mail {
	source := sourceName(c.Instance())
	what := human.Count(d.count, "change")
	if d.count == 1 {
		what = cmp.Or(plain(d.list[0].Title), human.Host(d.list[0].Host))
	}
	base := c.Admin.URL
	if base != "" {
		base = strings.TrimSuffix(base, "/") + "/"
	}
	var text, page strings.Builder
	head := fmt.Sprintf("%s since %s", human.Count(d.count, "change"), clock(d.since))
	fmt.Fprintf(&text, "%s\n\n", head)
	fmt.Fprintf(&page, "<!DOCTYPE html><html><head><meta charset=\"utf-8\"></head><body><p>%s</p>\n",
		html.EscapeString(head))
	for i, x := range d.list {
		asText, asPage := textOf(x, base), pageOf(x, base)
		if text.Len()+len(asText) > maxMailedBytes || page.Len()+len(asPage) > maxMailedBytes {
			for _, more := range d.list[i:] {
				d.leaveOut(more)
			}
			break
		}
		text.WriteString(asText)
		page.WriteString(asPage)
	}
	if more := d.more(); more != "" {
		fmt.Fprintf(&text, "%s\n\n", more)
		fmt.Fprintf(&page, "<p>%s</p>\n", html.EscapeString(more))
	}
	foot := origin(c.Instance(), c.Operator.Name, "[[subscription]] "+d.subscription)
	fmt.Fprintf(&text, "--\n%s\n", foot)
	fmt.Fprintf(&page, "<hr><p>%s</p></body></html>\n", html.EscapeString(foot))
	return mail{
		Subject: fmt.Sprintf("%s: %s: %s", source, d.subscription, what), Body: text.String(), HTML: page.String(),
	}
}

// more says how many changes the mail does not show: "and 30 more: 20 text, 10 links".
func (d *changesDigest) more() string {
	all, parts := 0, []string{}
	for _, kind := range append(config.ChangeKinds(), "other") {
		if n := d.rest[kind]; n > 0 {
			all += n
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("and %d more: %s", all, strings.Join(parts, ", "))
}

// linkOf returns the address of the page of a URI in the dashboard at base; "" if that is not known.
func linkOf(c api.Capture, base string) string {
	if base == "" {
		return ""
	}
	return base + "#/uri?u=" + url.QueryEscape(c.URI)
}

// textOf returns a change as text.
func textOf(c api.Capture, base string) string {
	lines := []string{cmp.Or(plain(c.Title), "(no title)"), "  " + clock(c.At) + "  " + plain(c.Change.InWords())}
	for _, line := range c.Change.Lines() {
		lines = append(lines, "  "+line)
	}
	lines = append(lines, "  "+plain(c.URI))
	if link := linkOf(c, base); link != "" {
		lines = append(lines, "  "+link)
	}
	return strings.Join(lines, "\n") + "\n\n"
}

// pageOf returns a change as a part of an HTML page. It links to nothing but the dashboard.
func pageOf(c api.Capture, base string) string {
	title := html.EscapeString(cmp.Or(plain(c.Title), "(no title)"))
	if link := linkOf(c, base); link != "" {
		title = fmt.Sprintf("<a href=\"%s\">%s</a>", html.EscapeString(link), title)
	}
	return fmt.Sprintf("<h3 dir=\"auto\">%s</h3>\n<p>%s<br>%s</p>\n%s\n",
		title, clock(c.At), html.EscapeString(plain(c.URI)), c.Change.HTML())
}
