package feeds

import (
	"net/http"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/evaluators"
)

const (
	// nowWindow is how close to the reading a date must be to be ignored: a page that is generated for each request
	// dates every item with the time of the request.
	nowWindow = time.Minute
	// listedLate is how long after its date an item may appear in a feed, because caches and editors take their time.
	// A wrong time zone is wrong by more.
	listedLate = 10 * time.Minute
	// oneChange is the time within which several changes count as one.
	oneChange = time.Minute
)

// Activity says how often and when a source changed between two readings.
type Activity struct {
	// Changes is the number of changes, at most one per minute. Each new or updated item is a change, with two
	// exceptions: items of one minute count once, and all items of which only the text differs count once. It is zero if
	// the only difference is a date that most items share.
	Changes int
	// Moments are the times of changes, by the dates of items between the two readings, oldest first and at most one per
	// minute. They are as reliable as the dates of the host.
	Moments []time.Time
	// Right is the number of new items that are dated between the two readings. Wrong is the number of new items whose
	// date is impossible: in the future, or so old that the reading before would have listed them. A date counts as
	// neither if it may be the time at which the source was generated. That is so if it is as late as the visit itself,
	// or if all new items or most listed items share it.
	Right, Wrong int
}

// activity returns the changes between a reading at since and this one at now, by the dates of its new and updated
// items. skew is how far the source's clock is behind ours.
func (r Reading) activity(d Document, since, now time.Time, skew time.Duration) Activity {
	if r.First || !r.Any() || since.IsZero() || !now.After(since) {
		return Activity{}
	}
	c := changes{
		since: since, now: now, skew: skew,
		common: d.commonDate(), shared: shareDate(r.New), minutes: map[int64]bool{},
	}
	for _, i := range r.New {
		c.add(i, true)
	}
	for _, i := range r.Updated {
		c.add(i, false)
	}
	return c.activity()
}

// changes counts the changes between two readings.
type changes struct {
	since, now time.Time
	skew       time.Duration
	common     time.Time // the date of most listed items
	shared     bool      // all new items have one date

	minutes map[int64]bool // dates of items, by the source's clock
	undated int            // new items without a date
	edited  bool           // items have another text and the same date
	out     Activity
}

// add counts an item that is new or, if not, updated.
func (c *changes) add(i Item, isNew bool) {
	date := i.Date()
	at := date.Add(c.skew)
	switch {
	case date.IsZero() && isNew:
		c.undated++
		return
	case !isNew && i.hasDate(c.common):
		return
	case !isNew && (date.IsZero() || !at.After(c.since)):
		c.edited = true
		return
	}
	c.minutes[date.Unix()/int64(oneChange/time.Second)] = true
	switch {
	case i.Day && date.Equal(i.Updated), i.hasDate(c.common), c.shared && isNew:
	case at.After(c.now.Add(-nowWindow)) && at.Before(c.now.Add(nowWindow)):
	case at.After(c.now), !at.After(c.since.Add(-listedLate)):
		if isNew {
			c.out.Wrong++
		}
	default:
		if isNew {
			c.out.Right++
		}
		if !at.After(c.since) {
			at = c.since.Add(1)
		}
		c.out.Moments = append(c.out.Moments, at)
	}
}

func (c *changes) activity() Activity {
	out := c.out
	slices.SortFunc(out.Moments, time.Time.Compare)
	out.Moments = slices.CompactFunc(out.Moments, func(a, b time.Time) bool {
		return a.Truncate(oneChange).Equal(b.Truncate(oneChange))
	})
	out.Changes = len(c.minutes) + c.undated
	if c.edited {
		out.Changes++
	}
	if out.Changes > 0 {
		out.Changes = max(min(out.Changes, int(c.now.Sub(c.since)/oneChange)), 1)
	}
	return out
}

// hasDate reports whether the item has the common date of its document. Some sources date all their items again each
// time.
func (i Item) hasDate(common time.Time) bool { return !common.IsZero() && i.Date().Equal(common) }

// shareDate reports whether there are several items and all have the same date.
func shareDate(items []Item) bool {
	return len(items) > 1 && !slices.ContainsFunc(items, func(i Item) bool { return !i.Date().Equal(items[0].Date()) })
}

// commonDate returns the date of most listed items, zero if there is none. It is the time at which the source was
// generated and says nothing about any item.
func (d Document) commonDate() time.Time {
	if len(d.Items) < 2 {
		return time.Time{}
	}
	var common time.Time // the majority vote of Boyer and Moore: a majority, if there is one, remains at the end
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

// pageDates reads from the items of a document when their pages changed.
type pageDates struct {
	common, now time.Time
	skew        time.Duration
}

// pageDates returns the dates of a document that was read at now. skew is how far the source's clock is behind ours.
func (d Document) pageDates(now time.Time, skew time.Duration) pageDates {
	return pageDates{common: d.commonDate(), now: now, skew: skew}
}

// changed returns when the page of an item changed, according to the item. ok is false if its date does not say that.
// Such a date is missing, has no time of day, is in the future or as late as the reading, or is the date of most
// items.
func (p pageDates) changed(i Item) (at time.Time, ok bool) {
	date := i.Date()
	at = date.Add(p.skew)
	if date.IsZero() || i.Day && date.Equal(i.Updated) || date.Equal(p.common) || !at.Before(p.now.Add(-nowWindow)) {
		return time.Time{}, false
	}
	return at, true
}

// maxSkew is the largest difference between two clocks that is corrected. A clock that is further off was never set.
const maxSkew = 24 * time.Hour

// clockSkew returns how far the clock of a server is behind ours, by the Date of an answer that began at now. It is
// zero if there is no Date, or one that differs by more than a day.
func clockSkew(h http.Header, now time.Time) time.Duration {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil || now.Sub(date).Abs() > maxSkew {
		return 0
	}
	return now.Sub(date)
}

// changedAt returns when a changed page changed, according to its headers. It is zero unless Last-Modified is believed
// on the host and had another value before.
func changedAt(v *aspects.Visit) time.Time {
	r, got, filter := v.Record(), v.Capture, v.Request.Filter
	before, now := r.Validators.LastModified, evaluators.ValidatorsOf(got.Header).LastModified
	switch {
	case got.Status != http.StatusOK, !r.Validators.CanVouch(r.Status, r.Origin):
	case before == "", before == now:
	case filter.DecideBy == evaluators.Off, filter.Doubted[evaluators.WitnessLastModified]:
	default:
		if at, ok := evaluators.ChangedAt(got.Header, got.Started); ok {
			return at
		}
	}
	return time.Time{}
}
