// Package labels counts visits by the labels of their hosts. The number of labels that it counts is bounded, because
// each is a time series of the metrics.
package labels

import (
	"maps"
	"slices"
)

// Max is the maximum number of labels that are counted by name. Further labels count as [Other] together.
const (
	Max   = 100
	Other = "other"
)

// Tally counts what has one label. A host with several labels counts for each.
type Tally struct{ Visits, Versions, Down int64 }

// Counter counts by label. Its zero value is empty.
type Counter struct{ tallies map[string]*Tally }

// Of returns the tally of a label.
func (c *Counter) Of(label string) *Tally {
	if c.tallies == nil {
		c.tallies = map[string]*Tally{}
	}
	t := c.tallies[label]
	if t == nil && len(c.tallies) >= Max {
		if label == Other {
			t = new(Tally)
			c.tallies[Other] = t
			return t
		}
		return c.Of(Other)
	}
	if t == nil {
		t = new(Tally)
		c.tallies[label] = t
	}
	return t
}

// Visit counts a visit to a host with these labels, and the version that it found.
func (c *Counter) Visit(labels []string, versions int64) {
	for _, l := range labels {
		t := c.Of(l)
		t.Visits++
		t.Versions += versions
	}
}

// Row is the tally of one label.
type Row struct {
	Label string
	Tally
}

// Rows returns all tallies, sorted by label.
func (c *Counter) Rows() []Row {
	rows := make([]Row, 0, len(c.tallies))
	for _, label := range slices.Sorted(maps.Keys(c.tallies)) {
		rows = append(rows, Row{label, *c.tallies[label]})
	}
	return rows
}
