package sim

import (
	"container/heap"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// Word says how true the indexes of hosts are. An index lists all pages of its host, with the time of their last
// change. Each reading is one request. The zero value is no index.
type Word uint8

// The words.
const (
	NoIndex      Word = iota
	TrueIndex         // it lists each change at once
	LateIndex         // it is made every six hours
	LyingIndex        // it says of each page that it changed, once a day
	SilentIndex       // it says of no page that it changed
	PartialIndex      // it says so of every second page only
	TurningIndex      // it is true until the middle of its time, and silent then
)

// String returns the name of the word.
func (w Word) String() string {
	return [...]string{"no", "true", "late", "lying", "silent", "partial", "turning"}[w]
}

const (
	lateEvery   = 6 * time.Hour
	lieEvery    = 24 * time.Hour
	minIndexed  = 3                  // pages of a host that has an index
	readingTime = 10 * time.Second   // from a reading to a visit because of it
	foundMemory = 7 * 24 * time.Hour // after this time nobody asks whether an index lists a change that was found
)

// siteIndex is the index of one host while its histories are played.
type siteIndex struct {
	word     Word
	knob     float64
	from, to time.Time
	pages    tracks
	queue    *tracks
	reader   *track // reads the index
	record   evaluators.Index
}

// listing holds what the index says of a page, and what its reader knows of that. Times are after its start.
type listing struct {
	of      *siteIndex
	known   bool          // it was listed at the last reading
	date    time.Duration // of its last change, as it was listed last; 0 = none
	said    bool          // the index said so after the last visit
	silent  time.Duration // the last reading that did not
	own     time.Duration // its own wait, if it follows the index; 0 = it does not
	changed time.Duration // the last visit that found a change

	found   time.Duration // the visit that found a change that is not listed yet; 0 = none
	before  time.Duration // date at that visit
	next    time.Duration // the first reading after it
	judged  bool          // it counts as left out
	leftOut bool          // the index left out the last change: the page keeps its own waits
}

// Indexed returns the policy on hosts of three pages and more that have an index, on all or on every second one.
func (p Policy) Indexed(w Word, half bool) Policy {
	p.word, p.halfIndexed = w, half
	if p.Name += ", " + w.String() + " index"; half {
		p.Name += " on every second host"
	}
	return p
}

// index returns a queue with the pages of a host and, if it has an index, the reader of it.
func (p Policy) index(pages tracks, knob float64) *tracks {
	queue := slices.Clone(pages)
	if p.word != NoIndex && len(pages) >= minIndexed && !(p.halfIndexed && chance(pages[0].history.Host, 0)%2 == 1) {
		x := &siteIndex{word: p.word, knob: knob, pages: pages, queue: &queue, from: pages[0].due}
		for _, t := range pages {
			t.listing.of = x
			if t.due.Before(x.from) {
				x.from = t.due
			}
			if end := t.history.Start.Add(t.history.Watched); end.After(x.to) {
				x.to = end
			}
		}
		x.reader = &track{history: pages[0].history, tally: pages[0].tally, due: x.from.Add(time.Minute), reads: x}
		queue = append(queue, x.reader)
	}
	for i, t := range queue {
		t.place = i
	}
	heap.Init(&queue)
	return &queue
}

// date returns when a page last changed by the index; 0 if it never did.
func (x *siteIndex) date(t *track, at time.Time) time.Duration {
	h := t.history
	switch x.word {
	case LateIndex:
		at = at.Truncate(lateEvery)
	case LyingIndex:
		phase := time.Duration(chance(h.ID, 0)) % lieEvery
		return at.Add(-phase).Truncate(lieEvery).Add(phase).Sub(h.Start)
	case SilentIndex:
		return 0
	case PartialIndex:
		if chance(h.ID, 1)%2 == 0 {
			return 0
		}
	case TurningIndex:
		if middle := x.from.Add(x.to.Sub(x.from) / 2); at.After(middle) {
			at = middle
		}
	}
	n, _ := slices.BinarySearch(h.Changes, at.Sub(h.Start)+1)
	if n == 0 {
		return 0
	}
	return h.Changes[n-1]
}

// read reads the index, and reports whether another reading follows.
func (x *siteIndex) read(at time.Time) bool {
	x.reader.tally.Requests++
	x.reader.tally.Readings++
	followed, listed := x.record.Followed, 0
	for _, t := range x.pages {
		if t.visited && !t.over {
			listed++
			x.compare(t, at)
		}
	}
	x.record = x.record.AfterReading(at, listed, x.ages(at)).Planned(x.knob)
	x.release(at, followed)
	x.reader.due = at.Add(x.record.Every)
	return x.reader.due.Before(x.to)
}

// ages returns how long ago the pages changed by the index.
func (x *siteIndex) ages(at time.Time) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for _, t := range x.pages {
			l := &t.listing
			if t.visited && !t.over && l.date > 0 && !l.leftOut && !yield(at.Sub(t.history.Start)-l.date) {
				return
			}
		}
	}
}

