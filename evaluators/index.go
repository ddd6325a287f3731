package evaluators

import (
	"iter"
	"math"
	"math/bits"
	"slices"
	"time"
)

// Index records what the word of one index has been worth. An index is a document that says when the pages of a host
// changed: a feed or sitemap with dates. While its word is true it is followed: the pages are visited when it says that
// they changed, and their own waits only audit it. The zero value knows nothing. An Index is a value: its methods
// return a new one. It is part of a row: keys are only ever added.
type Index struct {
	// Said counts the pages that the index said had changed: right if a visit found them changed.
	Said Standing `cbor:"1,keyasint,omitempty"`
	// Heard counts the changes that visits found: right if the index had said so, or said so at its next readings. While
	// it is followed only those count that visits found without it.
	Heard Standing `cbor:"2,keyasint,omitempty"`
	// Score is the logarithm of how many times more likely the results in Said are if the index is true than if it knows
	// nothing. It is bounded, so that the last results decide.
	Score float64 `cbor:"3,keyasint,omitempty"`
	// Late is the mean time between the reading after a visit that found a change and the reading that says so.
	Late time.Duration `cbor:"4,keyasint,omitempty"`
	// Followed says that the word of the index is followed.
	Followed bool `cbor:"5,keyasint,omitempty"`

	Read     time.Time `cbor:"6,keyasint,omitempty"` // the last reading
	Readings int       `cbor:"7,keyasint,omitempty"` // number of readings
	// Newest is the time of the last change that it said. Quiet says that it is silent for longer than it should be: then
	// it is not followed, until it says something again.
	Newest time.Time `cbor:"13,keyasint,omitempty"`
	Quiet  bool      `cbor:"14,keyasint,omitempty"`
	// Listed is the number of pages that it listed when Idle was last 0. Idle counts the readings since then that did not
	// raise the score. Reached is the score at the last reading.
	Listed  int     `cbor:"8,keyasint,omitempty"`
	Idle    int     `cbor:"9,keyasint,omitempty"`
	Reached float64 `cbor:"10,keyasint,omitempty"`

	Requests int64 `cbor:"15,keyasint,omitempty"` // since its first reading
	Received int64 `cbor:"16,keyasint,omitempty"` // bytes of their answers, as transferred

	// Grain is how exact its dates are: a day or, with a time of day, zero.
	Grain time.Duration `cbor:"17,keyasint,omitempty"`

	Every time.Duration `cbor:"11,keyasint,omitempty"` // until the next reading
	// News holds the mean number of pages that changed within each span before a reading.
	News [indexSpans]float64 `cbor:"12,keyasint,omitempty"`
}

// indexSpans is the number of spans of [Index].News. The first is 5 minutes, each next one twice as long.
const indexSpans = 14

func indexSpan(i int) time.Duration { return 5 * time.Minute << i }

const (
	// AuditTimes is how many times longer the wait of a page is while its index is followed.
	AuditTimes = 8

	indexTruth  = 0.95 // share of right statements of a true index
	scoreProof  = 3    // at which an index begins to be followed; it ends at zero
	scoreBound  = 6    // of the score, in both directions
	heardProof  = 8    // found changes that must be known before an index is followed
	heardWindow = 12   // the last found changes decide
	heardEarned = 1    // of these, how many an index may leave out to begin
	heardLost   = 4    // of these, how many left out end it

	maxQuiet = 4              // pages that usually change in a time in which the index may say nothing
	minQuiet = 12 * time.Hour // a night

	newsMemory = 7 * 24 * time.Hour // a reading fades from News in this time
	// maxReadingWaits is how long the wait of an index may be, in own waits of a page that follows it. A page that changes
	// faster keeps its own waits.
	maxReadingWaits = 1.5

	firstIndexWait, maxIndexWait = 12 * time.Hour, 28 * 24 * time.Hour

	lateWeight               = 0.2 // of a new delay in Late
	latePatience             = 2   // delays after which an index that says nothing is wrong
	minPatience, maxPatience = 30 * time.Minute, 24 * time.Hour
)

