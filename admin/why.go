package admin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// maxAhead is the maximum count of URIs that come before one.
const maxAhead = 10_000

// why explains the state of a URI.
func (w *Window) why(text string) (api.Why, error) {
	u, err := uri.Parse(text)
	if err != nil {
		return api.Why{}, badRequest{err}
	}
	now := w.o.Now()
	r, ok, err := w.o.Frontier.Get(u)
	if err != nil {
		return api.Why{}, err
	}
	if !ok {
		return api.Why{}, fmt.Errorf("%w; arcrawl why shows whether a rule keeps it out", Unknown(u.String()))
	}
	view, _ := w.o.Frontier.Host(u.Host(), now)
	out := api.Why{URI: uriOf(r, now), Why: r.Why, Chain: r.Chain, Noise: noiseOf(r), Host: w.hostOf(view, now)}
	if r.Failures > 0 {
		out.Hint = misfortune.Hint(r.LastError, r.LastStatus)
	} else if f, yes := w.seedFault(r, atOnce); yes && r.Hops == "" {
		out.Hint = "the seed " + f.what + "; " + f.remedy
	}
	out.Hint = strings.Replace(out.Hint, "--try URI", "--try "+r.URI.String(), 1)
	delay, observed := w.survey.delayOf(u.Host())
	out.Delay, out.Observed = api.Seconds(delay), observed
	if out.Ahead, _, err = w.o.Frontier.CountAhead(u, maxAhead); err != nil {
		return api.Why{}, err
	}
	if out.State, err = w.stateOf(r, now); err != nil {
		return api.Why{}, err
	}
	verdict, err := w.whyNot(whatif.Question{URI: u})
	if err != nil {
		return api.Why{}, err
	}
	out.Rules = slices.DeleteFunc(
		verdict.Rules,
		func(r api.Rule) bool { return r.Rule == "known" },
	) // the answer says it already
	out.Settings = w.settingsOf(r, now)
	w.predictVisit(&out, r, view, now)
	if out.At != nil && view.Failures == 0 && isGate(verdict.Rule) {
		out.Next = "not visited, because it is " + verdict.Out + "; asked again on " + clock(later(r.Due, now))
		out.At = nil
	}
	return out, nil
}

// isGate reports whether a rule that rejects a known URI keeps it from being visited.
func isGate(rule string) bool {
	return rule == "robots.txt" || rule == "names" || rule == "port" || strings.HasPrefix(rule, "scope")
}

// noiseOf returns why a URI differs at each fetch without being new, as second looks found; empty if they did not.
func noiseOf(r frontier.Record) string {
	look, err := evaluators.LookOf(r.Look)
	if err != nil {
		return ""
	}
	return look.Noise(evaluators.Ring{})
}

// settingsOf returns the settings of the next visit that are set in a file.
func (w *Window) settingsOf(r frontier.Record, now time.Time) []api.Setting {
	out := []api.Setting{}
	about := config.About{URI: r.URI, Hops: r.Hops, ContentType: r.ContentType, Now: later(now, r.Due)}
	for _, s := range w.o.Config().Config.Effective(about) {
		if s.File != "" {
			out = append(out, api.Setting{Key: s.Key, Value: s.Value, Origin: s.Origin()})
		}
	}
	return out
}

// stateOf returns the state of a URI. It asks the frontier, because the record does not contain claims and holds.
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

// predictVisit fills in the next visit, or what prevents it.
func (w *Window) predictVisit(out *api.Why, r frontier.Record, h frontier.HostView, now time.Time) {
	stand := w.o.Crawler.Status()
	switch {
	case out.State == "in progress":
		out.Next = "it is being visited now"
		return
	case out.State == "held":
		out.Next = "not visited: held by an operator; release it with: arcrawl release " + r.URI.String()
		return
	case out.State == "on demand":
		out.Next = "visited when other URIs of its host need it"
		return
	case !h.Paused.IsZero():
		out.Next = fmt.Sprintf(
			"not visited: its host is held since %s; release it with: arcrawl release %s",
			clock(h.Paused),
			h.Host,
		)
		return
	case stand.Paused != "" && stand.Until.IsZero():
		out.Next = "not visited: the crawl is paused (" + stand.Paused + "); resume it with: arcrawl resume"
		return
	case stand.Held != "":
		out.Next = "not visited: the crawl has stopped (" + stand.Held + ")"
		return
	}
	from := later(now, later(h.Rest, stand.Until))
	queue := time.Duration(float64(out.Ahead) * float64(out.Delay) / float64(max(h.Slots, 1)))
	at := later(r.Due, from.Add(queue))
	out.At = api.Moment(at)
	out.Next = w.nextText(r, h, out, at, now)
}

// nextText describes the next visit in words.
func (w *Window) nextText(r frontier.Record, h frontier.HostView, out *api.Why, at, now time.Time) string {
	said := "visited about " + clock(at)
	switch {
	case out.State == "waiting" && at.Equal(r.Due):
		said = fmt.Sprintf("due %s, in %s, and visited soon after", clock(at), human.About(at.Sub(now)))
	case h.Rest.After(now):
		said += fmt.Sprintf(": its host rests until %s", clock(h.Rest))
	case out.Ahead > 0:
		said += fmt.Sprintf(": after %s of its host, one every %s", human.Count(out.Ahead, "URI"),
			human.About(time.Duration(out.Delay)/time.Duration(max(h.Slots, 1))))
	default:
		said = "next on its host"
	}
	if h.Failures > 0 {
		said += fmt.Sprintf("; the host was unreachable at the %s%s", human.Last(h.Failures, "visit"),
			because(h.Reason))
	}
	if out.State == "due" && out.Ahead >= crowd {
		said += "; the host has more due URIs than it can serve and prefers those that have probably changed, so this may be sooner or later"
	}
	copied, ok, err := w.o.Frontier.Robots(r.URI.Origin())
	if err == nil && (!ok || !at.Before(copied.Expires)) {
		said += "; robots.txt is fetched first"
	}
	return said
}

// crowd is the number of due URIs from which a host orders them by the value of a visit.
const crowd = 4

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// clock returns a time for people, in UTC.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") }

// whyNot returns what keeps a URI out.
func (w *Window) whyNot(q whatif.Question) (api.WhyNot, error) {
	now := w.o.Now()
	reasons, err := whatif.Explain(w.o.Config().Config, w.o.Frontier, w.o.Traps, q, now)
	if err != nil {
		return api.WhyNot{}, err
	}
	out := WhyNot(q.URI.String(), reasons)
	_, out.Known, err = w.o.Frontier.Get(q.URI)
	view, _ := w.o.Frontier.Host(q.URI.Host(), now)
	switch {
	case err != nil || out.Out != "":
	case !view.Paused.IsZero():
		out.Out = "not visited: its host is held by an operator since " + clock(view.Paused)
	case !out.Known:
		out.Out = "never found: no visited page contains it, and no rule keeps it out; add it with: arcrawl seeds add"
	}
	return out, err
}
