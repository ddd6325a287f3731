package admin

import (
	"cmp"
	"regexp"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// queueRoutes returns the requests that read and change the frontier.
func queueRoutes() []Route {
	return []Route{
		{
			Method: "POST", Path: api.Base + "/frontier/list",
			Doc:  "Returns the selected URIs with their histories, as arcrawl frontier list --output writes them. Reads a bounded part of the store; repeat from next until it is empty.",
			Asks: true, Body: api.Select{}, Answer: api.List{},
			Serve: Served(func(w *Window, s api.Select) (api.List, error) {
				sel, err := selectionOf(s)
				if err != nil {
					return api.List{}, err
				}
				entries, next, err := w.o.Frontier.List(
					w.o.Now(), sel, frontier.Cursor(s.Cursor), cmp.Or(max(s.Limit, 0), 100))
				if entries == nil {
					entries = []frontier.Entry{}
				}
				return api.List{Entries: entries, Next: string(next)}, err
			}),
		},
		{
			Method: "POST", Path: api.Base + "/frontier/count",
			Doc:  "Counts the selected URIs in a bounded part of the store; repeat from next until it is empty.",
			Asks: true, Body: api.Select{}, Answer: api.Count{},
			Serve: Served(func(w *Window, s api.Select) (api.Count, error) {
				sel, err := selectionOf(s)
				if err != nil {
					return api.Count{}, err
				}
				n, next, err := w.o.Frontier.Count(w.o.Now(), sel, frontier.Cursor(s.Cursor))
				return api.Count{Count: n, Next: string(next)}, err
			}),
		},
		{
			Method: "POST", Path: api.Base + "/frontier/steer", Needs: access.Operate,
			Doc:  "Makes the next selected URIs due, or reschedules, holds, releases or forgets them. Politeness and robots.txt stay in force. Repeat from next until it is empty.",
			Body: api.Order{}, Answer: api.Ordered{}, Serve: Served((*Window).order),
		},
		{
			Method: "POST", Path: api.Base + "/frontier/import", Needs: access.Operate,
			Doc: "Imports URIs with their histories, at most 1000 in a request.", Body: api.Import{}, Answer: frontier.Imported{},
			Serve: Served(func(w *Window, i api.Import) (frontier.Imported, error) {
				if len(i.Entries) > maxImported {
					return frontier.Imported{}, Fault("%d entries are too many; the maximum is %d", len(i.Entries), maxImported)
				}
				done, err := w.o.Frontier.Import(w.o.Now(), i.Replace, i.Entries...)
				w.o.Crawler.Wake()
				return done, err
			}),
		},
		{
			Method: "POST", Path: api.Base + "/frontier/hosts", Needs: access.Operate,
			Doc:  "Pauses or resumes hosts, lets them rest, or ends their rest. The effect survives a restart.",
			Body: api.HostOrder{}, Answer: api.HostsOrdered{}, Serve: Served((*Window).orderHosts),
		},
	}
}

const maxImported = 1000

// selectionOf converts a selection for the frontier.
func selectionOf(s api.Select) (frontier.Selection, error) {
	sel := frontier.Selection{Host: s.Host, Prefix: s.Prefix}
	if len(s.URIs) > frontier.MaxNamed {
		return sel, Fault("%d URIs are too many; the maximum is %d", len(s.URIs), frontier.MaxNamed)
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
			return sel, Fault("match: %w", err)
		}
		sel.Match = re
	}
	return sel, nil
}

// order executes an order for some dozens of URIs.
func (w *Window) order(o api.Order) (api.Ordered, error) {
	sel, err := selectionOf(o.Select)
	if err != nil {
		return api.Ordered{}, err
	}
	if sel.IsAll() && !o.All {
		return api.Ordered{}, Fault("the selection is empty, which means all URIs; set all to confirm")
	}
	a := frontier.Action{Verb: frontier.Verb(o.Verb), Spread: time.Duration(o.Spread)}
	if o.Due != nil {
		a.Due = *o.Due
	}
	for _, added := range w.o.Extensions {
		if a.Verb == frontier.Force && added.Ordered != nil {
			added.Ordered(o.Select.URIs)
		}
	}
	done, next, err := w.o.Frontier.Steer(w.o.Now(), sel, a, frontier.Cursor(o.Select.Cursor))
	if err != nil {
		return api.Ordered{}, err
	}
	w.o.Crawler.Wake()
	return api.Ordered{Steered: done, Next: string(next)}, nil
}

// orderHosts executes an order for hosts.
func (w *Window) orderHosts(o api.HostOrder) (api.HostsOrdered, error) {
	if o.Pattern == "" {
		return api.HostsOrdered{}, Fault("the pattern is empty; write a host, or * for all hosts")
	}
	a := frontier.HostAction{Verb: frontier.HostVerb(o.Verb)}
	if o.Until != nil {
		a.Until = *o.Until
	}
	matched, changed, err := w.o.Frontier.SteerHosts(w.o.Now(), o.Pattern, a)
	if err != nil {
		return api.HostsOrdered{}, err
	}
	w.o.Crawler.Wake()
	return api.HostsOrdered{Matched: matched, Changed: changed}, nil
}
