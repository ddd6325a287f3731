// This file keeps the latest captured versions of a crawl, for the page that shows what is new. Their number is
// bounded; the archive has all.

package curator

import (
	"mime"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
)

// maxCaptures is the maximum number of captures that are kept in memory.
const maxCaptures = 5000

// ring keeps the latest captures. Its zero value is empty.
type ring struct {
	list []api.Capture // up to Max; when it is full, next is the oldest
	next int
}

// captureOf returns the capture of a visit. ok is false if the visit found no version of a page. A visit on demand that
// found nothing new counts too.
func captureOf(v crawler.Report, demanded bool) (c api.Capture, ok bool) {
	checked := demanded && v.Verdict.State == evaluators.Unchanged
	found := v.Verdict.State == evaluators.Changed && v.Status >= 200 && v.Status <= 299 && !v.URI.IsRobots()
	if v.Failed || !found && !checked {
		return c, false
	}
	c = api.Capture{
		At: v.Finished.UTC(), Host: string(v.URI.Host()), URI: v.URI.String(), Title: v.Title,
		Kind: api.CaptureChanged, Type: v.Type,
		Versions: v.Versions,
	}
	if media, _, err := mime.ParseMediaType(v.Type); err == nil {
		c.Type = media
	}
	switch {
	case checked:
		c.Kind = api.CaptureChecked
	case v.Verdict.First || v.Versions <= 1:
		c.Kind = api.CaptureFirst
	}
	return c, true
}

func (r *ring) put(c api.Capture) {
	if len(r.list) < maxCaptures {
		r.list = append(r.list, c)
		return
	}
	r.list[r.next] = c
	r.next = (r.next + 1) % maxCaptures
}

// captureFilter selects captures. Empty fields select all.
type captureFilter struct {
	Host  string
	Kind  string
	Type  string // beginning of the media type: "text/html" or "image/"
	Text  string // part of the host, URI or title; case does not matter
	Sites func(host string) bool
	Limit int

	Embargo config.Embargo // that the asking person has to keep
}

// matches reports whether a capture is selected.
func (f captureFilter) matches(c api.Capture) bool {
	return (f.Host == "" || c.Host == f.Host) && (f.Kind == "" || c.Kind == f.Kind) && strings.HasPrefix(c.Type, f.Type) &&
		(f.Text == "" || contains(c.URI, f.Text) || contains(c.Title, f.Text)) && (f.Sites == nil || f.Sites(c.Host)) &&
		f.shows(c)
}

// shows reports whether the asking person may see a capture, and what changed in it.
func (f captureFilter) shows(c api.Capture) bool {
	var series []string
	if c.Change != nil && c.Change.Series != "" {
		series = []string{c.Change.Series}
	}
	return !f.Embargo.Keeps(c.URI, c.Type, series...)
}

func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// newest passes on the captures, the newest first.
func (r *ring) newest(yield func(api.Capture) bool) {
	for i := range r.list {
		if !yield(r.list[(r.next+len(r.list)-1-i)%len(r.list)]) {
			return
		}
	}
}

// Select returns the selected captures, newest first, and how many there are beyond the limit.
func (r *ring) Select(f captureFilter) (list []api.Capture, more int) {
	list = []api.Capture{}
	for c := range r.newest {
		switch {
		case !f.matches(c):
		case len(list) >= f.Limit:
			more++
		default:
			list = append(list, c)
		}
	}
	return list, more
}