// AfterSaid returns the record after a visit to a page that the index said had changed. expected is the probability of
// a change by the page's own rate: what was expected anyway proves little.
func (x Index) AfterSaid(changed bool, expected float64) Index {
	expected = min(max(expected, 0.01), 0.99)
	proof := math.Log(indexTruth / expected)
	if !changed {
		proof = math.Log((1 - indexTruth) / (1 - expected))
	}
	if x.Said = x.Said.counted(changed); changed && !x.Followed {
		x.Heard = x.Heard.counted(true) // all changes count until audits are rare
	}
	x.Score = min(max(x.Score+proof, -scoreBound), scoreBound)
	return x.judged()
}

// AfterHeard returns the record after it is known whether the index said of a change that a visit had found without it.
func (x Index) AfterHeard(said bool) Index {
	x.Heard = x.Heard.counted(said)
	return x.judged()
}

// AfterLate returns the record after the index said of such a change, this long after its next reading.
func (x Index) AfterLate(late time.Duration) Index {
	x.Late += time.Duration(lateWeight * float64(late-x.Late))
	return x
}

// Unfollowed returns the record of an index that is no longer there.
func (x Index) Unfollowed() Index {
	x.Followed, x.Score, x.Idle = false, 0, 0
	x.Heard.Known = 0
	return x
}

// Useless reports whether the index says nothing that was not expected anyway.
func (x Index) Useless() bool { return x.Score <= -scoreProof }

// counted returns s after one more statement.
func (s Standing) counted(right bool) Standing {
	if right {
		s.ChangeRight++
	} else {
		s.ChangeWrong++
	}
	return s.predicted(right)
}

// judged decides whether the index is followed.
func (x Index) judged() Index {
	was, left := x.Followed, bits.OnesCount64(x.Heard.Recent&(1<<heardWindow-1))
	if was {
		x.Followed = !x.Quiet && x.Score > 0 && left < heardLost
	} else {
		x.Followed = !x.Quiet && x.Score >= scoreProof && left <= heardEarned && x.Heard.Known >= heardProof
	}
	if was != x.Followed {
		x.Idle = 0
	}
	return x
}

// AfterReading returns the record after a reading. listed is the number of pages, and ages says how long ago those
// changed that have a date.
func (x Index) AfterReading(now time.Time, listed int, ages iter.Seq[time.Duration]) Index {
	var news [indexSpans]float64
	for age := range ages {
		if at := now.Add(-age); at.After(x.Newest) {
			x.Newest = at
		}
		for i := indexSpans - 1; i >= 0 && age < indexSpan(i); i-- {
			news[i]++
		}
	}
	share := 1.0
	if x.Readings++; x.Readings > 1 {
		share = max(1/float64(x.Readings), -math.Expm1(-float64(now.Sub(x.Read))/float64(newsMemory)))
	}
	for i := range news {
		x.News[i] += share * (news[i] - x.News[i])
	}
	if x.Read = now; x.Score <= x.Reached {
		x.Idle++
	}
	x.Reached = x.Score
	if listed >= 2*x.Listed {
		x.Listed, x.Idle = listed, 0
	}
	x.Quiet = x.isQuiet(now)
	return x.judged()
}

// isQuiet reports whether the index has said nothing for a time in which it usually says that several pages changed.
func (x Index) isQuiet(now time.Time) bool {
	for i, pages := range x.News {
		if pages >= maxQuiet {
			return now.Sub(x.Newest) > max(indexSpan(i), minQuiet)
		}
	}
	return false
}

