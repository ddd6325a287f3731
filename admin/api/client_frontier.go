package api

import (
	"context"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// The following methods do for a running daemon what the methods of [frontier.Frontier] do for an open store.

// List returns up to n selected URIs after a cursor; see [frontier.Frontier.List].
func (c *Client) List(
	ctx context.Context,
	s frontier.Selection,
	from frontier.Cursor,
	n int,
) ([]frontier.Entry, frontier.Cursor, error) {
	sel := selectOf(s, from)
	sel.Limit = n
	l, err := ask[List](ctx, c, http.MethodPost, "/frontier/list", nil, sel)
	return l.Entries, frontier.Cursor(l.Next), err
}

// Count counts selected URIs after a cursor; see [frontier.Frontier.Count].
func (c *Client) Count(
	ctx context.Context,
	s frontier.Selection,
	from frontier.Cursor,
) (int64, frontier.Cursor, error) {
	n, err := ask[Count](ctx, c, http.MethodPost, "/frontier/count", nil, selectOf(s, from))
	return n.Count, frontier.Cursor(n.Next), err
}

// Steer executes an action on the next selected URIs after a cursor; see [frontier.Frontier.Steer].
func (c *Client) Steer(
	ctx context.Context,
	s frontier.Selection,
	a frontier.Action,
	from frontier.Cursor,
) (frontier.Steered, frontier.Cursor, error) {
	o := Order{
		Select: selectOf(s, from),
		All:    s.IsAll(),
		Verb:   string(a.Verb),
		Due:    Moment(a.Due),
		Spread: Seconds(a.Spread),
	}
	done, err := ask[Ordered](ctx, c, http.MethodPost, "/frontier/steer", nil, o)
	return frontier.Steered{
		Matched:    done.Matched,
		Changed:    done.Changed,
		InProgress: done.InProgress,
	}, frontier.Cursor(done.Next), err
}

// Import imports at most 1000 URIs with their histories; see [frontier.Frontier.Import].
func (c *Client) Import(ctx context.Context, replace bool, entries ...frontier.Entry) (frontier.Imported, error) {
	done, err := ask[Imported](
		ctx,
		c,
		http.MethodPost,
		"/frontier/import",
		nil,
		Import{Replace: replace, Entries: entries},
	)
	return frontier.Imported(done), err
}

// SteerHosts executes an action on the hosts that match a pattern; see [frontier.Frontier.SteerHosts].
func (c *Client) SteerHosts(
	ctx context.Context,
	pattern string,
	a frontier.HostAction,
) (matched, changed int64, err error) {
	done, err := ask[HostsOrdered](
		ctx,
		c,
		http.MethodPost,
		"/frontier/hosts",
		nil,
		HostOrder{Pattern: pattern, Verb: string(a.Verb), Until: Moment(a.Until)},
	)
	return done.Matched, done.Changed, err
}

func selectOf(s frontier.Selection, from frontier.Cursor) Select {
	sel := Select{Host: s.Host, Prefix: s.Prefix, Cursor: string(from)}
	for _, u := range s.URIs {
		sel.URIs = append(sel.URIs, u.String())
	}
	for _, state := range s.States {
		sel.States = append(sel.States, string(state))
	}
	if s.Match != nil {
		sel.Match = s.Match.String()
	}
	return sel
}

// RestHosts lets hosts rest until a time.
func (c *Client) RestHosts(ctx context.Context, pattern string, until time.Time) (matched, changed int64, err error) {
	return c.SteerHosts(ctx, pattern, frontier.HostAction{Verb: frontier.Rest, Until: until})
}
