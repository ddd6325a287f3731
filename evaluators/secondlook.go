package evaluators

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/digest"
)

// SecondLook says when a page that differed at many visits in a row is fetched a second time soon after, to tell
// a page that changes often from a page that differs at every fetch. The zero value has the defaults.
//
//	changed, changed, changed … (After visits in a row)
//	  │
//	  ▼ second look
//	the same? ─── yes ──▶ live: visited as the wait rule says, no second look for Leave; if it shows the time,
//	  │ no                  it is fetched once more after Clock, and noisy if nothing else differs
//	  ▼ once more
//	the same? ─── yes ──▶ live
//	  │ no
//	  ▼
//	the same to a reader? ─ yes ──▶ noisy: what a reader sees decides about the wait from now on
//	  │ no
//	  ▼
//	the same to a reader, under narrow rules for what differs? ─ yes ──▶ noisy: the same, under these rules
//	  │ no
//	  ▼
//	restless: visited once in Every, and looked at twice at each visit, until the rules that apply to it change
type SecondLook struct {
	After  int           // number of visits in a row that found a difference; default 5
	Within time.Duration // only pages with a shorter wait are looked at twice; default 2h
	Leave  time.Duration // how long a page that stayed the same is left alone; default 60d
	Every  time.Duration // shortest wait of a restless page; default 24h
	Off    bool          // no page is looked at twice, and a finding is ignored
	Clock  time.Duration // a page that stayed the same is fetched once more after this time; 0 = it is not
	Early  bool          // it is looked at twice before its time, and not restless after that
}

// ClockLook is the time between two fetches of a page that shows the time to the minute, if they are to differ.
const ClockLook = 65 * time.Second

// NoisyBegin is the interval at which a page that was found noisy is believed to change at about half of its visits,
// until its rule knows more. Most such pages change rarely; a new page is believed to change much more often.
const NoisyBegin = 4 * time.Hour

// DefaultRestlessEvery is the shortest wait of a restless page if a configuration sets none.
const DefaultRestlessEvery = 24 * time.Hour

const (
	defaultLookAfter = 5
	maxLookCount     = 250 // larger counts are not stored

	defaultLookWithin = 2 * time.Hour
	defaultLookLeave  = 60 * 24 * time.Hour

	// looksThatDiffer is the number of second looks in a row that must differ. A page with a new version each minute
	// differs at one look ten seconds later with a probability of one in seven.
	looksThatDiffer = 2
	// clockLook is the number of the look after Clock.
	clockLook = looksThatDiffer + 1
)

func (s SecondLook) withDefaults() SecondLook {
	if s.After <= 0 {
		s.After = defaultLookAfter
	}
	s.Within = orDefault(s.Within, defaultLookWithin)
	s.Leave = orDefault(s.Leave, defaultLookLeave)
	s.Every = orDefault(s.Every, DefaultRestlessEvery)
	return s
}

// Applies reports whether pages whose wait an entry decides are looked at twice. It is so for the rules with a capture
// target. The other rules follow their settings exactly.
func (s SecondLook) Applies(e WaitEvaluator) bool {
	_, ok := e.CaptureTarget()
	return ok && !s.Off
}

// Due returns what is remembered after a usual visit. If a second look follows, it returns true. w is the wait that the
// rule decided, and at is when it begins.
func (s SecondLook) Due(l Look, state State, w Wait, at time.Time) (next Look, look bool) {
	s = s.withDefaults()
	switch state {
	case Unknown:
		return l, false
	case Unchanged:
		l.Row = 0
		if l.Finding == Restless {
			l.Finding = NoFinding // it does not differ at every fetch
		}
		return l, false
	case Changed:
	}
	l.Row = min(l.Row+1, maxLookCount)
	switch {
	case l.Finding == Restless:
		look = true
	case l.Finding == Live && at.Before(l.Since.Add(s.Leave)):
	default:
		look = (l.Row >= s.After || s.Early) && w.Asked() < s.Within
	}
	if look {
		l.Open, l.Planned = 1, at.Add(w.Interval)
	}
	return l, look
}

