package admin

import (
	"net/http"

	"github.com/arcrawl/arcrawl/config/about"
	"github.com/arcrawl/arcrawl/uri"
)

// filtered returns the parameters of a request that is about some of the hosts.
func filtered(more ...param) []param {
	return append(more,
		param{"label", "string", "only hosts with this label, and hosts below a domain with it"},
		param{"collection", "string", "only hosts of this collection"},
		param{"owner", "string", "only hosts of this owner"},
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
