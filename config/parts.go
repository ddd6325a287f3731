// This file holds the key warc.about: what people should know of the collection and of its series.

package config

import (
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// Part says what people should know of the WARC files of a series, or of all others. It is written into each file.
type Part struct {
	Series  string // "" = the files of no series
	Title   string
	Rights  string // who may do what with the content, as a text or URI
	Access  string // the access class, as the institution calls it
	Embargo string // the day from which on the files may be shown, as 2031-01-01

	at schema.Field
}

var partColumns = []schema.Column{
	{Name: "series", Type: schema.Type{Kind: schema.Text, Optional: true}, Optional: true},
	{Name: "title", Type: schema.Type{Kind: schema.Text, Optional: true}, Optional: true},
	{Name: "rights", Type: schema.Type{Kind: schema.Text, Optional: true}, Optional: true},
	{Name: "access", Type: schema.Type{Kind: schema.Text, Optional: true}, Optional: true},
	{Name: "embargo", Type: schema.Type{Kind: schema.Text, Optional: true}, Optional: true},
}

// readParts reads a list of tables, each about the collection or one series.
func readParts(f schema.Field) (all []Part) {
	const example = `write for example [{ series = "embargo", access = "reading room", embargo = "2031-01-01" }]`
	tables, ok := f.Tables(example)
	if !ok {
		return nil
	}
	for _, table := range tables {
		fields, ok := schema.ReadColumns(table, partColumns, example)
		if !ok {
			continue
		}
		p := Part{at: table}
		for name, v := range map[string]*string{
			"series": &p.Series, "title": &p.Title, "rights": &p.Rights, "access": &p.Access, "embargo": &p.Embargo,
		} {
			if column, set := fields[name]; set {
				*v, _ = column.Text("a text")
			}
		}
		if _, err := time.Parse(time.DateOnly, p.Embargo); err != nil && p.Embargo != "" {
			fields["embargo"].Fault("is not a day", `write for example "2031-01-01"`)
		}
		all = append(all, p)
	}
	return all
}

// partTexts returns what the parts say, without their positions.
func partTexts(all []Part) (texts [][]string) {
	for _, p := range all {
		texts = append(texts, []string{p.Series, p.Title, p.Rights, p.Access, p.Embargo})
	}
	return texts
}

// checkParts reports descriptions of unknown series, and two of the same series.
func (l *loader) checkParts() {
	seen := map[string]bool{}
	for _, p := range l.config.Parts {
		switch {
		case p.Series != "" && !slices.Contains(l.config.Series, p.Series):
			p.at.Fault("describes the series "+p.Series+", which is not in warc.series_names",
				"add it there, or remove the entry")
		case seen[p.Series]:
			p.at.Fault("is described twice", "join the two entries")
		}
		seen[p.Series] = true
	}
}

// Embargo reports whether something must not be shown: the series in which its records are, or the one in which a URI
// is today, is under an embargo. The address may also be of a record about a URI, such as urn:fullPage: and the URI.
// Nil is no embargo. It is for one goroutine.
type Embargo func(address, contentType string, series ...string) bool

// Keeps reports whether there is an embargo on something, see [Embargo].
func (e Embargo) Keeps(address, contentType string, series ...string) bool {
	return e != nil && e(address, contentType, series...)
}

// EmbargoAt returns the embargo at a time for somebody who may see some series all the same.
func (c *Config) EmbargoAt(now time.Time, but ...string) Embargo {
	today, closed := now.UTC().Format(time.DateOnly), map[string]bool{}
	for _, p := range c.Parts {
		if p.Embargo > today && !slices.Contains(but, p.Series) {
			closed[p.Series] = true
		}
	}
	if len(closed) == 0 {
		return nil
	}
	var last struct { // captures of one URI follow each other
		address, contentType string
		closed               bool
	}
	return func(address, contentType string, series ...string) bool {
		if slices.ContainsFunc(series, func(name string) bool { return closed[name] }) {
			return true
		}
		if last.address == address && last.contentType == contentType {
			return last.closed
		}
		last.address, last.contentType, last.closed = address, contentType, false
		if parts := strings.SplitN(address, ":", 3); parts[0] == "urn" && len(parts) == 3 {
			address = parts[2]
		}
		if u, err := uri.Parse(address); err == nil {
			last.closed = closed[c.MeansOf(About{URI: u, ContentType: contentType, Now: now}).Series]
		}
		return last.closed
	}
}

// PartOf returns what people should know of the files of a series, or of no series.
func (c *Config) PartOf(series string) Part {
	i := slices.IndexFunc(c.Parts, func(p Part) bool { return p.Series == series })
	if i < 0 {
		return Part{Series: series}
	}
	return c.Parts[i]
}
