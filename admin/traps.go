package admin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/scope/traps"
	"github.com/arcrawl/arcrawl/uri"
)

// Traps is a list of traps.
type Traps struct {
	Traps []Trap `json:"traps"` // at most 10,000
	More  bool   `json:"more"`  // there are more
}

// Trap is a part of a host with endless URIs, which is kept out of the crawl.
type Trap struct {
	Host      string    `json:"host"`
	Kind      string    `json:"kind"`
	Pattern   string    `json:"pattern"` // regular expression for URIs; for soft404 the digest of the page
	Why       string    `json:"why"`     // evidence
	Found     time.Time `json:"found"`   // when it became certain
	Visited   int       `json:"visited"` // pages that were visited before
	Kept      int64     `json:"kept"`    // URIs that were kept out so far
	Released  bool      `json:"released"`
	Examples  []string  `json:"examples"`
	Rule      string    `json:"rule,omitempty"`       // lines for the host file that would keep it out permanently
	FreeFrom  string    `json:"free_from,omitempty"`  // for a calendar: first day outside of the trap
	FreeUntil string    `json:"free_until,omitempty"` // last day outside of the trap
}

// TrapRelease is an order to release a trap.
type TrapRelease struct {
	Host    string `json:"host"`
	Pattern string `json:"pattern"` // as in the list of traps
}

// TrapReleased is the result of releasing a trap.
type TrapReleased struct {
	Due int64 `json:"due"` // its URIs in the store, which are due now
}

// trapRoutes returns the requests about traps.
func trapRoutes() []route {
	return []route{
		{
			method: "GET", path: api + "/traps", doc: "Returns the traps: parts of hosts with endless URIs, which are kept out.", answer: Traps{},
			params: []param{{"host", "string", "only this host"}},
			serve: func(w *Window, r *http.Request) (any, error) {
				return TrapsOf(w.o.Traps, uri.Host(strings.ToLower(r.FormValue("host"))))
			},
		},
		{
			method: "POST", path: api + "/traps/release", doc: "Releases a trap permanently: its URIs in the store become due, and its pattern is never recognized as a trap again.",
			body: TrapRelease{}, answer: TrapReleased{}, serve: served((*Window).releaseTrap),
		},
	}
}

// TrapsOf returns the traps of a host, or of all hosts if it is empty. A nil book has none.
func TrapsOf(book *traps.Store, only uri.Host) (Traps, error) {
	out := Traps{Traps: []Trap{}}
	if book == nil {
		return out, nil
	}
	see := func(h uri.Host, list []traps.Trap) error {
		for _, t := range list {
			if out.More = len(out.Traps) >= maxRows; out.More {
				return errEnough
			}
			out.Traps = append(out.Traps, trapOf(h, t))
		}
		return nil
	}
	if only != "" {
		list, err := book.Get(only)
		if err != nil {
			return out, err
		}
		return out, see(only, list) // a host has far fewer than the maximum
	}
	if err := book.Each(see); !errors.Is(err, errEnough) {
		return out, err
	}
	return out, nil
}

func trapOf(h uri.Host, t traps.Trap) Trap {
	out := Trap{
		Host: string(h), Kind: t.Kind.String(), Pattern: t.Pattern, Why: t.Why, Found: t.Found, Visited: t.Visited, Kept: t.Kept,
		Released: t.Released, Examples: append([]string{}, t.Examples...), Rule: t.Rule(),
	}
	if t.Kind == traps.Calendar && t.From != 0 {
		day := func(n int) string { return time.Unix(int64(n)*24*60*60, 0).UTC().Format(time.DateOnly) }
		out.FreeFrom, out.FreeUntil = day(t.From), day(t.To)
	}
	return out
}

// releaseTrap ends a trap.
func (w *Window) releaseTrap(o TrapRelease) (TrapReleased, error) {
	if w.o.Traps == nil {
		return TrapReleased{}, unknown("a trap of " + o.Host)
	}
	due, err := crawler.ReleaseTrap(w.o.Frontier, w.o.Traps, uri.Host(strings.ToLower(o.Host)), o.Pattern, w.o.Now())
	if errors.Is(err, traps.ErrUnknown) {
		return TrapReleased{}, unknown("a trap of " + o.Host + " with the pattern " + o.Pattern)
	}
	w.o.Crawler.Wake()
	return TrapReleased{Due: due}, err
}

// Traps returns the traps of a host, or of all hosts if it is empty.
func (c *Client) Traps(ctx context.Context, host string) (Traps, error) {
	return ask[Traps](ctx, c, http.MethodGet, "/traps", url.Values{"host": {host}}, nil)
}

// ReleaseTrap releases a trap permanently.
func (c *Client) ReleaseTrap(ctx context.Context, host, pattern string) (TrapReleased, error) {
	return ask[TrapReleased](ctx, c, http.MethodPost, "/traps/release", nil, TrapRelease{Host: host, Pattern: pattern})
}