// RestlessWait returns the wait of a restless page whose wait an entry decides. Its rule learns nothing from the visit.
func (s SecondLook) RestlessWait(e WaitEvaluator, stretch float64) Wait {
	s = s.withDefaults()
	interval := s.Every
	longest := learnedMax
	if e.Rule != nil {
		_, longest = e.Rule.Bounds()
	}
	reason := "differs at each fetch, so it is visited once in " + Interval(s.Every)
	if stretch > 1 {
		interval = time.Duration(min(float64(interval)*stretch, float64(max(longest, interval))))
		reason += StretchedNote + rounded(stretch) + " as the host cannot carry more"
	}
	if interval > longest {
		interval = longest
		reason += " (max " + Interval(longest) + ")"
	}
	w := Wait{Interval: interval, Evaluator: e.name(), Reason: reason}
	if stretch > 1 {
		w.Stretch = float64(interval) / float64(min(s.Every, longest))
	}
	return w
}

// Closed returns what is remembered after a second look at a time. If another look follows, it returns true.
func (s SecondLook) Closed(l Look, o Outcome, at time.Time) (next Look, again bool) {
	recheck := l.Finding == Restless
	switch {
	case l.IsForClock() && o != LookNoisy:
		l.Finding, l.Since, l.Row = Live, at, 0 // it stayed the same at the look before
	case o == LookFailed:
		l.Row = 0 // so that it takes some visits until the next attempt
	case o == LookSame && s.Clock > 0 && !recheck:
		l.Open = clockLook
		return l, true
	case o == LookSame:
		l.Finding, l.Since, l.Row = Live, at, 0
	case o == LookNoisy && l.Silencer != "":
		l.Finding, l.Since, l.Row = NoFinding, at, 0 // the rules may fit these fetches alone
	case o == LookNoisy:
		l.Finding, l.Since, l.Row = Live, at, 0
	case !recheck && l.Open < looksThatDiffer:
		l.Open++
		return l, true
	case s.IsEarly(l):
	case !recheck:
		l.Finding, l.Since = Restless, at
	}
	l.Open = 0
	return l, false
}

// IsEarly reports whether a second look is open that is made before its time.
func (s SecondLook) IsEarly(l Look) bool {
	return l.Open > 0 && l.Finding != Restless && l.Row < s.withDefaults().After
}

// Dropped returns what is remembered of a restless page whose rules have changed. It is looked at twice as soon as it
// differs again.
func (s SecondLook) Dropped(l Look) Look {
	l = l.Trusting()
	l.Finding, l.Row = NoFinding, s.withDefaults().After
	return l
}

// IsForClock reports whether the open look is the one after [SecondLook.Clock].
func (l Look) IsForClock() bool { return l.Open == clockLook }

// UntilPlanned returns the wait from at until the next usual visit of a page, after a second look that found nothing to
// change about it.
func (l Look) UntilPlanned(at time.Time) time.Duration { return max(l.Planned.Sub(at), time.Second) }

// Look holds how a URI differs from fetch to fetch. The zero value says that it did not differ at
// the last visit.
type Look struct {
	Row     int       // usual visits in a row that found a difference
	Open    int       // if above zero, the next visit is the second look of this number
	Finding Finding   // result of the last second look
	Since   time.Time // when that was found
	Planned time.Time // while a second look is open: when the next usual visit is due
	View    View      // the comparison that decides about the wait
	Calm    bool      // by it a usual visit has found nothing new
	Rules   uint32    // the rules that Sums were made under, or that the page is restless under, shortened; zero = none
	Sums    [2]uint64 // digests of what a reader sees, of the last visit that needed them; zero = none

	// Silencer has the rules under which a reader sees the same, as [digest.Silencer] writes them. They decide about the
	// wait and nothing else. It is empty unless View is SeenSilenced.
	Silencer string
}

// Trusting returns l with the comparison that the configuration names: what a reader sees decides nothing more.
func (l Look) Trusting() Look {
	l.View, l.Calm, l.Silencer, l.Sums, l.Rules = Configured, false, "", [2]uint64{}, 0
	return l
}

