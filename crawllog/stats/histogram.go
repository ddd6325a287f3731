package stats

import (
	"encoding/json"
	"math/bits"
	"time"
)

// Histogram counts durations in classes that have a sixteenth of a power of two each. The zero value is empty.
type Histogram struct {
	classes []int64
	count   int64
	most    int64 // ms, exact
}

// perOctave is how many classes each power of two has.
const (
	octaveBits = 4
	perOctave  = 1 << octaveBits
)

// class is the number of the class of a duration in ms.
func class(ms int64) int {
	if ms < perOctave {
		return int(max(0, ms))
	}
	shift := bits.Len64(uint64(ms)) - 1 - octaveBits
	return shift*perOctave + int(ms>>shift)
}

// last is the greatest duration of a class, in ms.
func last(class int) int64 {
	if class < 2*perOctave {
		return int64(class)
	}
	shift := class/perOctave - 1
	low := int64(class-shift*perOctave) << shift
	return low + int64(1)<<shift - 1
}

// Add counts d; less than zero counts as zero.
func (h *Histogram) Add(d time.Duration) {
	ms := max(0, d.Milliseconds())
	c := class(ms)
	for len(h.classes) <= c {
		h.classes = append(h.classes, 0)
	}
	h.classes[c]++
	h.count++
	h.most = max(h.most, ms)
}

// Merge adds all that o has counted.
func (h *Histogram) Merge(o Histogram) {
	for len(h.classes) < len(o.classes) {
		h.classes = append(h.classes, 0)
	}
	for c, n := range o.classes {
		h.classes[c] += n
	}
	h.count += o.count
	h.most = max(h.most, o.most)
}

// Count is how many durations were counted.
func (h Histogram) Count() int64 { return h.count }

// Most is the greatest, to the millisecond.
func (h Histogram) Most() time.Duration { return time.Duration(h.most) * time.Millisecond }

// Quantile is the duration that the share q of all, 0 to 1, do not exceed: never too low, and at most six percent too
// high. It is zero when there are none.
func (h Histogram) Quantile(q float64) time.Duration {
	rank := int64(q * float64(h.count))
	for c, n := range h.classes {
		if rank -= n; rank < 0 {
			return time.Duration(min(last(c), h.most)) * time.Millisecond
		}
	}
	return h.Most()
}

// MarshalJSON gives the quantiles in milliseconds.
func (h Histogram) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Count int64 `json:"count"`
		P50   int64 `json:"p50_ms"`
		P90   int64 `json:"p90_ms"`
		P99   int64 `json:"p99_ms"`
		Most  int64 `json:"most_ms"`
	}{h.count, h.Quantile(0.5).Milliseconds(), h.Quantile(0.9).Milliseconds(), h.Quantile(0.99).Milliseconds(), h.most})
}
