package evaluators

import (
	"iter"
	"math"
	"math/bits"
	"time"
)

// Index records what the word of one index has been worth. An index is a document that says when the pages of a host
// changed: a sitemap with dates. While its word is true it is followed: the pages are visited when it says that they
// changed, and their own waits only audit it. The zero value knows nothing. An Index is a value: its methods return a
// new one. It is part of a row: keys are only ever added.
type Index struct {
	// Said counts the pages that the index said had changed: right if a visit found them changed.
	Said Standing `cbor:"1,keyasint,omitempty"`
	// Heard counts the changes that visits found without the index: right if its next readings said so too.
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
	// Listed is the number of pages that it listed when Idle was last 0. Idle counts the readings since then that did not
	// raise the score. Reached is the score at the last reading.
	Listed  int     `cbor:"8,keyasint,omitempty"`
	Idle    int     `cbor:"9,keyasint,omitempty"`
	Reached float64 `cbor:"10,keyasint,omitempty"`

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
	x.Said = x.Said.counted(changed)
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
		x.Followed = x.Score > 0 && left < heardLost
	} else {
		x.Followed = x.Score >= scoreProof && left <= heardEarned && x.Heard.Known >= heardProof
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
	return x
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
	if !x.Followed || float64(x.Every) > maxReadingWaits*float64(own) {
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