// Noise returns why a URI seems to differ at each fetch without being new: as second looks found, or else as its last
// digests suggest. It returns an empty text if it does not, or if a second look found that it is live.
func (l Look) Noise(last Ring) string {
	switch {
	case l.Finding == Restless:
		return "restless: differs at each fetch"
	case l.View == SeenSilenced && digest.ParseSilencer(l.Silencer).Unordered:
		return "noisy: differs at each fetch, but a reader sees the same parts in another order"
	case l.View == SeenSilenced:
		return "noisy: differs at each fetch, but a reader sees the same without what proposed rules match: " +
			digest.ParseSilencer(l.Silencer).Settings()
	case l.Noisy():
		return "noisy: differs at each fetch, but a reader sees the same"
	case l.Finding == Live:
		return ""
	}
	return last.Restless()
}

// Finding is the result of second looks at a page. The numbers are stored: do not change or reuse them.
type Finding uint8

// The findings.
const (
	NoFinding Finding = iota
	Live              // it stayed the same
	Restless          // it differed each time
)

// View is the comparison that decides about the wait of a page. The numbers are stored: do not change or reuse them.
type View uint8

// The views.
const (
	Configured   View = iota // the comparison that the configuration names, which decides about versions too
	SeenExact                // what a reader sees, with all addresses of pictures and links
	SeenMasked               // the same without generated values in queries
	SeenSilenced             // and without what the rules match that were found for the page
)

// Noisy reports whether a page differs at each fetch, but only in what no reader sees, or misses.
func (l Look) Noisy() bool { return l.View != Configured }

// Outcome is the result of a second look.
type Outcome uint8

// The outcomes.
const (
	LookFailed  Outcome = iota // no answer, or none that can be compared
	LookSame                   // nothing differs by the comparison that decides about the wait
	LookNoisy                  // something differs, but not what a reader sees
	LookDiffers                // something differs
)

// String returns "failed", "same", "noisy" or "differs".
func (o Outcome) String() string { return [...]string{"failed", "same", "noisy", "differs"}[o] }

// Ring holds the last comparison digests of a URI, newest first, each shortened to four bytes. Zero is an empty place.
type Ring [8]uint32

// Push returns the ring with one more digest and without its oldest one. A zero digest changes nothing.
func (r Ring) Push(d digest.Digest) Ring {
	if d.IsZero() {
		return r
	}
	copy(r[1:], r[:len(r)-1])
	r[0] = max(1, binary.BigEndian.Uint32(d[:4]))
	return r
}

// Repeat returns the ring after a visit that read no body because the content was the same: it has its newest digest
// once more.
func (r Ring) Repeat() Ring {
	copy(r[1:], r[:len(r)-1])
	return r
}

// Bytes returns the ring as it is stored, without empty places.
func (r Ring) Bytes() []byte {
	var b []byte
	for _, d := range r {
		if d != 0 {
			b = binary.BigEndian.AppendUint32(b, d)
		}
	}
	return b
}

// RingOf reads the result of [Ring.Bytes]. It ignores surplus bytes and an incomplete digest.
func RingOf(b []byte) (r Ring) {
	for i := range r {
		if len(b) < 4 {
			break
		}
		r[i], b = binary.BigEndian.Uint32(b), b[4:]
	}
	return r
}

// minRing is the minimum number of digests in a restless ring.
const minRing = 5

// Restless returns why a URI seems to differ at every visit: it changed at each of the last visits, or it alternates
// between a few versions. It returns an empty text if neither is true.
func (r Ring) Restless() string {
	seen := map[uint32]bool{}
	known, changes := 0, 0
	for i, d := range r {
		if d == 0 {
			break
		}
		known++
		seen[d] = true
		if i > 0 && d != r[i-1] {
			changes++
		}
	}
	switch {
	case known < minRing:
	case len(seen) <= 3 && changes > len(seen):
		return fmt.Sprintf("goes back and forth between %d versions", len(seen))
	case changes == known-1:
		return fmt.Sprintf("changed at each of the last %d visits", known)
	}
	return ""
}

