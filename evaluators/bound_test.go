package evaluators_test

import (
	"bytes"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// TestMemoryNeverGrows makes random visits for a long time, with random relatives. The stored memory must stay within
// its bound and be readable.
func TestMemoryNeverGrows(t *testing.T) {
	t.Parallel()
	far := time.Unix(math.MaxInt64/2, 0)
	rows := map[string]func(i int, in *evaluators.WaitInput){
		"always changed, once a nanosecond":     func(_ int, in *evaluators.WaitInput) { in.At = in.At.Add(1) },
		"never changed, once in ninety years":   func(_ int, in *evaluators.WaitInput) { in.At, in.State = in.At.AddDate(90, 0, 0), evaluators.Unchanged },
		"at the same moment, in turn":           func(i int, in *evaluators.WaitInput) { in.State = evaluators.State(i % 3) },
		"at the ends of time in turn":           func(i int, in *evaluators.WaitInput) { in.At = [...]time.Time{{}, far, time.Unix(-1<<62, 0)}[i%3] },
		"backwards":                             func(_ int, in *evaluators.WaitInput) { in.At = in.At.Add(-time.Hour) },
		"each hour and minute of the year":      func(_ int, in *evaluators.WaitInput) { in.At = in.At.Add(97 * time.Minute) },
		"born after the visit":                  func(_ int, in *evaluators.WaitInput) { in.Born = far },
		"born before all time":                  func(_ int, in *evaluators.WaitInput) { in.Born = time.Unix(-1<<62, 0) },
		"dated in the future":                   func(_ int, in *evaluators.WaitInput) { in.At, in.ChangedAt = in.At.Add(time.Hour), far },
		"dated before the last visit":           func(_ int, in *evaluators.WaitInput) { in.At, in.ChangedAt = in.At.Add(time.Hour), time.Unix(1, 0) },
		"overdue and waits without measure":     func(_ int, in *evaluators.WaitInput) { in.Overdue, in.Previous = math.MaxInt64, math.MaxInt64 },
		"overdue and waits below nothing":       func(_ int, in *evaluators.WaitInput) { in.Overdue, in.Previous = math.MinInt64, math.MinInt64 },
		"a stretch that is no number":           func(_ int, in *evaluators.WaitInput) { in.At, in.Stretch = in.At.Add(time.Hour), math.NaN() },
		"the first visit again and again":       func(_ int, in *evaluators.WaitInput) { in.At, in.First = in.At.Add(time.Hour), true },
		"of another kind at each visit":         func(i int, in *evaluators.WaitInput) { in.At, in.Kind = in.At.Add(time.Hour), rate.Kind(i) },
		"a memory that another program wrote":   func(i int, in *evaluators.WaitInput) { in.Memory = make(rate.Memory, 37*i) },
		"a memory of which the last byte lacks": func(_ int, in *evaluators.WaitInput) { in.Memory = in.Memory[:max(0, len(in.Memory)-1)] },
	}
	for name, next := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := evaluators.Stack{{Rule: evaluators.Learned{CaptureTarget: 0.9}}}
			in := evaluators.WaitInput{
				First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{At: january, Born: january},
			}
			for i := range 600 {
				before := bytes.Clone(in.Memory)
				w := s.Next(in)
				if !bytes.Equal(before, in.Memory) || !reflect.DeepEqual(w, s.Next(in)) {
					t.Fatalf("visit %d: the memory that was handed in was written to, or the answer differs the second time", i)
				}
				if n := len(w.Memory); n == 0 || n > rate.MaxMemory {
					t.Fatalf("visit %d: a memory of %d bytes", i, n)
				}
				if err := w.Memory.Check(); err != nil {
					t.Fatalf("visit %d: %v", i, err)
				}
				if w.Interval < 5*time.Minute || w.Interval > 90*24*time.Hour ||
					math.IsNaN(w.Expected+w.Missed+w.PerDay+w.Versions) {
					t.Fatalf("visit %d: %+v", i, w)
				}
				in.First, in.Memory, in.Previous = false, w.Memory, w.Interval
				next(i, &in)
			}
		})
	}
}
