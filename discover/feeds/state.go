package feeds

import (
	"fmt"
	"math"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/uri"
)

// State is what is learned of a source. The zero value is a URI that is no source.
type State struct {
	Kind   Kind
	Read   time.Time // last visit that said what it lists, be it by saying that nothing changed
	Began  time.Time // first reading
	News   time.Time // last reading that brought something new
	Listed int       // items that it listed when last read

	Gaps    int       // readings that had nothing in common with the one before
	LastGap time.Time // the last of them
	Broken  int       // readings in a row that made no sense

	Hints Hints
	Hub   uri.URI // WebSub hub, zero if none
	Topic uri.URI // what the hub knows the source as

	Right, Wrong float64 // claims that proved so; both are halved from time to time

	fast, slow tally         // new items, forgotten in hours and in days
	ceiling    time.Duration // the longest wait since items were missed; 0 for none
}

// tally counts events over a time, both fading.
type tally struct{ events, hours float64 }

const (
	fastMemory = 4.0      // hours
	slowMemory = 7 * 24.0 // hours
	// leastFast is how many events the fast tally must hold to be asked at all.
	leastFast = 1.5
	// maxTally is how many claims a tally holds before it is halved, so that old ones fade.
	maxTally = 40
)

func (t tally) after(events, hours, memory float64) tally {
	kept := math.Exp(-hours / memory)
	return tally{t.events*kept + events, t.hours*kept + hours}
}

// IsSource reports whether the URI is a source, or may be one.
func (s State) IsSource() bool { return s.Kind != None }

// After is the state after a reading, and what came of the claims since the one before.
func (s State) After(now time.Time, d Document, r Reading, right, wrong int) State {
	elapsed := s.elapsed(now)
	s = s.counted(now, float64(len(r.New))+s.Belief()*float64(len(r.Updated)-r.Stamped), r.First)
	s.Kind, s.Listed, s.Broken = d.Kind, r.Listed, 0
	s.Hints, s.Hub, s.Topic = d.Hints, short(d.Hub), short(d.Self)
	if s.Right, s.Wrong = s.Right+float64(right), s.Wrong+float64(wrong); s.Right+s.Wrong > maxTally {
		s.Right, s.Wrong = s.Right/2, s.Wrong/2
	}
	if s.Began.IsZero() {
		s.Began = now
	}
	if r.Any() {
		s.News = now
	}
	switch {
	case r.Gap:
		s.Gaps++
		s.LastGap = now
		s.ceiling = max(elapsed/4, time.Second)
	case !r.First && d.Kind.ListsNewest() && 2*len(r.New) > r.Listed:
		s.ceiling = max(elapsed/2, time.Second)
	case s.ceiling > 0:
		s.ceiling += s.ceiling / 2
	}
	return s
}

// Unchanged is the state after a visit that found the source as it was.
func (s State) Unchanged(now time.Time) State {
	if s.Broken > 0 {
		return s.Unreadable(now) // it is as broken as before
	}
	s = s.counted(now, 0, false)
	if s.ceiling > 0 {
		s.ceiling += s.ceiling / 2
	}
	return s
}

// Unreadable is the state after a visit that found no source. One that was only awaited turns out to be none.
func (s State) Unreadable(now time.Time) State {
	if s.Kind == Awaited {
		return State{}
	}
	s.Read = now
	s.Broken++
	return s
}

func (s State) elapsed(now time.Time) time.Duration {
	if s.Read.IsZero() || !now.After(s.Read) {
		return 0
	}
	return now.Sub(s.Read)
}

// counted adds a reading to the tallies. What stood there at the first reading came at nobody knows what rate.
func (s State) counted(now time.Time, events float64, first bool) State {
	if hours := s.elapsed(now).Hours(); !first && hours > 0 {
		s.fast = s.fast.after(events, hours, fastMemory)
		s.slow = s.slow.after(events, hours, slowMemory)
	}
	s.Read = now
	return s
}

// Belief is the share of the source's claims that may be expected to be right. Two of three is what a stranger gets.
func (s State) Belief() float64 { return (s.Right + 2) / (s.Right + s.Wrong + 3) }

