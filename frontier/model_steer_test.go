package frontier_test

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// This file has the operator's moves for the model.

// selection returns a random selection, and a function that reports whether a URI is selected.
func (p *play) selection() (s frontier.Selection, meant func(text string, u *modelURI) bool) {
	tests := []func(text string, u *modelURI) bool{}
	if p.IntN(3) == 0 {
		s.Host = []string{"h0.example", "*.example", "*.h1.example", "none.example"}[p.IntN(4)]
		tests = append(tests, func(text string, _ *modelURI) bool {
			return frontier.HostMatches(s.Host, uri.FromCanonical(text).Host())
		})
	}
	if p.IntN(3) == 0 {
		s.Prefix = []string{"http://h1.example/", "https", "http://h2.example/1"}[p.IntN(3)]
		tests = append(tests, func(text string, _ *modelURI) bool { return strings.HasPrefix(text, s.Prefix) })
	}
	if p.IntN(3) == 0 {
		s.Match = regexp.MustCompile(`[0-4]$`)
		tests = append(tests, func(text string, _ *modelURI) bool { return s.Match.MatchString(text) })
	}
	if p.IntN(4) == 0 {
		for range p.IntN(5) {
			if u := parse(p, p.text()); !slices.Contains(s.URIs, u) {
				s.URIs = append(s.URIs, u)
			}
		}
		tests = append(tests, func(text string, _ *modelURI) bool {
			return len(s.URIs) == 0 || slices.Contains(s.URIs, uri.FromCanonical(text))
		})
	}
	if p.IntN(2) == 0 {
		s.States = []frontier.State{frontier.States()[p.IntN(len(frontier.States()))]}
		tests = append(tests, func(_ string, u *modelURI) bool { return p.is(s.States[0], u) })
	}
	return s, func(text string, u *modelURI) bool {
		return !slices.ContainsFunc(tests, func(test func(string, *modelURI) bool) bool { return !test(text, u) })
	}
}

func (p *play) is(s frontier.State, u *modelURI) bool {
	switch s {
	case frontier.StateDue:
		return u.waits() && !u.claimed && !u.due.After(millisUp(p.now))
	case frontier.StateWaiting:
		return u.waits() && !u.claimed && u.due.After(millisUp(p.now))
	case frontier.StateOnDemand:
		return u.due.IsZero()
	case frontier.StateInProgress:
		return u.claimed
	case frontier.StateHeld:
		return u.held
	case frontier.StateForbidden:
		return u.forbidden
	case frontier.StateNew:
		return u.visits == 0
	}
	return false // failing, gone: the game has no such visits
}

func (p *play) steer() {
	s, meant := p.selection()
	a := frontier.Action{Verb: frontier.Verbs()[p.IntN(5)], Due: p.now.Add(time.Duration(p.IntN(7200)-3600) * time.Second)}
	if a.Verb == frontier.Forget && p.IntN(3) > 0 {
		a.Verb = frontier.Release
	}
	p.log("%s %+v", a.Verb, s)
	var want frontier.Steered
	for text, u := range p.m.uris {
		if !meant(text, u) {
			continue
		}
		want.Matched++
		if u.claimed && a.Verb != frontier.Hold && a.Verb != frontier.Release {
			want.InProgress++
			continue
		}
		if p.apply(a, text, u) {
			want.Changed++
		}
	}
	var list, count int64
	p.walk(func(from frontier.Cursor) (frontier.Cursor, error) {
		entries, next, err := p.List(p.now, s, from, 1+p.IntN(5))
		list += int64(len(entries))
		return next, err
	})
	p.walk(func(from frontier.Cursor) (frontier.Cursor, error) {
		n, next, err := p.Count(p.now, s, from)
		count += n
		return next, err
	})
	if list != want.Matched || count != want.Matched {
		p.Fatalf("listed %d, counted %d of %+v; want %d", list, count, s, want.Matched)
	}
	if got := p.steerAt(p.now, s, a); got != want {
		p.Fatalf("%s %+v = %+v, want %+v", a.Verb, s, got, want)
	}
}

// apply changes the model as the frontier should change, and reports whether that makes a difference.
func (p *play) apply(a frontier.Action, text string, u *modelURI) bool {
	was := *u
	switch a.Verb {
	case frontier.Hold:
		u.held = true
	case frontier.Release:
		u.held = false
	case frontier.Reschedule:
		u.due = millisUp(a.Due)
	case frontier.Force:
		if now := millisUp(p.now); u.due.IsZero() || u.due.After(now) {
			u.due = now
		}
	case frontier.Forget:
		delete(p.m.uris, text)
		return true
	}
	return !was.due.Equal(u.due) || was.held != u.held
}

// steerAt applies an action to all selected URIs.
func (w *world) steerAt(now time.Time, s frontier.Selection, a frontier.Action) (total frontier.Steered) {
	w.Helper()
	w.walk(func(from frontier.Cursor) (frontier.Cursor, error) {
		done, next, err := w.Steer(now, s, a, from)
		total = total.Plus(done)
		return next, err
	})
	return total
}

func (p *play) steerHosts() {
	pattern := []string{"h0.example", "h1.example", "*.example", "*"}[p.IntN(4)]
	a := frontier.HostAction{
		Verb:  frontier.HostVerbs()[p.IntN(4)],
		Until: p.now.Add(time.Duration(p.IntN(600)-60) * time.Second),
	}
	if a.Verb == frontier.Pause && p.IntN(3) > 0 {
		a.Verb = frontier.Resume
	}
	p.log("%s %s until %s", a.Verb, pattern, a.Until)
	var want int64
	for name, h := range p.m.hosts {
		if !frontier.HostMatches(pattern, name) {
			continue
		}
		want++
		switch a.Verb {
		case frontier.Pause:
			h.paused = true
		case frontier.Resume:
			h.paused = false
		case frontier.Rest:
			if until := millisUp(a.Until); until.After(h.rest) {
				h.rest = until
			}
		case frontier.Wake:
			h.asker = ""
			if now := millisUp(p.now); h.rest.After(now) {
				h.rest = now
			}
			if now := millisUp(p.now); h.asked.After(now) {
				h.asked = now
			}
			h.down = 0
		}
	}
	if got, _, err := p.SteerHosts(p.now, pattern, a); err != nil || got != want {
		p.Fatalf("SteerHosts = %d, %v; want %d", got, err, want)
	}
}

// importSome exports all entries, forgets some of the URIs, and imports the entries again.
func (p *play) importSome() {
	p.log("import")
	list, _, err := p.List(p.now, frontier.Selection{}, "", 1000)
	must(p, err)
	all := len(list)
	gone := 0
	for _, e := range list {
		if e.InProgress || p.IntN(2) == 0 {
			continue
		}
		gone++
		done := p.steerAt(p.now, frontier.Selection{URIs: []uri.URI{e.URI}}, frontier.Action{Verb: frontier.Forget})
		if done.Changed != 1 {
			p.Fatalf("forget %s = %+v", e.URI, done)
		}
	}
	got, err := p.Import(p.now, false, list...)
	if want := (frontier.Imported{New: gone, Known: all - gone}); err != nil || got != want {
		p.Fatalf("Import = %+v, %v; want %+v", got, err, want)
	}
}
