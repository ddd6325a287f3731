package spaces

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of what one visit does and records about traps.
const (
	maxWork       = 4 << 20 // bytes of the page's links that are compared with patterns; it takes up to half a second
	maxKeptOfTrap = 100     // URIs of each trap that stay in the frontier, for the case that the curator releases it
	maxIDContent  = 2 << 20 // bytes of a page that are compared without ids
)

// sharedNotFound is the kind of block of a page that is the same for every URI of the host.
const sharedNotFound = evaluators.NotFound + "shared"

// Options say whether endless spaces of URIs are detected.
type Options struct {
	Detect bool          // detect traps and keep them out
	Wait   time.Duration // until a known URI of a trap is checked again
}

// DefaultOptions returns the options that apply where no file sets anything.
func DefaultOptions() Options { return Options{Detect: true, Wait: 28 * 24 * time.Hour} }

// Aspect keeps URIs of endless spaces out.
type Aspect struct {
	Options  aspects.Options[Options]
	Store    *Store
	Frontier *frontier.Frontier
	Log      zerolog.Logger
}

// finding holds the findings of a visit about endless spaces.
type finding struct {
	page     *Page // nil = it was not read
	keptOut  []keptOut
	untested int // candidates that were not compared with traps, because that was too much work

	lastHost    uri.Host // the host that was last looked up in the store of traps
	unsuspected bool     // whether that host has no traps and no suspected ones
}

// Admit refuses a URI that is part of a trap, or has to wait for the budget of its pattern.
func (a *Aspect) Admit(v *aspects.Visit) (admitted aspects.Admission, err error) {
	r, o := v.Record(), a.Options(v)
	if v.IsPrerequisite() || r.Hops == "" || !o.Detect {
		return admitted, nil // a seed is never part of a trap
	}
	t, ok, err := a.Store.Judge(r.URI, uri.FromCanonical(r.Via), r.Hops, v.Began)
	switch {
	case err != nil:
		return admitted, err
	case ok && t.Suspect:
		return refuse(min(SuspectWait, o.Wait), Suspect), nil
	case ok:
		return refuse(o.Wait, t.Kind.String()), nil
	}
	_, wait, held, err := a.Store.Hold(Wanted{
		URI: r.URI, Via: uri.FromCanonical(r.Via), Hops: r.Hops, First: r.Visits == 0, Now: v.Began,
	}, true)
	if err != nil || !held {
		return admitted, err
	}
	return refuse(min(wait, o.Wait), Budget), nil
}

func refuse(wait time.Duration, kind string) aspects.Admission {
	return aspects.Admission{Refused: &aspects.Refusal{
		Status: aspects.StatusOutOfScope, Wait: wait, Why: RefusedByTrap + kind,
	}}
}

// Judge fails a visit whose changed answer is the page with which the host says "not found".
func (a *Aspect) Judge(_ context.Context, v *aspects.Visit) (done bool, err error) {
	judged := v.Verdict.State == evaluators.Changed && !v.IsRobots && v.Block == ""
	if !judged || !a.Options(v).Detect || v.Capture.Status != http.StatusOK || !v.Capture.IsHTML() {
		return false, nil
	}
	shared, err := a.Store.IsNotFound(v.URI().Host(), v.Capture.PayloadDigest)
	if err != nil {
		return false, fmt.Errorf("look up whether %s is the \"not found\" page of its host: %w", v.URI(), err)
	}
	if shared {
		v.Block, v.Gone = sharedNotFound, true
		v.Fail(v.Block)
	}
	return false, nil
}

// IsOutside reports whether it is certain that a URI is not part of a trap.
func (a *Aspect) IsOutside(v *aspects.Visit, u uri.URI) (bool, error) {
	if !a.Options(v).Detect {
		return true, nil
	}
	f := aspects.Of[finding](v)
	if h := u.Host(); h != f.lastHost {
		unsuspected, err := a.Store.NoneSuspected(h)
		if err != nil {
			return false, err
		}
		f.lastHost, f.unsuspected = h, unsuspected
	}
	return f.unsuspected && !MayRepeat(u), nil
}

// Read notes what a page shows, for the search for traps. Then it removes the candidates that are part of a trap.
func (a *Aspect) Read(_ context.Context, v *aspects.Visit) error {
	if v.Found.Page == nil || !a.Options(v).Detect {
		return nil
	}
	if err := a.observe(v); err != nil {
		return err
	}
	return a.removeTrapped(v)
}

