package admin

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/scope"
	"github.com/arcrawl/arcrawl/uri"
)

// Why tells of one URI how it stands, why, and what comes next.
type Why struct {
	URI   URI    `json:"uri"`   // what is remembered
	State string `json:"state"` // "in progress", "held", "due", "waiting" or "on demand"

	Next string     `json:"next"`         // in words: when it is visited, or what keeps it from being visited
	At   *time.Time `json:"at,omitempty"` // when it is visited, as far as can be told; null while something keeps it from that
	Why  string     `json:"why"`          // who decided about its due time at the last visit, and by what reason

	Ahead    int64   `json:"ahead"` // URIs of its host that come before it; counted to 10,000
	Host     Host    `json:"host"`
	Delay    Seconds `json:"delay_seconds"` // from one visit to the next through a slot of its host
	Observed bool    `json:"observed"`      // Delay was; else it follows from the settings

	Rules    []Rule    `json:"rules"`    // what scope and robots.txt say of it
	Settings []Setting `json:"settings"` // those of its next visit that are not the defaults
}

// Setting is a key as it is in force for a visit, and where that was said.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // file:line
}

// Rule is what one rule says of a URI.
type Rule struct {
	Opinion string `json:"opinion"` // "accepts", "rejects", or "–" if it has none
	Rule    string `json:"rule"`
	Why     string `json:"why"`
	Where   string `json:"where,omitempty"` // file and line
}

// WhyNot tells whether something keeps a URI out of the crawl.
type WhyNot struct {
	URI   string `json:"uri"`
	Known bool   `json:"known"`         // the crawl knows it
	Out   string `json:"out,omitempty"` // what keeps it out or back; empty if nothing does
	Rules []Rule `json:"rules"`
}

// maxAhead is how far the URIs before one are counted.
const maxAhead = 10_000

// why tells of a URI how it stands.
func (w *Window) why(text string) (Why, error) {
	u, err := uri.Parse(text)
	if err != nil {
		return Why{}, badRequest{err}
	}
	now := w.o.Now()
	r, ok, err := w.o.Frontier.Get(u)
	if err != nil {
		return Why{}, err
	}
	if !ok {
		return Why{}, fmt.Errorf("%w; arcrawl why-not tells whether something keeps it out", unknown(u.String()))
	}
	view, _ := w.o.Frontier.Host(u.Host(), now)
	out := Why{URI: uriOf(r, now), Why: r.Why, Host: hostOf(view, now)}
	delay, observed := w.delayOf(u.Host())
	out.Delay, out.Observed = Seconds(delay), observed
	if out.Ahead, _, err = w.o.Frontier.CountAhead(u, maxAhead); err != nil {
		return Why{}, err
	}
	if out.State, err = w.stateOf(r, now); err != nil {
		return Why{}, err
	}
	verdict, err := w.whyNot(whatif.Question{URI: u})
	if err != nil {
		return Why{}, err
	}
	out.Rules = slices.DeleteFunc(verdict.Rules, func(r Rule) bool { return r.Rule == "known" }) // it is told already
	out.Settings = w.settingsOf(r, now)
	w.foretell(&out, r, view, now)
	return out, nil
}

// settingsOf lists what files say of the next visit.
func (w *Window) settingsOf(r frontier.Record, now time.Time) []Setting {
	out := []Setting{}
	about := config.About{URI: r.URI, Hops: r.Hops, ContentType: r.ContentType, Now: later(now, r.Due)}
	for _, s := range w.o.Config().Config.Effective(about) {
		if s.File != "" {
			out = append(out, Setting{Key: s.Key, Value: s.Value, Origin: s.Origin()})
		}
	}
	return out
}

// stateOf asks the frontier for what the record itself does not tell.
func (w *Window) stateOf(r frontier.Record, now time.Time) (string, error) {
	list, _, err := w.o.Frontier.List(now, frontier.Selection{URIs: []uri.URI{r.URI}}, "", 1)
	switch {
	case err != nil:
		return "", err
	case len(list) == 1 && list[0].InProgress:
		return "in progress", nil
	case len(list) == 1 && list[0].Held:
		return "held", nil
	case r.Due.IsZero():
		return "on demand", nil
	case r.Due.After(now):
		return "waiting", nil
	}
	return "due", nil
}

