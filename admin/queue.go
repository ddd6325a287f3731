package admin

import (
	"net/http"
	"regexp"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Select selects URIs. All criteria that are set must hold.
type Select struct {
	URIs   []string `json:"uris,omitempty"`   // one of these, at most 10,000
	Host   string   `json:"host,omitempty"`   // on this host; "*.example.org" includes hosts below it
	Prefix string   `json:"prefix,omitempty"` // the canonical form starts with this
	Match  string   `json:"match,omitempty"`  // regular expression that matches part of the canonical form
	States []string `json:"states,omitempty"` // in all of these states: due, waiting, on-demand, in-progress, held, forbidden, rejected, failing, gone, new
	Cursor string   `json:"cursor,omitempty"` // "next" of an earlier answer
	Limit  int      `json:"limit,omitempty"`  // maximum length of a list, up to 1000 (default 100)
}

// List is a part of the selected URIs. Next is empty at the end. A part can be empty without being the last.
type List struct {
	Entries []frontier.Entry `json:"entries"`
	Next    string           `json:"next"`
}

// Count is the number of selected URIs up to Next.
type Count struct {
	Count int64  `json:"count"`
	Next  string `json:"next"`
}

// Order is an order for the selected URIs.
type Order struct {
	Select Select     `json:"select"`
	All    bool       `json:"all,omitempty"` // required to select all URIs with an empty selection
	Verb   string     `json:"verb"`          // force, reschedule, hold, release or forget
	Due    *time.Time `json:"due,omitempty"` // for reschedule
	Spread Seconds    `json:"spread_seconds,omitempty"`
}

// Ordered is the result of an order for some dozens of URIs. The rest starts at Next.
type Ordered struct {
	Matched    int64  `json:"matched"`
	Changed    int64  `json:"changed"`
	InProgress int64  `json:"in_progress"` // not changed because they are being visited
	Next       string `json:"next"`
}

// HostOrder is an order for hosts.
type HostOrder struct {
	Pattern string     `json:"pattern"`         // a host; "*.example.org" includes hosts below it; "*" means all
	Verb    string     `json:"verb"`            // pause, resume, rest or wake
	Until   *time.Time `json:"until,omitempty"` // for rest
}

// HostsOrdered is the result of an order for hosts.
type HostsOrdered struct {
	Matched int64 `json:"matched"`
	Changed int64 `json:"changed"`
}

// Import is a list of URIs with their histories.
type Import struct {
	Replace bool             `json:"replace,omitempty"` // replace known URIs
	Entries []frontier.Entry `json:"entries"`
}

// Imported is the result of an import.
type Imported struct {
	New        int `json:"new"`
	Known      int `json:"known"` // not changed
	Replaced   int `json:"replaced"`
	InProgress int `json:"in_progress"` // not replaced because they are being visited
	Refused    int `json:"refused"`     // their host has its maximum number of URIs
}

// queueRoutes returns the requests that read and change the frontier.
func queueRoutes() []route {
	return []route{
		{
			method: "POST", path: api + "/frontier/list", doc: "Returns the selected URIs with their histories, as arcrawl frontier export writes them. Reads a bounded part of the store; repeat from next until it is empty.",
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
			method: "POST", path: api + "/frontier/count", doc: "Counts the selected URIs in a bounded part of the store; repeat from next until it is empty.", body: Select{}, answer: Count{},
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
			method: "POST", path: api + "/frontier/steer", doc: "Makes the next selected URIs due, or reschedules, holds, releases or forgets them. Politeness and robots.txt stay in force. Repeat from next until it is empty.",
			body: Order{}, answer: Ordered{}, serve: served((*Window).order),
		},
		{
			method: "POST", path: api + "/frontier/import", doc: "Imports URIs with their histories, at most 1000 in a request.", body: Import{}, answer: Imported{},
			serve: served(func(w *Window, i Import) (Imported, error) {
				if len(i.Entries) > maxImported {
					return Imported{}, fault("%d entries are too many; the maximum is %d", len(i.Entries), maxImported)
				}
				done, err := w.o.Frontier.Import(w.o.Now(), i.Replace, i.Entries...)
				w.o.Crawler.Wake()
				return Imported(done), err
			}),
		},
		{
			method: "POST", path: api + "/frontier/hosts", doc: "Pauses or resumes hosts, lets them rest, or ends their rest. The effect survives a restart.",
			body: HostOrder{}, answer: HostsOrdered{}, serve: served((*Window).orderHosts),
		},
	}
}

const maxImported = 1000

// served returns a route function that decodes the request body.
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

// selection converts s for the frontier.
func (s Select) selection() (frontier.Selection, error) {
	sel := frontier.Selection{Host: s.Host, Prefix: s.Prefix}
	if len(s.URIs) > frontier.MaxNamed {
		return sel, fault("%d URIs are too many; the maximum is %d", len(s.URIs), frontier.MaxNamed)
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

// order executes an order for some dozens of URIs.
func (w *Window) order(o Order) (Ordered, error) {
	sel, err := o.Select.selection()
	if err != nil {
		return Ordered{}, err
	}
	if sel.IsAll() && !o.All {
		return Ordered{}, fault("the selection is empty, which means all URIs; set all to confirm")
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

// orderHosts executes an order for hosts.
func (w *Window) orderHosts(o HostOrder) (HostsOrdered, error) {
	if o.Pattern == "" {
		return HostsOrdered{}, fault("the pattern is empty; write a host, or * for all hosts")
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