func (a *Aspect) observe(v *aspects.Visit) error {
	got := v.Capture
	if v.IsRobots || got.Status != http.StatusOK || v.Block != "" && v.Block != sharedNotFound {
		return nil
	}
	g := &Page{
		URI: v.URI(), Via: uri.FromCanonical(v.Record().Via), Hops: v.Record().Hops, First: v.Verdict.First,
		HTML: got.IsHTML(), Now: v.Finished,
	}
	a.addLinks(g, v)
	hasID := g.HTML && HasID(g.URI.RequestTarget())
	if hasID || hasArgs(g.URI.RequestTarget()) || g.HTML && len(linksToTwin(g)) > 0 {
		text, err := readBeginning(got)
		if err != nil {
			return err
		}
		if hasID {
			g.Sum = SumWithoutIDs(text)
		}
		g.Content = text[:min(len(text), maxContent)]
	}
	if g.HTML || g.Content != nil {
		aspects.Of[finding](v).page = g
	}
	return nil
}

// addLinks adds the links that a visit found. The crawl is asked which of them it knows only for a first visit inside a
// pattern.
func (a *Aspect) addLinks(g *Page, v *aspects.Visit) {
	links := v.Found.Page.Links
	g.Links = make([]Link, len(links))
	for i, l := range links {
		g.Links[i] = Link{URI: l.URI, Page: l.Hop == uri.Link}
	}
	if !g.First || !isInside(g.URI, g.Via) {
		return
	}
	us, known := make([]uri.URI, len(links)), make([]bool, len(links))
	for i, l := range links {
		us[i] = l.URI
	}
	a.Frontier.RecentlyKnown(us, known)
	for i := range g.Links {
		g.Links[i].Known = known[i]
	}
}

// readBeginning returns the content, or as much of it as is compared without ids.
func readBeginning(got *fetch.Capture) ([]byte, error) {
	content, err := got.Content()
	if err != nil {
		return nil, err
	}
	defer content.Close()
	text, err := io.ReadAll(io.LimitReader(content, maxIDContent))
	if fetch.IsIncomplete(err) {
		err = nil
	}
	return text, err
}

// removeTrapped removes the candidates that are part of a trap. The first ones of each trap stay, with a long wait. The
// candidates that are left when the work of a page is done stay too, because [Aspect.Admit] judges each when it is due.
func (a *Aspect) removeTrapped(v *aspects.Visit) error {
	now, wait, f := v.Finished, a.Options(v).Wait, aspects.Of[finding](v)
	rest, work := v.Found.Candidates[:0], 0
	for _, cand := range v.Found.Candidates {
		if work >= maxWork {
			f.untested++
			rest = append(rest, cand)
			continue
		}
		l := newLink(cand.URI, uri.FromCanonical(cand.Via), cand.Hops)
		t, ok, err := a.Store.judge(l, now)
		if err != nil {
			return err
		}
		work += l.work
		if !ok || t.Suspect || cand.Hops == "" {
			if err := a.holdBack(&cand, wait, now); err != nil {
				return err
			}
			rest = append(rest, cand)
			continue
		}
		if f.keepOut(t, cand.URI)+t.Kept <= maxKeptOfTrap {
			cand.Due, cand.Urgent, cand.Sooner = now.Add(wait), false, false
			rest = append(rest, cand)
		}
	}
	v.Found.Candidates = rest
	return nil
}

// holdBack lets a candidate wait for the budget of its pattern.
func (a *Aspect) holdBack(cand *frontier.Candidate, longest time.Duration, now time.Time) error {
	wait, held, err := a.HoldFound(Wanted{
		URI: cand.URI, Via: uri.FromCanonical(cand.Via), Hops: cand.Hops, Now: now,
	})
	if err == nil && held && !cand.Urgent {
		cand.Due = now.Add(min(wait, longest))
	}
	return err
}

// Note appends how many links of a page were not compared with traps.
func (*Aspect) Note(v *aspects.Visit, notes []string) []string {
	if n := aspects.Of[finding](v).untested; n > 0 {
		notes = append(notes, untested+strconv.Itoa(n))
	}
	return notes
}

// untested begins the annotation of [Aspect.Note].
const untested = "trapsUntested:"

// Meanings returns what the annotations of the aspect mean in words.
func Meanings() []crawllog.Meaning {
	return []crawllog.Meaning{
		{Annotation: untested, Say: crawllog.Counted("%s not compared with traps before they are due", "link")},
		{Annotation: RefusedByTrap, Say: func(kind string) string { return "it may be endless or repeating: " + kind }},
	}
}

// Forget drops what the visit found, because the document could not be processed.
func (f *finding) Forget() { *f = finding{} }

// Learn stores the findings of a visit about traps. After a crash before the settlement, it is stored once more.
func (a *Aspect) Learn(v *aspects.Visit) error {
	if !a.Options(v).Detect {
		return nil
	}
	h, f, now := v.URI().Host(), aspects.Of[finding](v), v.Finished
	for _, out := range f.keptOut {
		if err := a.Store.CountKeptOut(out.trap, now, out.uris...); err != nil {
			return err
		}
	}
	if f.page != nil {
		found, refuted, err := a.Store.Learn(*f.page)
		if err == nil {
			err = a.release(h, refuted, now)
		}
		if err == nil {
			err = a.take(h, found, now)
		}
		if err != nil {
			return err
		}
	}
	found, err := a.learnSharedAnswer(v)
	if err != nil {
		return err
	}
	return a.take(h, found, now)
}

