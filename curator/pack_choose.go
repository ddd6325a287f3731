package curator

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/uri"
)

// The maximum number of embeds in a package that the choice itself does not have.
const (
	maxPeriodEmbeds  = 5000 // of a period
	maxVersionEmbeds = 500  // of one version
)

// noSeries stands for the captures that are in no series. No series can have this name.
const noSeries = "-"

// choice selects the captures of a package.
type choice struct {
	what, name string // for people; beginning of the file's name
	uri        uri.URI
	at         string
	only       config.Filter
	series     string    // see [PackOrder]
	from, to   time.Time // the captures of a period; to is not part of it
}

// choiceOf checks an order.
func choiceOf(o PackOrder) (c choice, err error) {
	if o.URI != "" {
		if c.uri, err = uri.Parse(o.URI); err != nil {
			return c, fmt.Errorf("uri %q: %w", o.URI, err)
		}
		c.at, c.what = o.At, "one version of "+c.uri.String()
		if o.At != "" {
			at, err := index.ParseStamp(o.At)
			if err != nil {
				return c, err
			}
			c.what = "version of " + at.Format(time.DateTime) + " of " + c.uri.String()
		}
		c.name = named(string(c.uri.Host()) + "-" + o.At)
		return c, nil
	}
	c.only, c.series = config.Filter{Label: o.Label, Collection: o.Collection, Owner: o.Owner}, o.Series
	if c.only.IsZero() {
		return c, errors.New("choose a collection, a label or an owner; the whole archive is packed with arcrawl wacz")
	}
	for _, day := range []struct {
		text string
		to   *time.Time
		add  int
	}{{o.Since, &c.from, 0}, {o.Until, &c.to, 1}} {
		if day.text == "" {
			continue
		}
		t, err := time.Parse(time.DateOnly, day.text)
		if err != nil {
			return c, fmt.Errorf("day %q: write it as 2026-11-01", day.text)
		}
		*day.to = t.AddDate(0, 0, day.add)
	}
	if !c.to.IsZero() && !c.from.Before(c.to) {
		return c, errors.New("the last day is before the first day")
	}
	c.what = c.only.String()
	if o.Series == noSeries {
		c.what += " of no series"
	} else if o.Series != "" {
		c.what += " of the series " + o.Series
	}
	if o.Since != "" {
		c.what += " since " + o.Since
	}
	if o.Until != "" {
		c.what += " until " + o.Until
	}
	c.name = named(strings.Join([]string{o.Label, o.Collection, o.Owner, o.Series, o.Since, o.Until}, "-"))
	return c, nil
}

// named returns a text as part of a file's name.
func named(text string) string {
	const maxName = 80
	text = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, strings.ToLower(text))
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '-' }), "-")
	return strings.TrimLeft(text[:min(len(text), maxName)], ".")
}

