package admin

import (
	"maps"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
)

// labelRows returns what has each label, with the hosts that are unreachable now. The caller holds w.mu.
func (w *Window) labelRows(views []frontier.HostView) []labelRow {
	for _, r := range w.labels.Rows() {
		w.labels.Of(r.Label).Down = 0
	}
	for _, v := range views {
		if v.Failures > 0 {
			for _, l := range w.sites.Site(v.Host).Labels {
				w.labels.Of(l).Down++
			}
		}
	}
	return w.labels.Rows()
}

// snapshot returns the data of a scrape.
func (w *Window) snapshot() metricSnapshot {
	s := metricSnapshot{
		Status: w.Status(), Predicted: w.predictions(w.o.Now()),
		Missing: w.o.Missing,
		Refused: w.o.Frontier.RefusedNewHosts(), Evicted: w.o.Frontier.EvictedHosts(),
		Collisions: w.o.Frontier.Collisions(), Memory: w.o.Crawler.Memory(), Reserved: w.o.Crawler.Reserved(),
	}
	if w.o.Refused != nil {
		s.Connections = w.o.Refused()
	}
	views := w.o.Frontier.Hosts(w.o.Now())
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Labels = w.labelRows(views)
	s.Total, s.Repaired = w.total, w.repaired
	s.Documents = w.documents.Totals()
	s.Looks, s.Kept = maps.Clone(w.secondLooks), maps.Clone(w.kept)
	return s
}

// metricsHandler returns the handler of /metrics. Each metric has admin.instance as a label, if it is set.
func (w *Window) metricsHandler() http.Handler {
	all := metricRegistry(w.snapshot, w.took, w.o.Config().Config.Admin.Instance)
	return promhttp.HandlerFor(all, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// measure adds the duration of a visit to the histogram.
func (w *Window) measure(r crawler.Report) {
	if r.Took > 0 {
		w.took.Observe(r.Took.Seconds())
	}
}

// health answers if the daemon is alive: the frontier answers, so no lock is stuck.
func (w *Window) health(to http.ResponseWriter, _ *http.Request) {
	w.o.Frontier.Counts(w.o.Now())
	to.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = to.Write([]byte("alive\n"))
}

// ready answers whether the daemon works. A paused daemon is ready; one that is stopped by a fault of its own is not.
// Without a token the answer does not contain the reason.
func (w *Window) ready(to http.ResponseWriter, from *http.Request) {
	to.Header().Set("Content-Type", "text/plain; charset=utf-8")
	s := w.Condition()
	if s.State == api.Held {
		to.WriteHeader(http.StatusServiceUnavailable)
	}
	text := s.State
	if s.Why != "" && access.CallerOf(from.Context()).Role >= access.Read {
		text += ": " + s.Why
	}
	_, _ = to.Write([]byte(text + "\n"))
}

// Max is the maximum number of labels that are counted by name. Further labels count as [otherLabel] together.
const (
	maxLabels  = 100
	otherLabel = "other"
)

// labelTally counts what has one label. A host with several labels counts for each.
type labelTally struct{ Visits, Versions, Down int64 }

// labelCounts counts visits by the labels of their hosts. The number of labels that it counts is bounded, because each
// is a time series of the metrics. Its zero value is empty.
type labelCounts struct{ tallies map[string]*labelTally }

// Of returns the tally of a label.
func (c *labelCounts) Of(label string) *labelTally {
	if c.tallies == nil {
		c.tallies = map[string]*labelTally{}
	}
	t := c.tallies[label]
	if t == nil && len(c.tallies) >= maxLabels {
		if label == otherLabel {
			t = new(labelTally)
			c.tallies[otherLabel] = t
			return t
		}
		return c.Of(otherLabel)
	}
	if t == nil {
		t = new(labelTally)
		c.tallies[label] = t
	}
	return t
}

// Visit counts a visit to a host with these labels, and the version that it found.
func (c *labelCounts) Visit(labels []string, versions int64) {
	for _, l := range labels {
		t := c.Of(l)
		t.Visits++
		t.Versions += versions
	}
}

// labelRow is the tally of one label.
type labelRow struct {
	Label string
	labelTally
}

// Rows returns all tallies, sorted by label.
func (c *labelCounts) Rows() []labelRow {
	rows := make([]labelRow, 0, len(c.tallies))
	for _, label := range slices.Sorted(maps.Keys(c.tallies)) {
		rows = append(rows, labelRow{label, *c.tallies[label]})
	}
	return rows
}