// compare compares what the index says of a page with the reading before. A page that follows it is due if it changed.
func (x *siteIndex) compare(t *track, at time.Time) {
	l := &t.listing
	now, date := at.Sub(t.history.Start), x.date(t, at)
	moved := l.known && date > l.date
	l.known, l.date = true, max(date, l.date)
	if l.found > 0 {
		x.hear(l, now)
	}
	switch {
	case !moved:
	case date <= t.last: // a visit has seen it
		x.record = x.record.AfterSaid(date <= l.changed, t.expected())
	default:
		if l.said = true; l.own > 0 {
			t.due = at.Add(readingTime)
			heap.Fix(x.queue, t.place)
		}
	}
	if !l.said {
		l.silent = now
	}
}

// expected returns the probability of a change between two visits of a page at its own waits.
func (t *track) expected() float64 { return -math.Expm1(-t.plan.Expected) }

// hear judges at a reading whether the index says of a change that a visit found.
func (x *siteIndex) hear(l *listing, now time.Duration) {
	if l.next == 0 {
		l.next = now
	}
	switch said := l.date > l.before; {
	case said:
		x.record = x.record.AfterLate(now - l.next)
		if !l.judged && !l.leftOut {
			x.record = x.record.AfterHeard(true)
		}
		l.found, l.leftOut = 0, false
	case !l.judged && now-l.found >= x.record.Patience():
		if l.judged = true; !l.leftOut {
			x.record = x.record.AfterHeard(false)
		}
		l.leftOut = true
	case now-l.found > foundMemory:
		l.found = 0
	}
}

// visited learns from a visit to a page, and returns how long the page waits.
func (x *siteIndex) visited(t *track, v Visit, wait time.Duration) time.Duration {
	l, now, changed := &t.listing, v.At.Sub(t.history.Start), v.State == evaluators.Changed
	followed := x.record.Followed
	switch {
	case v.First:
	case l.said:
		x.record = x.record.AfterSaid(changed, t.expected())
	case changed && l.found == 0 && l.known:
		l.found, l.before, l.next, l.judged = now, l.date, 0, false
	}
	if changed {
		l.changed = now
	}
	l.said, l.own, l.silent = false, 0, now
	if longer, follows := x.record.PageWait(wait); follows && !l.leftOut {
		l.own, wait = wait, longer
	}
	x.release(v.At, followed)
	return wait
}

// release returns the pages to their own waits when the index is followed no longer, and reads it when it begins to be.
func (x *siteIndex) release(at time.Time, followed bool) {
	switch next := at.Add(readingTime); {
	case followed == x.record.Followed:
	case !followed && !x.reader.over && x.reader.due.After(next):
		x.reader.due = next
		heap.Fix(x.queue, x.reader.place)
	case followed:
		for _, t := range x.pages {
			l := &t.listing
			own := t.history.Start.Add(t.last + l.own)
			if own.Before(next) {
				own = next
			}
			if l.own > 0 && !t.over && own.Before(t.due) {
				t.due = own
				heap.Fix(x.queue, t.place)
			}
			l.own = 0
		}
	}
}