// lookFormat begins each stored [Look].
const lookFormat = 1

// maxLookBytes is the length of the longest stored Look without its rules.
const maxLookBytes = 40

// The parts of a stored [Look], as bits.
const (
	withPlan = 1 << iota
	withSums
	withRules
	isCalm
)

// errLook says that stored bytes are not a [Look].
var errLook = errors.New("stored second look")

// Bytes returns l as it is stored: at most 40 bytes and its rules, and none for the zero value. Times are kept to the
// second.
func (l Look) Bytes() string {
	if l == (Look{}) {
		return ""
	}
	parts := byte(0)
	if !l.Planned.IsZero() && l.Open > 0 {
		parts |= withPlan
	}
	if l.Sums != ([2]uint64{}) || l.Rules != 0 {
		parts |= withSums
	}
	if l.Silencer != "" {
		parts |= withRules
	}
	if l.Calm {
		parts |= isCalm
	}
	b := append(make([]byte, 0, maxLookBytes), lookFormat, byte(l.Finding), byte(l.View), parts)
	b = append(b, byte(l.Row), byte(l.Open), 0) // the last one counted visits
	b = binary.AppendUvarint(b, unixSeconds(l.Since))
	if parts&withPlan != 0 {
		b = binary.AppendUvarint(b, unixSeconds(l.Planned))
	}
	if parts&withSums != 0 {
		b = binary.BigEndian.AppendUint32(b, l.Rules)
		b = binary.BigEndian.AppendUint64(b, l.Sums[0])
		b = binary.BigEndian.AppendUint64(b, l.Sums[1])
	}
	if parts&withRules != 0 {
		b = append(binary.AppendUvarint(b, uint64(len(l.Silencer))), l.Silencer...)
	}
	return string(b)
}

// LookOf reads the result of [Look.Bytes]. It ignores surplus bytes.
func LookOf(stored string) (l Look, err error) {
	if stored == "" {
		return l, nil
	}
	b := []byte(stored)
	if b[0] != lookFormat || len(b) < 8 {
		return l, fmt.Errorf("%w: %d bytes in format %d", errLook, len(b), b[0])
	}
	parts := b[3]
	l = Look{Finding: Finding(b[1]), View: View(b[2]), Row: int(b[4]), Open: int(b[5]), Calm: parts&isCalm != 0}
	if l.Finding > Restless || l.View > SeenSilenced {
		return Look{}, fmt.Errorf("%w: finding %d, view %d", errLook, b[1], b[2])
	}
	b = b[7:]
	seconds := func() time.Time {
		s, n := binary.Uvarint(b)
		if n <= 0 {
			err = fmt.Errorf("%w: a time is cut", errLook)
			return time.Time{}
		}
		if b = b[n:]; s == 0 || s > 1<<40 {
			return time.Time{}
		}
		return time.Unix(int64(s), 0).UTC()
	}
	l.Since = seconds()
	if parts&withPlan != 0 {
		l.Planned = seconds()
	}
	if err != nil {
		return Look{}, err
	}
	if parts&withSums != 0 {
		if len(b) < 20 {
			return Look{}, fmt.Errorf("%w: the digests are cut", errLook)
		}
		l.Rules = binary.BigEndian.Uint32(b)
		l.Sums = [2]uint64{binary.BigEndian.Uint64(b[4:]), binary.BigEndian.Uint64(b[12:])}
		b = b[20:]
	}
	if parts&withRules != 0 {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return Look{}, fmt.Errorf("%w: the rules are cut", errLook)
		}
		l.Silencer = string(b[n : n+int(size)])
	}
	if l.View != SeenSilenced || l.Silencer == "" {
		if l.Silencer = ""; l.View == SeenSilenced {
			l.View = Configured
		}
	}
	return l, nil
}

func unixSeconds(t time.Time) uint64 {
	if t.IsZero() || t.Unix() < 0 {
		return 0
	}
	return uint64(t.Unix())
}
