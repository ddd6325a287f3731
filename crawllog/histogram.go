package crawllog

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// Histogram counts durations in classes. Each power of two has sixteen classes, so a class is at most six percent wide.
// The zero value is empty. Memory is used only for the classes between the shortest and the longest duration.
type Histogram struct {
	classes []int64
	first   int // the number of the class that classes begins with
	count   int64
	max     int64 // ms, exact
}

// classesPerDoubling is the number of classes of each power of two.
const (
	classBits          = 4
	classesPerDoubling = 1 << classBits
)

// classOf returns the number of the class of a duration in ms.
func classOf(ms int64) int {
	if ms < classesPerDoubling {
		return int(max(0, ms))
	}
	shift := bits.Len64(uint64(ms)) - 1 - classBits
	return shift*classesPerDoubling + int(ms>>shift)
}

// classEnd returns the longest duration of a class, in ms.
func classEnd(class int) int64 {
	if class < 2*classesPerDoubling {
		return int64(class)
	}
	shift := class/classesPerDoubling - 1
	low := int64(class-shift*classesPerDoubling) << shift
	return low + int64(1)<<shift - 1
}

// Add counts d. A negative duration counts as zero.
func (h *Histogram) Add(d time.Duration) {
	ms := max(0, d.Milliseconds())
	h.addTo(classOf(ms), 1)
	h.count++
	h.max = max(h.max, ms)
}

// addTo adds n to a class, for which it makes room.
func (h *Histogram) addTo(class int, n int64) {
	switch end := h.first + len(h.classes); {
	case len(h.classes) == 0:
		h.first = class
		h.classes = append(h.classes, 0)
	case class < h.first:
		h.classes = slices.Insert(h.classes, 0, make([]int64, h.first-class)...)
		h.first = class
	case class >= end:
		h.classes = append(h.classes, make([]int64, class-end+1)...)
	}
	h.classes[class-h.first] += n
}

// Merge adds everything that o counted.
func (h *Histogram) Merge(o Histogram) {
	for i, n := range o.classes {
		if n > 0 {
			h.addTo(o.first+i, n)
		}
	}
	h.count += o.count
	h.max = max(h.max, o.max)
}

// Classes returns the number of the first class, and how many durations each class has from there on.
func (h Histogram) Classes() (first int, counts []int64) { return h.first, h.classes }

// maxClasses is the number of classes of all durations.
const maxClasses = 64 * classesPerDoubling

// FromClasses returns the histogram with the classes of another one, whose longest duration is given.
func FromClasses(first int, counts []int64, longest time.Duration) (h Histogram, err error) {
	if first < 0 || first+len(counts) > maxClasses {
		return h, fmt.Errorf("there are no classes of durations from %d to %d", first, first+len(counts))
	}
	h = Histogram{classes: slices.Clone(counts), first: first, max: longest.Milliseconds()}
	for _, n := range counts {
		if n < 0 {
			return Histogram{}, fmt.Errorf("a class of durations has %d of them", n)
		}
		h.count += n
	}
	return h, nil
}

// Count returns the number of durations.
func (h Histogram) Count() int64 { return h.count }

// Max returns the longest duration, to the millisecond.
func (h Histogram) Max() time.Duration { return time.Duration(h.max) * time.Millisecond }

// Quantile returns the duration that a share q of all durations, 0 to 1, does not exceed. It is never too short, and at
// most six percent too long. It is zero if nothing was counted.
func (h Histogram) Quantile(q float64) time.Duration {
	rank := int64(q * float64(h.count))
	for i, n := range h.classes {
		if rank -= n; rank < 0 {
			return time.Duration(min(classEnd(h.first+i), h.max)) * time.Millisecond
		}
	}
	return h.Max()
}

// MarshalJSON writes the quantiles in milliseconds.
func (h Histogram) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Count int64 `json:"count"`
		P50   int64 `json:"p50_ms"`
		P90   int64 `json:"p90_ms"`
		P99   int64 `json:"p99_ms"`
		Max   int64 `json:"max_ms"`
	}{h.count, h.Quantile(0.5).Milliseconds(), h.Quantile(0.9).Milliseconds(), h.Quantile(0.99).Milliseconds(), h.max})
}