func short(u uri.URI) uri.URI {
	if len(u.String()) > longestClaim {
		return uri.URI{}
	}
	return u
}

type stateRow struct {
	Kind      uint8   `cbor:"1,keyasint,omitempty"`
	Read      int64   `cbor:"2,keyasint,omitempty"` // ms, as all times
	Began     int64   `cbor:"3,keyasint,omitempty"`
	News      int64   `cbor:"4,keyasint,omitempty"`
	Listed    int     `cbor:"5,keyasint,omitempty"`
	Gaps      int     `cbor:"6,keyasint,omitempty"`
	LastGap   int64   `cbor:"7,keyasint,omitempty"`
	Broken    int     `cbor:"8,keyasint,omitempty"`
	Every     int64   `cbor:"9,keyasint,omitempty"`
	SkipHours uint32  `cbor:"10,keyasint,omitempty"`
	SkipDays  uint8   `cbor:"11,keyasint,omitempty"`
	Hub       string  `cbor:"12,keyasint,omitempty"`
	Topic     string  `cbor:"13,keyasint,omitempty"`
	Right     float64 `cbor:"14,keyasint,omitempty"`
	Wrong     float64 `cbor:"15,keyasint,omitempty"`
	FastN     float64 `cbor:"16,keyasint,omitempty"`
	FastHours float64 `cbor:"17,keyasint,omitempty"`
	SlowN     float64 `cbor:"18,keyasint,omitempty"`
	SlowHours float64 `cbor:"19,keyasint,omitempty"`
	Ceiling   int64   `cbor:"20,keyasint,omitempty"`
}

const stateVersion = 1

// Bytes is s as it is stored, at most some 2 KiB: a version, then CBOR. The zero State is no bytes.
func (s State) Bytes() []byte {
	if s.Kind == None {
		return nil
	}
	return versioned(stateVersion, stateRow{
		Kind: uint8(s.Kind), Read: millis(s.Read), Began: millis(s.Began), News: millis(s.News), Listed: s.Listed,
		Gaps: s.Gaps, LastGap: millis(s.LastGap), Broken: s.Broken, Every: int64(s.Hints.Every), SkipHours: s.Hints.SkipHours,
		SkipDays: s.Hints.SkipDays, Hub: s.Hub.String(), Topic: s.Topic.String(), Right: s.Right, Wrong: s.Wrong,
		FastN: s.fast.events, FastHours: s.fast.hours, SlowN: s.slow.events, SlowHours: s.slow.hours, Ceiling: int64(s.ceiling),
	})
}

// OpenState reads what [State.Bytes] wrote; nothing is the zero State.
func OpenState(b []byte) (State, error) {
	if len(b) == 0 {
		return State{}, nil
	}
	var w stateRow
	if b[0] != stateVersion {
		return State{}, fmt.Errorf("%w: version %d", errDamaged, b[0])
	}
	if err := cbor.Unmarshal(b[1:], &w); err != nil {
		return State{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	s := State{
		Kind: Kind(w.Kind), Read: fromMillis(w.Read), Began: fromMillis(w.Began), News: fromMillis(w.News), Listed: w.Listed,
		Gaps: w.Gaps, LastGap: fromMillis(w.LastGap), Broken: w.Broken,
		Hints: Hints{Every: time.Duration(w.Every), SkipHours: w.SkipHours, SkipDays: w.SkipDays},
		Hub:   uri.FromCanonical(w.Hub), Topic: uri.FromCanonical(w.Topic), Right: w.Right, Wrong: w.Wrong,
		fast: tally{w.FastN, w.FastHours}, slow: tally{w.SlowN, w.SlowHours}, ceiling: time.Duration(w.Ceiling),
	}
	for _, f := range []float64{s.Right, s.Wrong, s.fast.events, s.fast.hours, s.slow.events, s.slow.hours} {
		if !(f >= 0) || math.IsInf(f, 0) {
			return State{}, fmt.Errorf("%w: a number in it is impossible", errDamaged)
		}
	}
	if w.Listed < 0 || w.Broken < 0 || w.Every < 0 || w.Ceiling < 0 {
		return State{}, fmt.Errorf("%w: a number in it is negative", errDamaged)
	}
	return s, nil
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