// Planned returns the record with the wait until the next reading, where pages are visited each time that a number of
// changes is expected. Of an index that is followed it is the wait in which most versions are captured for the visits:
// the reading, and a visit to each page that it reports. Other indexes are read less and less often.
func (x Index) Planned(expectedChanges float64) Index {
	if x.Every = maxIndexWait; !x.Followed {
		if x.Idle < 8 {
			x.Every = min(firstIndexWait<<x.Idle, maxIndexWait)
		}
		return x
	}
	price := 1 - math.Exp(-expectedChanges)*(1+expectedChanges) // versions that one more visit captures elsewhere
	best := math.Inf(-1)
	for i := range 2*indexSpans - 1 {
		span, n := float64(indexSpan(i/2)), x.News[i/2]
		if i%2 == 1 {
			span, n = span*math.Sqrt2, (n+x.News[i/2+1])/2
		}
		if worth := ((x.Said.Precision()-price)*n - price) / span; worth > best {
			best, x.Every = worth, min(time.Duration(span), maxIndexWait)
		}
	}
	return x
}

// PageWait returns how long a page waits that has this wait of its own, and whether it is longer because the index says
// when the page changes.
func (x Index) PageWait(own time.Duration) (wait time.Duration, follows bool) {
	if !x.Followed || float64(max(x.Every, x.Grain)) > maxReadingWaits*float64(own) {
		return own, false
	}
	return AuditTimes * own, true
}

// Patience returns how long after a visit that found a change the index may still say so.
func (x Index) Patience() time.Duration {
	if !x.Followed {
		return maxPatience
	}
	return min(max(latePatience*x.Late, minPatience), maxPatience)
}

// HostIndex is an index of a host, with the changes that visits have found and that it may still report.
type HostIndex struct {
	URI string `cbor:"20,keyasint"`
	Index
	Found []FoundChange `cbor:"21,keyasint,omitempty"`
}

// FoundChange is a change that a visit found without the index. Times are in seconds since 1970.
type FoundChange struct {
	Page     uint64 `cbor:"1,keyasint"`           // a hash of its URI
	Before   int64  `cbor:"2,keyasint"`           // the capture before
	At       int64  `cbor:"3,keyasint"`           // the visit
	Next     int64  `cbor:"4,keyasint,omitempty"` // the first reading after it; 0 = none yet
	LeftOut  bool   `cbor:"5,keyasint,omitempty"` // it counts as left out
	Excluded bool   `cbor:"6,keyasint,omitempty"` // the index had left out a change of the page before: nothing is counted
}

const (
	maxFound    = 32                 // changes that wait for an index
	foundMemory = 7 * 24 * time.Hour // after which an index that did not report a change never will
)

// WithFound returns the index with one more change to report.
func (h HostIndex) WithFound(c FoundChange) HostIndex {
	waits := slices.ContainsFunc(h.Found, func(o FoundChange) bool { return o.Page == c.Page })
	if !waits && len(h.Found) < maxFound {
		h.Found = append(slices.Clone(h.Found), c)
	}
	return h
}

// AfterAsking returns the index after a reading at which date says when pages changed last by the index; the zero time
// stands for a page that it does not list. A date that is later after the visit than the capture before it was earlier
// belongs to another change: then the index left out this one, unless this is the first reading. told is called for
// each page whose last change it turned out to have left out, or to have reported after all.
func (h HostIndex) AfterAsking(
	now time.Time, date func(page uint64) time.Time, told func(page uint64, leftOut bool),
) HostIndex {
	var open []FoundChange
	for _, c := range h.Found {
		at, first := time.Unix(c.At, 0), c.Next == 0
		if first {
			c.Next = now.Unix()
		}
		count := func(said bool) {
			if !c.LeftOut && !c.Excluded {
				h.Index = h.AfterHeard(said)
			}
		}
		switch d := date(c.Page); {
		case d.IsZero():
			continue
		case d.Unix() > c.Before:
			if min(d.Unix(), now.Unix())-c.At <= c.At-c.Before {
				h.Index = h.AfterLate(now.Sub(time.Unix(c.Next, 0)))
				count(true)
			} else if !first {
				count(false)
			}
			told(c.Page, false)
			continue
		case !c.LeftOut && now.Sub(at) >= h.Patience():
			count(false)
			c.LeftOut = true
			told(c.Page, true)
		case now.Sub(at) > foundMemory:
			continue
		}
		open = append(open, c)
	}
	h.Found = open
	return h
}