// foretell says what happens next, and when.
func (w *Window) foretell(out *Why, r frontier.Record, h frontier.HostView, now time.Time) {
	stand := w.o.Crawler.Status()
	switch {
	case out.State == "in progress":
		out.Next = "it is being visited at this moment"
		return
	case out.State == "held":
		out.Next = "it is not visited: an operator holds it; arcrawl release " + r.URI.String()
		return
	case out.State == "on demand":
		out.Next = "it is visited when its host's other URIs need it"
		return
	case !h.Paused.IsZero():
		out.Next = fmt.Sprintf("it is not visited: its host is held since %s; arcrawl release %s", clock(h.Paused), h.Host)
		return
	case stand.Paused != "" && stand.Until.IsZero():
		out.Next = "it is not visited: the crawl is paused (" + stand.Paused + "); arcrawl resume"
		return
	case stand.Held != "":
		out.Next = "it is not visited: the crawl stands still (" + stand.Held + ")"
		return
	}
	from := later(now, later(h.Rest, stand.Until))
	queue := time.Duration(float64(out.Ahead) * float64(out.Delay) / float64(max(h.Slots, 1)))
	at := later(r.Due, from.Add(queue))
	out.At = moment(at)
	out.Next = w.nextText(r, h, out, at, now)
}

// nextText puts what comes next into words.
func (w *Window) nextText(r frontier.Record, h frontier.HostView, out *Why, at, now time.Time) string {
	said := "it is visited about " + clock(at)
	switch {
	case out.State == "waiting" && at.Equal(r.Due):
		said = fmt.Sprintf("it is due %s, in %s, and visited soon after", clock(at), text(at.Sub(now)))
	case h.Rest.After(now):
		said += fmt.Sprintf(": its host rests until %s", clock(h.Rest))
	case out.Ahead > 0:
		said += fmt.Sprintf(": %d URIs of its host come before it, one each %s", out.Ahead, text(time.Duration(out.Delay)/time.Duration(max(h.Slots, 1))))
	default:
		said = "it is next on its host"
	}
	if h.Failures > 0 {
		said += fmt.Sprintf("; the host could not be reached %d times in a row", h.Failures)
	}
	if out.State == "due" && out.Ahead >= crowd {
		said += "; it has more due than it can serve, and prefers what has probably changed, so this may be sooner or later"
	}
	copied, ok, err := w.o.Frontier.Robots(r.URI.Origin())
	if err == nil && (!ok || !at.Before(copied.Expires)) {
		said += "; robots.txt is fetched first"
	}
	return said
}

// crowd is how many due URIs make a host's order a matter of what a visit is worth.
const crowd = 4

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// clock is a time for people, in UTC as everything in the log.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") }

// whyNot tells what keeps a URI out.
func (w *Window) whyNot(q whatif.Question) (WhyNot, error) {
	now := w.o.Now()
	reasons, err := whatif.Explain(w.o.Config().Config, w.o.Frontier, w.o.Traps, q, now)
	if err != nil {
		return WhyNot{}, err
	}
	out := WhyNotOf(q.URI.String(), reasons)
	_, out.Known, err = w.o.Frontier.Get(q.URI)
	view, _ := w.o.Frontier.Host(q.URI.Host(), now)
	switch {
	case err != nil || out.Out != "":
	case !view.Paused.IsZero():
		out.Out = "kept back: an operator holds its host since " + clock(view.Paused)
	case !out.Known:
		out.Out = "never found: nothing that was visited names it, though no rule keeps it out; arcrawl seeds add makes it known"
	}
	return out, err
}

// WhyNotOf is the answer for a URI of which the rules said this.
func WhyNotOf(uri string, reasons []scope.Reason) WhyNot {
	out := WhyNot{URI: uri, Rules: []Rule{}}
	for _, r := range reasons {
		out.Rules = append(out.Rules, Rule{Opinion: r.Opinion.String(), Rule: r.Rule, Why: r.Why, Where: r.Where})
		if r.Opinion == scope.Rejects {
			out.Out = fmt.Sprintf("kept out by %s: %s", r.Rule, r.Why)
		}
	}
	return out
}

// readWhyNot reads the question from a request.
func readWhyNot(r *http.Request) (q whatif.Question, err error) {
	var bad error
	if q.URI, err = uri.Parse(r.FormValue("uri")); err != nil {
		return q, badRequest{err}
	}
	if via := r.FormValue("via"); via != "" {
		q.Via, bad = uri.Parse(via)
	}
	if hop := r.FormValue("hop"); hop != "" {
		if q.Hop = uri.Hop(hop[0]); len(hop) != 1 {
			bad = errors.Join(bad, fmt.Errorf("hop %q: want one letter", hop))
		}
	}
	if bad != nil {
		return q, badRequest{bad}
	}
	return q, nil
}
