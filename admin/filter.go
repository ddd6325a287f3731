package admin

import (
	"net/http"
	"strings"

	"github.com/arcrawl/arcrawl/config/about"
	"github.com/arcrawl/arcrawl/uri"
)

// filtered returns the parameters of a request that is about some of the hosts.
func filtered(more ...Param) []Param {
	return append(more,
		Param{"label", "string", "only hosts with this label, and hosts below a domain with it"},
		Param{"collection", "string", "only hosts of this collection"},
		Param{"owner", "string", "only hosts of this owner"},
	)
}

// filterOf returns the filter of a request.
func filterOf(r *http.Request) about.Filter {
	return about.Filter{Label: r.FormValue("label"), Collection: r.FormValue("collection"), Owner: r.FormValue("owner")}
}

// choice reports whether a host is chosen.
type choice = func(uri.Host) bool

// chooses returns a function that reports whether a filter selects a host; nil if it selects all.
func (w *Window) chooses(f about.Filter) choice {
	if f.IsZero() {
		return nil
	}
	c := w.o.Config().Config
	return func(h uri.Host) bool { return f.Matches(c.Site(h)) }
}

// ours returns a function that reports whether a host is chosen, and this store counts it. A store that was a part of
// another one has what the whole had learned before.
func (w *Window) ours(chosen choice) choice {
	if !w.o.Frontier.IsPart() {
		return chosen
	}
	var asked uri.Host // the rows of a host follow one another
	is := false
	return func(h uri.Host) bool {
		if h != asked {
			asked, is = h, w.o.Frontier.Has(h) && (chosen == nil || chosen(h))
		}
		return is
	}
}

// maxPart is the maximum length of a text to search for, in bytes. Every URI of a page of results is compared with it.
const maxPart = 2000

// partOf returns the text that a request searches for, without spaces around it.
func partOf(r *http.Request) (string, error) {
	text := strings.TrimSpace(r.FormValue("q"))
	if len(text) > maxPart {
		return "", fault("q has %d bytes, more than %d; search for a shorter part", len(text), maxPart)
	}
	return text, nil
}
