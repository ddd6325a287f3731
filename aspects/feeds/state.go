package feeds

import (
	"fmt"
	"math"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/uri"
)

// State holds what was learned about a source. The zero value means that the URI is not a source.
type State struct {
	Kind   Kind
	Read   time.Time // last visit that showed what it lists, including visits that found it unchanged
	Began  time.Time // first reading
	News   time.Time // last reading with something new
	Listed int       // number of items at the last reading

	Gaps    int       // number of readings that had nothing in common with the one before
	LastGap time.Time // time of the last of them
	Broken  int       // number of unreadable visits in a row

	Hints Hints
	Hub   uri.URI // WebSub hub, zero if none
	Topic uri.URI // the name of the source at the hub

	Right, Wrong float64 // statements that were right and wrong; both are halved from time to time

	fast, slow average       // new items per hour, over the last hours and over the last days
	ceiling    time.Duration // maximum wait after items were missed; 0 = none
}

// average counts events and hours. Both decay exponentially, so that events/hours is the recent rate.
type average struct{ events, hours float64 }

const (
	fastMemory = 4.0      // time constant in hours
	slowMemory = 7 * 24.0 // time constant in hours
	// minFast is the minimum number of events in the fast average for it to count.
	minFast = 1.5
	// maxCounted is the number of statements in Right and Wrong at which both are halved, so that old statements fade.
	maxCounted = 40
)

// after returns the average after some more hours with some more events. memory is the time constant in hours.
func (a average) after(events, hours, memory float64) average {
	decay := math.Exp(-hours / memory)
	return average{a.events*decay + events, a.hours*decay + hours}
}

// IsSource reports whether the URI is a source or is awaited to be one.
func (s State) IsSource() bool { return s.Kind != None }

// After returns the state after a reading. right and wrong are the numbers of statements that were checked since the
// reading before.
func (s State) After(now time.Time, d Document, r Reading, right, wrong int) State {
	elapsed := s.elapsed(now)
	s = s.counted(now, float64(len(r.New))+s.Belief()*float64(len(r.Updated)-r.Stamped), r.First)
	s.Kind, s.Listed, s.Broken = d.Kind, r.Listed, 0
	s.Hints, s.Hub, s.Topic = d.Hints, short(d.Hub), short(d.Self)
	if s.Right, s.Wrong = s.Right+float64(right), s.Wrong+float64(wrong); s.Right+s.Wrong > maxCounted {
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

// Unchanged returns the state after a visit that found the source unchanged.
func (s State) Unchanged(now time.Time) State {
	if s.Broken > 0 {
		return s.Unreadable(now) // it is still broken
	}
	s = s.counted(now, 0, false)
	if s.ceiling > 0 {
		s.ceiling += s.ceiling / 2
	}
	return s
}

// Unreadable returns the state after a visit that could not read the source. A URI that was only awaited is not a
// source after that.
func (s State) Unreadable(now time.Time) State {
	if s.Kind == Awaited {
		return State{}
	}
	s.Read = now
	s.Broken++
	return s
}

// elapsed returns the time since the last reading, 0 if there was none.
func (s State) elapsed(now time.Time) time.Duration {
	if s.Read.IsZero() || !now.After(s.Read) {
		return 0
	}
	return now.Sub(s.Read)
}

// counted adds a reading to the averages. The items of the first reading do not count: when they appeared is unknown.
func (s State) counted(now time.Time, events float64, first bool) State {
	if hours := s.elapsed(now).Hours(); !first && hours > 0 {
		s.fast = s.fast.after(events, hours, fastMemory)
		s.slow = s.slow.after(events, hours, slowMemory)
	}
	s.Read = now
	return s
}

// Belief returns the share of the source's statements that is expected to be right. It starts at two of three.
func (s State) Belief() float64 { return (s.Right + 2) / (s.Right + s.Wrong + 3) }

// short returns u, or the zero URI if u is too long to store.
func short(u uri.URI) uri.URI {
	if len(u.String()) > maxStatementURI {
		return uri.URI{}
	}
	return u
}

type stateRow struct {
	Kind      uint8   `cbor:"1,keyasint,omitempty"`
	Read      int64   `cbor:"2,keyasint,omitempty"` // milliseconds since 1970, as all times
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

// Bytes returns s in its stored form, at most about 2 KiB: a version, then CBOR. It returns nil for the zero State.
func (s State) Bytes() []byte {
	if s.Kind == None {
		return nil
	}
	return versioned(stateVersion, stateRow{
		Kind: uint8(s.Kind), Read: millis(s.Read), Began: millis(s.Began), News: millis(s.News),
		Listed: s.Listed, Gaps: s.Gaps, LastGap: millis(s.LastGap), Broken: s.Broken,
		Every: int64(s.Hints.Every), SkipHours: s.Hints.SkipHours, SkipDays: s.Hints.SkipDays,
		Hub: s.Hub.String(), Topic: s.Topic.String(), Right: s.Right, Wrong: s.Wrong,
		FastN: s.fast.events, FastHours: s.fast.hours, SlowN: s.slow.events, SlowHours: s.slow.hours,
		Ceiling: int64(s.ceiling),
	})
}

// OpenState returns the State that [State.Bytes] wrote. For an empty slice it returns the zero State.
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
		Kind: Kind(w.Kind), Read: fromMillis(w.Read), Began: fromMillis(w.Began), News: fromMillis(w.News),
		Listed: w.Listed,
		Gaps:   w.Gaps, LastGap: fromMillis(w.LastGap), Broken: w.Broken,
		Hints: Hints{Every: time.Duration(w.Every), SkipHours: w.SkipHours, SkipDays: w.SkipDays},
		Hub:   uri.FromCanonical(w.Hub), Topic: uri.FromCanonical(w.Topic), Right: w.Right, Wrong: w.Wrong,
		fast: average{w.FastN, w.FastHours}, slow: average{w.SlowN, w.SlowHours},
		ceiling: time.Duration(w.Ceiling),
	}
	for _, f := range []float64{s.Right, s.Wrong, s.fast.events, s.fast.hours, s.slow.events, s.slow.hours} {
		if !(f >= 0) || math.IsInf(f, 0) {
			return State{}, fmt.Errorf("%w: it has an impossible number", errDamaged)
		}
	}
	if w.Listed < 0 || w.Broken < 0 || w.Every < 0 || w.Ceiling < 0 {
		return State{}, fmt.Errorf("%w: it has a negative number", errDamaged)
	}
	return s, nil
}

// millis returns a time in milliseconds since 1970, 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// fromMillis reverses millis.
func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
