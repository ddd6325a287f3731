package chromium

import (
	"context"
	"hash/fnv"
	"slices"

	"github.com/chromedp/cdproto/cdp"
)

// Entries identify the entries of a list that grows under clicks, such as a liveblog. The next rendering of the page
// sees by them where what it shows was captured before.
//
// The entries of such a list follow each other by time. So when the last ones that the page shows are known, all behind
// them are known too: a rendering has clicked through the whole list before. What further clicks request is then
// answered from the archive, or not at all. The addresses of these requests say nothing about that. Some name an entry
// and some a number of pages, and with each new entry the same address has other entries, or they have another one.
type Entries struct {
	List string   // CSS selector of the list
	Sums []uint64 // of the texts of the entries
}

// Before returns the entries with older ones behind them, at most n.
func (e Entries) Before(older Entries, n int) Entries {
	known := make(map[uint64]bool, len(e.Sums))
	for _, sum := range e.Sums {
		known[sum] = true
	}
	e.Sums = slices.Clone(e.Sums)
	for _, sum := range older.Sums {
		if !known[sum] {
			e.Sums = append(e.Sums, sum)
		}
	}
	e.Sums = e.Sums[:min(len(e.Sums), n)]
	return e
}

// lastKnown is the number of entries at the end of a list that must be known. An advertisement may be among them.
const lastKnown = 3

// pressed says what a click did.
type pressed struct {
	Clicked bool   `json:"clicked"`
	Link    string `json:"link"` // it would have led there
	Form    bool   `json:"form"` // it would have submitted a form
	frame   cdp.FrameID
}

// grown is a list that grows, and the texts of its entries.
type grown struct {
	List  string   `json:"list"`
	Texts []string `json:"texts"`
}

// click clicks what a step names as often as it may, while that exists and requests something new. It returns why it
// ended.
func (pg *page) click(ctx context.Context, s Step, d *Done) string {
	before := pg.job.Known[s.Name]
	known := map[uint64]bool{}
	for _, sum := range before.Sums {
		known[sum] = true
	}
	all := Entries{}
	seen := map[uint64]bool{}
	most, grows := max(s.Times, 1), s.Times > 1
	pg.mu.Lock()
	pg.clicks = true
	pg.mu.Unlock()
	for frame := pg.mainFrame(); d.Times < most; {
		if grows {
			pg.note(ctx, frame, before.List, known, &all, seen)
		}
		at := pg.counted()
		p, why := pg.press(ctx, s, d.Times == 0)
		if why != "" {
			return why
		}
		if !p.Clicked {
			if d.Times == 0 {
				return endNone
			}
			d.Entries = all
			return endGone
		}
		frame = p.frame
		d.Times++
		within, end := context.WithTimeout(ctx, clickTime)
		pg.quiet(within, quietTime)
		end()
		if ctx.Err() != nil {
			return endLimit
		}
		switch why := pg.endOf(at, p); why {
		case "":
		case endIdle, endKnown:
			if grows {
				pg.note(ctx, frame, before.List, known, &all, seen)
			}
			d.Entries = all
			return why
		default:
			return why
		}
	}
	return endTimes
}

// endOf returns why a step ends after a click; "" if it continues.
func (pg *page) endOf(before counters, p pressed) string {
	now := pg.counted()
	switch {
	case now.dropped > before.dropped:
		return endRequests
	case now.missing > before.missing:
		return endKnown
	case now.distinct > before.distinct:
		return ""
	case p.Link != "" || now.left > before.left:
		return endLeads
	case p.Form:
		return endForm
	case now.refused > before.refused:
		return endRefused
	}
	return endIdle
}

// press clicks what a step names, in the first frame that has it. The first time, what is clicked may still be on its
// way.
func (pg *page) press(ctx context.Context, s Step, first bool) (p pressed, why string) {
	selectors, texts := s.Click, s.Texts
	if selectors == nil {
		selectors = []string{}
	}
	if texts == nil {
		texts = []string{}
	}
	watch := ""
	if s.Times > 1 {
		watch = "steps.watch(), "
	}
	expression := "(" + watch + "steps.click(" + literal(selectors) + ", " + literal(texts) + "))"
	waiting, end := context.WithTimeout(ctx, appearTime)
	defer end()
	for {
		for i, frame := range pg.frames(ctx) {
			p, err := evaluateIn[pressed](ctx, pg, frame, expression)
			if why := whyOf(err); why != "" && (i == 0 || why == endSelector) {
				return p, why
			}
			if p.Clicked {
				p.frame = frame
				return p, ""
			}
		}
		if !first || !rest(waiting, stepRest) {
			return p, ""
		}
	}
}

// note adds the entries that a frame shows to all, and answers further requests from the archive if the last ones are
// known.
func (pg *page) note(
	ctx context.Context, frame cdp.FrameID, list string, known map[uint64]bool, all *Entries, seen map[uint64]bool,
) {
	g, err := evaluateIn[grown](ctx, pg, frame, "steps.entries("+literal(list)+")")
	if err != nil || len(g.Texts) == 0 {
		return
	}
	all.List = g.List
	sums := make([]uint64, len(g.Texts))
	for i, text := range g.Texts {
		h := fnv.New64a()
		_, _ = h.Write([]byte(text)) // never fails
		sums[i] = h.Sum64()
		if !seen[sums[i]] && len(all.Sums) < maxEntries {
			seen[sums[i]] = true
			all.Sums = append(all.Sums, sums[i])
		}
	}
	last := sums[max(0, len(sums)-lastKnown):]
	for _, sum := range last {
		if !known[sum] {
			return
		}
	}
	pg.mu.Lock()
	pg.storedOnly = true
	pg.mu.Unlock()
}

// maxEntries is the maximum number of entries of a list that are returned.
const maxEntries = 2000

// counters are counters of a page.
type counters struct {
	distinct int // URIs
	refused  int
	dropped  int
	missing  int // requests that only the archive could answer, and that it did not
	left     int // times that the page was to be left
}

// counted returns the counters of the page.
func (pg *page) counted() counters {
	pg.mu.Lock()
	defer pg.mu.Unlock()
	return pg.counters
}