// command is the command that makes the package of a choice.
func (c choice) command() string {
	text := "arcrawl wacz -o " + c.name + ".wacz"
	for _, flag := range []struct{ name, value string }{
		{"label", c.only.Label}, {"collection", c.only.Collection}, {"owner", c.only.Owner}, {"series", c.series},
	} {
		if flag.value != "" {
			text += fmt.Sprintf(" --%s %q", flag.name, flag.value)
		}
	}
	if !c.from.IsZero() {
		text += " --since " + c.from.Format(time.DateOnly)
	}
	if !c.to.IsZero() {
		text += " --until " + c.to.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	return text + " --self-contained --max-size 4GB WARC-FOLDER"
}

// tooLarge says that a choice has too many captures or bytes.
type tooLarge struct{ c choice }

func (t tooLarge) Error() string {
	return fmt.Sprintf("The choice has more than %d captures or %d GB. Choose a shorter period, or run on the server: %s",
		maxPackCaptures, maxPackBytes>>30, t.c.command())
}

// gathering collects the captures of a choice.
type gathering struct {
	l      *captures.Library
	choice choice
	hosts  func(uri.Host) bool // whether the choice of a period has a host
	all    func() []uri.Host   // returns the hosts of the crawl; nil = the index has others too
	found  func(n int)

	entries []index.Entry
	series  string // of all entries
	others  int    // captures that are left out because they are of another series
	bytes   int64
	notes   []string
	read    map[string]bool // digests of payloads whose embeds are known
	looked  map[string]bool // URIs that are chosen or were looked up
}

// admits reports whether a capture belongs into the package by its series. A package has one series, so that nothing
// leaves with an embargo that nobody has named. Captures that are chosen decide which; an embed of another is left out.
func (g *gathering) admits(e index.Entry, isEmbed bool) (bool, error) {
	of := cmp.Or(captures.SeriesOf(e.Filename), noSeries)
	if g.series == "" {
		g.series = cmp.Or(g.choice.series, of)
	}
	switch {
	case of == g.series:
		return true, nil
	case !isEmbed && g.choice.series == "":
		return false, fmt.Errorf("the captures are of several series: %s and %s; choose one (%s = none)", g.series, of, noSeries)
	}
	g.others++
	return false, nil
}

// add adds a capture.
func (g *gathering) add(e index.Entry, isEmbed bool) error {
	if ok, err := g.admits(e, isEmbed); !ok {
		return err
	}
	g.entries, g.looked[e.URL] = append(g.entries, e), true
	if g.bytes += e.Length; g.bytes > maxPackBytes || len(g.entries) > maxPackCaptures {
		return tooLarge{g.choice}
	}
	if len(g.entries)%100 == 0 {
		g.found(len(g.entries))
	}
	return nil
}

// run collects the captures, and what they show.
func (g *gathering) run(ctx context.Context) error {
	g.read, g.looked = map[string]bool{}, map[string]bool{}
	limit := maxPeriodEmbeds
	if g.choice.only.IsZero() {
		limit = maxVersionEmbeds
		e, err := g.l.NearestTo(g.choice.uri.String(), g.choice.at)
		if err != nil {
			return err
		}
		if err := g.add(e, false); err != nil {
			return err
		}
	} else if err := g.period(ctx); err != nil {
		return err
	}
	if len(g.entries) == 0 && g.others > 0 {
		return fmt.Errorf("%w: no capture is of the series %s", warc.ErrNotFound, g.choice.series)
	}
	outside := 0
	for i := 0; i < len(g.entries); i++ { // the list grows by what is embedded
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, u := range g.embeds(ctx, g.entries[i]) {
			if g.looked[u.String()] {
				continue
			}
			g.looked[u.String()] = true
			if outside++; outside > limit {
				g.notes = append(g.notes, fmt.Sprintf("Only %d of the pictures, styles and scripts are in the package.", limit))
				g.found(len(g.entries))
				return nil
			}
			e, err := g.l.NearestTo(u.String(), g.entries[i].Timestamp)
			if errors.Is(err, warc.ErrNotFound) {
				continue
			}
			if err == nil {
				err = g.add(e, true)
			}
			if err != nil {
				return err
			}
		}
	}
	g.found(len(g.entries))
	return nil
}

// chosen returns which hosts the choice has, and the beginnings of their keys in the index: of all, if only the index
// knows the hosts.
func (g *gathering) chosen() (has func(uri.Host) bool, prefixes []string) {
	if g.all == nil {
		var asked uri.Host // the index is sorted by host
		is := false
		return func(h uri.Host) bool {
			if h != asked {
				asked, is = h, g.hosts(h)
			}
			return is
		}, []string{""}
	}
	known := map[uri.Host]bool{}
	for _, h := range g.all() {
		if g.hosts(h) {
			known[h] = true
			prefixes = append(prefixes, strings.TrimSuffix(uri.ReplayKey("http://"+string(h)+"/"), "/"))
		}
	}
	return func(h uri.Host) bool { return known[h] }, prefixes
}

// period adds the captures of the chosen hosts and days.
func (g *gathering) period(ctx context.Context) error {
	chosen, prefixes := g.chosen()
	slices.Sort(prefixes)
	return g.l.EachBelow(slices.Compact(prefixes), func(e index.Entry) error {
		if err := ctx.Err(); err != nil { // the hosts may have many captures of other days
			return err
		}
		u, err := uri.Parse(e.URL)
		if err != nil {
			return nil
		}
		date := e.Date()
		if !chosen(u.Host()) || date.Before(g.choice.from) || !g.choice.to.IsZero() && !date.Before(g.choice.to) {
			return nil
		}
		return g.add(e, false)
	})
}

// embeds returns what a capture shows: embeds of a page or a style sheet, and the target of a redirect. A capture that
// cannot be read has none.
func (g *gathering) embeds(ctx context.Context, e index.Entry) (found []uri.URI) {
	u, err := uri.Parse(e.URL)
	isPage := strings.HasPrefix(e.MIME, "text/") || strings.Contains(e.MIME, "xhtml") || e.MIME == index.RevisitMIME
	if err != nil || !isPage && !strings.HasPrefix(e.Status, "3") || g.read[e.URL+e.Digest] {
		return nil
	}
	g.read[e.URL+e.Digest] = true
	if strings.HasPrefix(e.Status, "3") && e.Status != "304" {
		if _, fields, err := g.l.At(e.URL, e.Filename, e.Offset); err == nil && fields.Get("Location") != "" {
			if to, err := u.Join(fields.Get("Location")); err == nil {
				return []uri.URI{to}
			}
		}
		return nil
	}
	if found, err = embedsOf(ctx, g.l, e, u); err != nil {
		return nil
	}
	return found
}

// embedsOf returns the URIs that the page of a capture embeds. One that cannot be read has none: its version shows why.
func embedsOf(ctx context.Context, l *captures.Library, e index.Entry, page uri.URI) (embeds []uri.URI, err error) {
	content, mime, err := captures.ReadContent(ctx, l, e)
	if err != nil {
		return nil, ctx.Err()
	}
	doc := discover.Document{URI: page, Status: http.StatusOK, Header: http.Header{"Content-Type": {mime}}}
	found, err := discover.Links(ctx, doc, bytes.NewReader(content), discover.Bounds{})
	for _, link := range found.Links {
		if link.Hop == uri.Embed {
			embeds = append(embeds, link.URI)
		}
	}
	return embeds, err
}
