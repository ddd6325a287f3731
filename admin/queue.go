package admin

import (
	"net/http"
	"regexp"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Select says which URIs are meant: those for which all that is set is true.
type Select struct {
	URIs   []string `json:"uris,omitempty"`   // one of these, at most 10,000
	Host   string   `json:"host,omitempty"`   // on this host, or, as "*.example.org", on it or one below it
	Prefix string   `json:"prefix,omitempty"` // the canonical form begins with this
	Match  string   `json:"match,omitempty"`  // an expression that matches the canonical form, anywhere
	States []string `json:"states,omitempty"` // all of these are true: due, waiting, on-demand, in-progress, held, forbidden, rejected, failing, gone, new
	Cursor string   `json:"cursor,omitempty"` // where an earlier answer ended, its "next"
	Limit  int      `json:"limit,omitempty"`  // of a list, at most 1000; 100 if it is not given
}

// List is a part of the URIs that were selected. Next is empty at the end; a part may be empty and not the last.
type List struct {
	Entries []frontier.Entry `json:"entries"`
	Next    string           `json:"next"`
}

// Count is how many of the URIs up to Next are selected.
type Count struct {
	Count int64  `json:"count"`
	Next  string `json:"next"`
}

// Order is what is to be done to the selected URIs.
type Order struct {
	Select Select     `json:"select"`
	All    bool       `json:"all,omitempty"` // must be set to mean all URIs, with an empty selection
	Verb   string     `json:"verb"`          // force, reschedule, hold, release or forget
	Due    *time.Time `json:"due,omitempty"` // of reschedule
	Spread Seconds    `json:"spread_seconds,omitempty"`
}

// Ordered is what became of some dozens of them; the rest begins at Next.
type Ordered struct {
	Matched    int64  `json:"matched"`
	Changed    int64  `json:"changed"`
	InProgress int64  `json:"in_progress"` // were left alone because they are being visited
	Next       string `json:"next"`
}

// HostOrder is what is to be done to hosts.
type HostOrder struct {
	Pattern string     `json:"pattern"`         // a host, or "*.example.org" for it and those below it, or "*" for all
	Verb    string     `json:"verb"`            // pause, resume, rest or wake
	Until   *time.Time `json:"until,omitempty"` // of rest
}

// HostsOrdered is what became of them.
type HostsOrdered struct {
	Matched int64 `json:"matched"`
	Changed int64 `json:"changed"`
}

// Import is what is to be made known, with its history.
type Import struct {
	Replace bool             `json:"replace,omitempty"` // known ones too
	Entries []frontier.Entry `json:"entries"`
}

// Imported is what became of it.
type Imported struct {
	New        int `json:"new"`
	Known      int `json:"known"` // and stay exactly as they are
	Replaced   int `json:"replaced"`
	InProgress int `json:"in_progress"` // were not replaced because they are being visited
	Refused    int `json:"refused"`     // their host has as many URIs as it may have
}

// queueRoutes look into the frontier and change it.
func queueRoutes() []route {
	return []route{
		{
			method: "POST", path: api + "/frontier/list", doc: "The selected URIs with all that is remembered of them, as arcrawl frontier export writes them. Reads a bounded part of the store: ask again from next until it is empty.",
			body: Select{}, answer: List{},
			serve: served(func(w *Window, s Select) (List, error) {
				sel, err := s.selection()
				if err != nil {
					return List{}, err
				}
				entries, next, err := w.o.Frontier.List(w.o.Now(), sel, frontier.Cursor(s.Cursor), s.limit())
				if entries == nil {
					entries = []frontier.Entry{}
				}
				return List{Entries: entries, Next: string(next)}, err
			}),
		},
		{
			method: "POST", path: api + "/frontier/count", doc: "How many URIs are selected, in a bounded part of the store.", body: Select{}, answer: Count{},
			serve: served(func(w *Window, s Select) (Count, error) {
				sel, err := s.selection()
				if err != nil {
					return Count{}, err
				}
				n, next, err := w.o.Frontier.Count(w.o.Now(), sel, frontier.Cursor(s.Cursor))
				return Count{Count: n, Next: string(next)}, err
			}),
		},
		{
			method: "POST", path: api + "/frontier/steer", doc: "Does something to the next selected URIs: makes them due, holds them, forgets them. Politeness and robots.txt stay in force. Ask again from next until it is empty.",
			body: Order{}, answer: Ordered{}, serve: served((*Window).order),
		},
		{
			method: "POST", path: api + "/frontier/import", doc: "Makes URIs known with their history, at most 1000 at a time.", body: Import{}, answer: Imported{},
			serve: served(func(w *Window, i Import) (Imported, error) {
				if len(i.Entries) > maxImported {
					return Imported{}, fault("%d entries: at most %d at a time", len(i.Entries), maxImported)
				}
				done, err := w.o.Frontier.Import(w.o.Now(), i.Replace, i.Entries...)
				w.o.Crawler.Wake()
				return Imported(done), err
			}),
		},
		{
			method: "POST", path: api + "/frontier/hosts", doc: "Does something to hosts: pauses and resumes them, lets them rest, wakes them. It outlives a restart.",
			body: HostOrder{}, answer: HostsOrdered{}, serve: served((*Window).orderHosts),
		},
	}
}

const maxImported = 1000

// served reads the body of a request for what serves it.
func served[B, A any](serve func(*Window, B) (A, error)) func(*Window, *http.Request) (any, error) {
	return func(w *Window, r *http.Request) (any, error) {
		b, err := read[B](r)
		if err != nil {
			return nil, err
		}
		return serve(w, b)
	}
}

func (s Select) limit() int {
	if s.Limit <= 0 {
		return 100
	}
	return s.Limit
}

// selection is what the frontier goes by.
func (s Select) selection() (frontier.Selection, error) {
	sel := frontier.Selection{Host: s.Host, Prefix: s.Prefix}
	if len(s.URIs) > frontier.MaxNamed {
		return sel, fault("%d URIs are named, at most %d can be", len(s.URIs), frontier.MaxNamed)
	}
	for _, text := range s.URIs {
		u, err := uri.Parse(text)
		if err != nil {
			return sel, badRequest{err}
		}
		sel.URIs = append(sel.URIs, u)
	}
	for _, state := range s.States {
		sel.States = append(sel.States, frontier.State(state))
	}
	if s.Match != "" {
		re, err := regexp.Compile(s.Match)
		if err != nil {
			return sel, fault("match: %w", err)
		}
		sel.Match = re
	}
	return sel, nil
}

// order does something to some dozens of URIs.
func (w *Window) order(o Order) (Ordered, error) {
	sel, err := o.Select.selection()
	if err != nil {
		return Ordered{}, err
	}
	if sel.IsAll() && !o.All {
		return Ordered{}, fault("the selection is empty, which means all URIs: set all if that is meant")
	}
	a := frontier.Action{Verb: frontier.Verb(o.Verb), Spread: time.Duration(o.Spread)}
	if o.Due != nil {
		a.Due = *o.Due
	}
	done, next, err := w.o.Frontier.Steer(w.o.Now(), sel, a, frontier.Cursor(o.Select.Cursor))
	if err != nil {
		return Ordered{}, badRequest{err}
	}
	w.o.Crawler.Wake()
	return Ordered{Matched: done.Matched, Changed: done.Changed, InProgress: done.InProgress, Next: string(next)}, nil
}

// orderHosts does something to hosts.
func (w *Window) orderHosts(o HostOrder) (HostsOrdered, error) {
	if o.Pattern == "" {
		return HostsOrdered{}, fault("the pattern is empty; * means all hosts")
	}
	a := frontier.HostAction{Verb: frontier.HostVerb(o.Verb)}
	if o.Until != nil {
		a.Until = *o.Until
	}
	matched, changed, err := w.o.Frontier.SteerHosts(w.o.Now(), o.Pattern, a)
	if err != nil {
		return HostsOrdered{}, badRequest{err}
	}
	w.o.Crawler.Wake()
	return HostsOrdered{Matched: matched, Changed: changed}, nil
}
