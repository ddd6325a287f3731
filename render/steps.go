package render

import (
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/render/chromium"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	maxLists   = 1000 // pages whose lists are remembered
	maxEntries = 2000 // of a list
)

// stepsOf returns the steps of settings for the browser.
func stepsOf(all []config.Step) []chromium.Step {
	steps := make([]chromium.Step, len(all))
	for i, s := range all {
		steps[i] = chromium.Step(s)
	}
	return steps
}

// listsOf returns the entries of the lists of a page that earlier renderings have captured, by the names of the steps.
func (l *Pool) listsOf(u uri.URI) map[string]chromium.Entries {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lists[u]
}

// noteSteps logs the steps of a rendering, and remembers the entries of lists that were clicked through. If a request
// was not answered in time, a part of a list may be missing, and the next rendering asks for it again.
func (v *view) noteSteps(done []chromium.Done) {
	whole := map[string]chromium.Entries{}
	for _, d := range done {
		v.l.p.Log.Debug().Str("uri", v.page.uri.String()).Str("step", d.Step).Int("times", d.Times).
			Int("requests", d.Requests).Dur("took", d.Took.Round(time.Millisecond)).Str("ended", d.Ended).
			Msg("did a step of a rendering")
		if len(d.Entries.Sums) > 0 && !v.partial.Load() {
			whole[d.Step] = d.Entries
		}
	}
	if len(whole) > 0 {
		v.l.rememberLists(v.page.uri, whole)
	}
}

// rememberLists adds entries to the lists of a page. Of too many, the oldest are forgotten.
func (l *Pool) rememberLists(u uri.URI, found map[string]chromium.Entries) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known := l.lists[u]
	for other := range l.lists { // any: a page that is forgotten is clicked through once more
		if known || len(l.lists) < maxLists {
			break
		}
		delete(l.lists, other)
	}
	all := map[string]chromium.Entries{}
	for step, e := range before {
		all[step] = e
	}
	for step, e := range found {
		all[step] = e.Before(before[step], maxEntries)
	}
	l.lists[u] = all
}
