package dedup

import (
	"regexp"
	"slices"
	"time"
)

// Policy says which payloads are archived as a revisit of an earlier record instead of whole. The zero value, which is
// the default, deduplicates all payloads against records of any URI.
type Policy struct {
	Series     string // of the WARC files; only records in files of the same series are origins. "" = of no series
	By         By
	Equivalent bool             // a record of an equivalent URI counts as one of the same URI; see [Query]
	Skip       []*regexp.Regexp // media types that are never deduplicated
	Only       []*regexp.Regexp // if not empty, only these media types are deduplicated
	MinSize    int64            // bytes; smaller payloads are not deduplicated
	MaxAge     time.Duration    // an older record is no origin: the payload is archived whole again; 0 = any age
	Copies     int64            // a record with this number of revisits is no origin any more; 0 = any number
	Certainty  Certainty
	Revisits   Revisits
}

// Covers reports whether payloads of a media type and size are deduplicated.
func (p Policy) Covers(mime string, size int64) bool {
	if p.By == Off || size < p.MinSize || anyMatches(p.Skip, mime) {
		return false
	}
	return len(p.Only) == 0 || anyMatches(p.Only, mime)
}

// IsSmall reports whether a payload is archived whole each time only because of its size.
func (p Policy) IsSmall(size int64) bool { return p.By != Off && size < p.MinSize }

// TooOld reports whether a record of some date is too old to be an origin at now.
func (p Policy) TooOld(date, now time.Time) bool {
	return p.MaxAge > 0 && !date.IsZero() && now.Sub(date) > p.MaxAge
}

func anyMatches(list []*regexp.Regexp, mime string) bool {
	return slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.MatchString(mime) })
}

// Certainty is the evidence that is needed before an earlier record stands for a payload.
type Certainty uint8

// The levels, after a study of the Portuguese web archive. They are not stored.
const (
	Regular  Certainty = iota // digest and size are the same
	Compare                   // the earlier record is read again, and every byte is the same
	ForceNew                  // the payload is archived whole in any case, and only counted as a duplicate
)

// String returns the name of the level, as the configuration has it.
func (c Certainty) String() string { return [...]string{"regular", "compare", "force-new"}[c] }

// Revisits says which visits to an unchanged URI leave a revisit record. With the zero value all of them do.
type Revisits struct {
	None bool          // no visit leaves a record
	Once time.Duration // only the first visit in each period of this length leaves a record; 0 = each visit
}

// Wants reports whether a visit to an unchanged URI leaves a revisit record. before is the last visit that could have
// left one. Periods begin at multiples of their length since the year 1, so no state is needed.
func (r Revisits) Wants(now, before time.Time) bool {
	switch {
	case r.None:
		return false
	case r.Once == 0:
		return true
	}
	return !now.UTC().Truncate(r.Once).Equal(before.UTC().Truncate(r.Once))
}
