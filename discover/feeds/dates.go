package feeds

import (
	"slices"
	"time"
)

const (
	// justNow is how young a date must not be to be taken for a time: pages that are made for each request date all they say then.
	justNow = time.Minute
	// ListedLate is how long after its date an entry may appear in a feed, since caches and editors take their time. A wrong zone is
	// wrong by more.
	ListedLate = 10 * time.Minute
	// together is the time in which what changes counts as one change.
	together = time.Minute
)

// Activity is what a reading tells of how often and when its source changed since the reading before.
type Activity struct {
	// Changes is how many times it changed: once for each new or updated entry, but only once for those with one date, and for
	// those whose text alone is another. It is not more than one a minute. Zero is that nothing is new but a date that most entries
	// have.
	Changes int
	// Moments are those of them that new and updated entries date between the two readings, oldest first, each minute once. They
	// are worth what the dates of the host are worth.
	Moments []time.Time
	// Right and Wrong are how many new entries have a date between the two readings, and how many have one that they cannot have: it
	// lies ahead, or so far back that they would have been listed before. A date proves nothing that is as good as that of the
	// visit, or shared by all new entries or by most that are listed, as of when they were put together.
	Right, Wrong int
}

// Activity looks at the dates of what is new, between a reading at since and one at now. The source's clock is behind that of the
// times by so much.
func (r Reading) Activity(d Document, since, now time.Time, behind time.Duration) Activity {
	var out Activity
	if r.First || !r.Any() || since.IsZero() || !now.After(since) {
		return out
	}
	made, same := d.commonDate(), shared(r.New)
	minutes := map[int64]bool{}
	undated, edited := 0, false
	take := func(i Item, isNew bool) {
		date := i.Date()
		at := date.Add(behind)
		switch {
		case date.IsZero() && isNew:
			undated++
			return
		case !isNew && restamped(i, made):
			return
		case !isNew && (date.IsZero() || !at.After(since)):
			edited = true // its text is another
			return
		}
		minutes[date.Unix()/int64(together/time.Second)] = true
		switch {
		case i.Day && date.Equal(i.Updated), restamped(i, made), same && isNew, at.After(now.Add(-justNow)) && at.Before(now.Add(justNow)):
		case at.After(now), !at.After(since.Add(-ListedLate)):
			if isNew {
				out.Wrong++
			}
		default:
			if isNew {
				out.Right++
			}
			if !at.After(since) {
				at = since.Add(1)
			}
			out.Moments = append(out.Moments, at)
		}
	}
	for _, i := range r.New {
		take(i, true)
	}
	for _, i := range r.Updated {
		take(i, false)
	}
	slices.SortFunc(out.Moments, time.Time.Compare)
	out.Moments = slices.CompactFunc(out.Moments, func(a, b time.Time) bool { return a.Truncate(together).Equal(b.Truncate(together)) })
	out.Changes = len(minutes) + undated
	if edited {
		out.Changes++
	}
	if out.Changes > 0 {
		out.Changes = max(min(out.Changes, int(now.Sub(since)/together)), 1)
	}
	return out
}

// restamped reports whether the date of an item is that of when the items were put together: some sources date all they list anew
// each time.
func restamped(i Item, made time.Time) bool { return !made.IsZero() && i.Date().Equal(made) }

// shared reports whether several items have the same date.
func shared(items []Item) bool {
	return len(items) > 1 && !slices.ContainsFunc(items, func(i Item) bool { return !i.Date().Equal(items[0].Date()) })
}

// commonDate is the date that most of the listed items have, which is then when somebody put them together, and says nothing of any
// of them; zero if there is none.
func (d Document) commonDate() time.Time {
	if len(d.Items) < 2 {
		return time.Time{}
	}
	var common time.Time // Boyer and Moore: if there is a majority, it is what is left
	votes := 0
	for _, i := range d.Items {
		switch date := i.Date(); {
		case votes == 0:
			common, votes = date, 1
		case date.Equal(common):
			votes++
		default:
			votes--
		}
	}
	n := 0
	for _, i := range d.Items {
		if i.Date().Equal(common) {
			n++
		}
	}
	if 2*n <= len(d.Items) {
		return time.Time{}
	}
	return common
}

// PageDates is what the items of a document say of when their pages changed.
type PageDates struct {
	made, now time.Time
	behind    time.Duration
}

// PageDates is that of a document that was read at now, by the clock that the source's is behind by so much.
func (d Document) PageDates(now time.Time, behind time.Duration) PageDates {
	return PageDates{made: d.commonDate(), now: now, behind: behind}
}

// Changed is when an item says that its page changed; ok is false where that says nothing: there is no date, or a day without a
// time, or one that lies ahead, is as good as that of the reading, or the one that most items have.
func (w PageDates) Changed(i Item) (at time.Time, ok bool) {
	date := i.Date()
	at = date.Add(w.behind)
	if date.IsZero() || i.Day && date.Equal(i.Updated) || date.Equal(w.made) || !at.Before(w.now.Add(-justNow)) {
		return time.Time{}, false
	}
	return at, true
}
