package admin

import (
	"maps"
	"slices"
)

// Max is the maximum number of labels that are counted by name. Further labels count as [OtherLabel] together.
const (
	MaxLabels  = 100
	OtherLabel = "other"
)

// LabelTally counts what has one label. A host with several labels counts for each.
type LabelTally struct{ Visits, Versions, Down int64 }

// LabelCounts counts visits by the labels of their hosts. The number of labels that it counts is bounded, because each
// is a time series of the metrics. Its zero value is empty.
type LabelCounts struct{ tallies map[string]*LabelTally }

// Of returns the tally of a label.
func (c *LabelCounts) Of(label string) *LabelTally {
	if c.tallies == nil {
		c.tallies = map[string]*LabelTally{}
	}
	t := c.tallies[label]
	if t == nil && len(c.tallies) >= MaxLabels {
		if label == OtherLabel {
			t = new(LabelTally)
			c.tallies[OtherLabel] = t
			return t
		}
		return c.Of(OtherLabel)
	}
	if t == nil {
		t = new(LabelTally)
		c.tallies[label] = t
	}
	return t
}

// Visit counts a visit to a host with these labels, and the version that it found.
func (c *LabelCounts) Visit(labels []string, versions int64) {
	for _, l := range labels {
		t := c.Of(l)
		t.Visits++
		t.Versions += versions
	}
}

// LabelRow is the tally of one label.
type LabelRow struct {
	Label string
	LabelTally
}

// Rows returns all tallies, sorted by label.
func (c *LabelCounts) Rows() []LabelRow {
	rows := make([]LabelRow, 0, len(c.tallies))
	for _, label := range slices.Sorted(maps.Keys(c.tallies)) {
		rows = append(rows, LabelRow{label, *c.tallies[label]})
	}
	return rows
}