// learnSharedAnswer records that a new page is, byte for byte, the page of another URI of the host.
func (a *Aspect) learnSharedAnswer(v *aspects.Visit) ([]Trap, error) {
	isPage := !v.Failed && !v.IsRobots && v.Capture.Status == http.StatusOK && v.Capture.IsHTML()
	if !isPage || !v.Capture.Complete || !v.Verdict.First || v.Kept.Keeping != aspects.KeptRevisit {
		return nil, nil
	}
	other := uri.FromCanonical(v.Kept.Origin.URI)
	if other.IsZero() || other == v.URI() || other.Host() != v.URI().Host() {
		return nil, nil
	}
	return a.Store.LearnShared(v.Capture.PayloadDigest, v.Record().Hops == "", v.Finished, v.URI(), other)
}

// keptOut lists the URIs on a page that are part of one trap.
type keptOut struct {
	trap Trap
	uris []uri.URI
}

// keepOut records a URI that is kept out, and returns how many URIs of its trap this page names so far.
func (f *finding) keepOut(trap Trap, u uri.URI) int64 {
	for i := range f.keptOut {
		if k := &f.keptOut[i]; k.trap.Kind == trap.Kind && k.trap.Pattern == trap.Pattern {
			k.uris = append(k.uris, u)
			return int64(len(k.uris))
		}
	}
	f.keptOut = append(f.keptOut, keptOut{trap, []uri.URI{u}})
	return 1
}

// take logs traps that have become certain, and lets the URIs take their names.
func (a *Aspect) take(h uri.Host, found []Trap, now time.Time) error {
	for _, t := range found {
		a.Log.Warn().Str("host", string(h)).Str("kind", t.Kind.String()).Str("pattern", t.Pattern).
			Str("why", t.Why).Strs("examples", t.Examples).
			Msg("found a trap: its URIs are not visited; arcrawl traps shows and releases it")
		if t.Kind != Parameter {
			continue
		}
		if err := a.name(t, h, now); err != nil {
			return err
		}
	}
	return nil
}

// maxNamed is the number of visited URIs that take their names at once when a parameter is found to say nothing, and
// namedAtOnce the number that are read in one step.
const (
	maxNamed    = 2000
	namedAtOnce = 500
)

// name lets the visited URIs with a parameter take their names, so that no page is visited a second time under another
// value of the parameter.
func (a *Aspect) name(t Trap, h uri.Host, now time.Time) error {
	match, err := regexp.Compile(t.Pattern)
	if err != nil {
		return fmt.Errorf("name the URIs of %s by the trap %q: %w", h, t.Pattern, err)
	}
	selected := frontier.Selection{Host: string(h), Match: match}
	from := frontier.Cursor("")
	for seen := 0; seen < maxNamed; {
		list, next, err := a.Frontier.List(now, selected, from, namedAtOnce)
		for _, e := range list {
			if seen++; e.Visits == 0 || err != nil {
				continue
			}
			_, err = a.Frontier.VisitedFor(e.Record)
		}
		if from = next; err != nil || next == "" {
			return err
		}
	}
	return nil
}

// release makes the URIs due that were kept out by traps that were refuted.
func (a *Aspect) release(h uri.Host, refuted []Trap, now time.Time) error {
	for _, t := range refuted {
		due, err := Release(a.Frontier, a.Store, h, t.Pattern, now)
		if err != nil {
			return err
		}
		a.Log.Warn().Str("host", string(h)).Str("kind", t.Kind.String()).Str("pattern", t.Pattern).Int64("due", due).
			Msg("released a trap: its pages are real, because they are listed elsewhere")
	}
	return nil
}

// Vouch notes that the pages that a feed or sitemap lists are real.
func (a *Aspect) Vouch(v *aspects.Visit, listed []uri.URI) error {
	if !a.Options(v).Detect {
		return nil
	}
	for len(listed) > 0 {
		h, n := listed[0].Host(), 1
		for n < len(listed) && listed[n].Host() == h {
			n++
		}
		refuted, err := a.Store.AddListed(h, v.Finished, listed[:n]...)
		if err == nil {
			err = a.release(h, refuted, v.Finished)
		}
		if err != nil {
			return err
		}
		listed = listed[n:]
	}
	return nil
}

// HoldFound reports whether a URI that a page names has to wait for the budget of its pattern, and for how long. A URI
// that the crawl knows is judged when it is due, and not here.
func (a *Aspect) HoldFound(w Wanted) (wait time.Duration, held bool, err error) {
	w.First, w.Found = true, true
	if _, _, held, err = a.Store.Hold(w, false); err != nil || !held {
		return 0, false, err
	}
	if _, known, err := a.Frontier.Get(w.URI); err != nil || known {
		return 0, false, err
	}
	_, wait, held, err = a.Store.Hold(w, true)
	return wait, held, err
}
