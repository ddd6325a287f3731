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

// Traps are the parts of hosts that were found never to come to an end.
type Traps struct {
	Traps []Trap `json:"traps"` // at most 10,000
	More  bool   `json:"more"`  // there are others
}

// Trap is a part of a host that is kept out of the crawl.
type Trap struct {
	Host      string    `json:"host"`
	Kind      string    `json:"kind"`
	Pattern   string    `json:"pattern"` // an expression that is looked for in a whole URI; for soft404 the digest of the page
	Why       string    `json:"why"`     // what was seen
	Found     time.Time `json:"found"`   // when it became certain
	Visited   int       `json:"visited"` // pages of it that were visited before
	Kept      int64     `json:"kept"`    // URIs of it that were kept out so far
	Released  bool      `json:"released"`
	Examples  []string  `json:"examples"`
	Rule      string    `json:"rule,omitempty"`       // lines of a host file that would keep it out for good
	FreeFrom  string    `json:"free_from,omitempty"`  // of a calendar: the first day that is not part of it
	FreeUntil string    `json:"free_until,omitempty"` // the last day that is not
}

// TrapRelease names a trap that is to be released.
type TrapRelease struct {
	Host    string `json:"host"`
	Pattern string `json:"pattern"` // as the list of traps has it
}

// TrapReleased is what came of it.
type TrapReleased struct {
	Due int64 `json:"due"` // URIs of it that are in the store and are due now
}

// trapRoutes show and release traps.
func trapRoutes() []route {
	return []route{
		{
			method: "GET", path: api + "/traps", doc: "The parts of hosts that were found never to come to an end, and are kept out.", answer: Traps{},
			params: []param{{"host", "string", "of this host only"}},
			serve: func(w *Window, r *http.Request) (any, error) {
				return TrapsOf(w.o.Traps, uri.Host(strings.ToLower(r.FormValue("host"))))
			},
		},
		{
			method: "POST", path: api + "/traps/release", doc: "Ends a trap for good: its URIs in the store are due at once, and its pattern is never taken for a trap again.",
			body: TrapRelease{}, answer: TrapReleased{}, serve: served((*Window).releaseTrap),
		},
	}
}

// TrapsOf lists the traps of a host, or of all hosts if it is empty. A nil book has none.
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
		list, err := book.Of(only)
		if err != nil {
			return out, err
		}
		return out, see(only, list) // a host has far fewer than the bound
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

// Traps asks for the traps of a host, or of all if it is empty.
func (c *Client) Traps(ctx context.Context, host string) (Traps, error) {
	return ask[Traps](ctx, c, http.MethodGet, "/traps", url.Values{"host": {host}}, nil)
}

// ReleaseTrap ends a trap for good.
func (c *Client) ReleaseTrap(ctx context.Context, host, pattern string) (TrapReleased, error) {
	return ask[TrapReleased](ctx, c, http.MethodPost, "/traps/release", nil, TrapRelease{Host: host, Pattern: pattern})
}
