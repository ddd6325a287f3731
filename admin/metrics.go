package admin

import (
	"maps"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
)

// labelRows returns what has each label, with the hosts that are unreachable now. The caller holds w.mu.
func (w *Window) labelRows(views []frontier.HostView) []LabelRow {
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
func (w *Window) snapshot() MetricSnapshot {
	s := MetricSnapshot{
		Status: w.Status(), Predicted: w.predictions(w.o.Now()),
		Missing: w.o.Missing,
		Refused: w.o.Frontier.RefusedNewHosts(), Evicted: w.o.Frontier.EvictedHosts(),
		Collisions: w.o.Frontier.Collisions(), Memory: w.o.Crawler.Memory(), Reserved: w.o.Crawler.Reserved(),
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

// Metrics holds the metrics of a crawl.
type Metrics struct {
	Crawl   prometheus.Gatherer // with the labels of the crawl
	Machine prometheus.Gatherer // of the process and the machine, the same for all crawls on it
}

// Metrics returns the metrics of the crawl.
func (w *Window) Metrics() Metrics {
	crawl, machine := MetricRegistries(w.snapshot, w.took, w.o.Config().Config.Admin.Instance, w.o.Labels)
	return Metrics{Crawl: crawl, Machine: machine}
}

// metricsHandler returns the handler of /metrics. Each metric has admin.instance as a label, if it is set.
func (w *Window) metricsHandler() http.Handler {
	m := w.Metrics()
	return promhttp.HandlerFor(prometheus.Gatherers{m.Crawl, m.Machine}, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
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
