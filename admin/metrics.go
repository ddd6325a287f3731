package admin

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/arcrawl/arcrawl/crawler"
)

// Metric is one metric of Prometheus, as the page of metrics shows it. No label has hosts or URIs for values, so that the
// number of time series does not grow with the crawl; what concerns one host the API tells.
type Metric struct {
	Name   string
	Type   string // "counter", "gauge" or "histogram"
	Label  string // the one label, if it has one
	Values string // of the label
	Help   string
}

// metric is a Metric and how its values are taken from what is known of the crawl.
type metric struct {
	Metric
	values func(s snapshot) []labelled
}

// labelled is a value of a metric and of its label.
type labelled struct {
	label string
	value float64
}

// snapshot is what all metrics of one scrape are taken from.
type snapshot struct {
	Status
	total     Counts // since the start
	predicted predictions
}

func one(v float64) []labelled { return []labelled{{value: v}} }

func indicator(on bool) []labelled {
	if on {
		return one(1)
	}
	return one(0)
}

// Metrics is every metric that arcrawl has of its own, in the order of the page. Beside them are those of the Go runtime
// and of the process.
func Metrics() []Metric {
	all := []Metric{visitSeconds}
	for _, m := range metrics() {
		all = append(all, m.Metric)
	}
	return all
}

// visitSeconds is a histogram, which is counted as visits are settled.
var visitSeconds = Metric{Name: "arcrawl_visit_seconds", Type: "histogram", Help: "How long exchanges with servers took."}

func newVisitSeconds() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: visitSeconds.Name, Help: visitSeconds.Help, Buckets: []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300},
	})
}

func metrics() []metric {
	return append(counters(), append(stateGauges(), roomGauges()...)...)
}

// counters grow from the start of the daemon.
func counters() []metric {
	count := func(name, help string, of func(Counts) int64) metric {
		return metric{Metric{Name: name, Type: "counter", Help: help}, func(s snapshot) []labelled { return one(float64(of(s.total))) }}
	}
	return []metric{
		{
			Metric{"arcrawl_visits_total", "counter", "outcome", "version, unchanged, failed, refused, other", "Visits that were settled: a version was captured, nothing was new, a misfortune, not asked for because of robots.txt or scope."},
			func(s snapshot) []labelled {
				c := s.total
				return []labelled{
					{"version", float64(c.Versions)},
					{"unchanged", float64(c.Unchanged)},
					{"failed", float64(c.Failed)},
					{"refused", float64(c.Refused)},
					{"other", float64(c.Visits - c.Versions - c.Unchanged - c.Failed - c.Refused)},
				}
			},
		},
		{
			Metric{"arcrawl_header_predictions_total", "counter", "outcome", "same-right, same-false, change-right, change-false, missing", "What ETag, Last-Modified and 304 foretold on all hosts since the first start, and whether the body agreed. Each same-false is a version that would have been lost."},
			func(s snapshot) []labelled {
				p := s.predicted
				return []labelled{
					{"same-right", float64(p.sameRight)},
					{"same-false", float64(p.sameFalse)},
					{"change-right", float64(p.changeRight)},
					{"change-false", float64(p.changeFalse)},
					{"missing", float64(p.missing)},
				}
			},
		},
		count("arcrawl_visits_unread_total", "Visits that found nothing new and did not have to read the body.", func(c Counts) int64 { return c.Unread }),
		count("arcrawl_visits_unreached_total", "Visits that could not reach their host.", func(c Counts) int64 { return c.Down }),
		count("arcrawl_uris_found_total", "URIs that were new.", func(c Counts) int64 { return c.Found }),
		count("arcrawl_received_bytes_total", "Bytes of responses that were transferred.", func(c Counts) int64 { return c.Received }),
		count("arcrawl_spared_bytes_total", "Bytes that did not have to be transferred, going by the last capture.", func(c Counts) int64 { return c.Spared }),
		count("arcrawl_deduplicated_bytes_total", "Bytes that were transferred and did not have to be stored.", func(c Counts) int64 { return c.Deduped }),
		count("arcrawl_archived_bytes_total", "Compressed bytes added to the archive.", func(c Counts) int64 { return c.Written }),
	}
}

// stateGauges tell how the crawl stands.
func stateGauges() []metric {
	gauge := func(name, help string, of func(s snapshot) float64) metric {
		return metric{Metric{Name: name, Type: "gauge", Help: help}, func(s snapshot) []labelled { return one(of(s)) }}
	}
	return []metric{
		{
			Metric{"arcrawl_state", "gauge", "state", "crawling, paused, held", "1 for the state that the crawl is in: paused by an operator, held by a fault of its own."},
			func(s snapshot) (v []labelled) {
				for _, state := range []string{Crawling, Paused, Held} {
					v = append(v, labelled{state, indicator(s.Stand.State == state)[0].value})
				}
				return v
			},
		},
		{
			Metric{"arcrawl_hosts", "gauge", "state", "ready, snoozed, busy, idle, paused", "Hosts in each state; their sum is all hosts."},
			func(s snapshot) []labelled {
				h := s.Hosts
				return []labelled{
					{"ready", float64(h.Ready)},
					{"snoozed", float64(h.Snoozed)},
					{"busy", float64(h.Busy)},
					{"idle", float64(h.Idle)},
					{"paused", float64(h.Paused)},
				}
			},
		},
		gauge("arcrawl_hosts_down", "Hosts that could not be reached the last time.", func(s snapshot) float64 { return float64(s.Hosts.Down) }),
		gauge("arcrawl_uris", "URIs that are known.", func(s snapshot) float64 { return float64(s.URIs.Known) }),
		gauge("arcrawl_uris_queued", "URIs that have a due time.", func(s snapshot) float64 { return float64(s.URIs.Queued) }),
		gauge("arcrawl_uris_forbidden", "URIs that robots.txt forbids.", func(s snapshot) float64 { return float64(s.URIs.Forbidden) }),
		gauge("arcrawl_uris_held", "URIs that an operator holds.", func(s snapshot) float64 { return float64(s.URIs.Held) }),
		gauge("arcrawl_uris_due", "URIs that are due and wait, counted to 100,000.", func(s snapshot) float64 { return float64(s.URIs.Due) }),
		gauge("arcrawl_overdue_seconds", "How long the URI that has been due for longest has been so.", func(s snapshot) float64 { return s.URIs.Overdue.seconds() }),
		gauge("arcrawl_visits_in_progress", "Visits that are going on.", func(s snapshot) float64 { return float64(s.Workers.Busy) }),
		gauge("arcrawl_workers", "Visits that may go on at once.", func(s snapshot) float64 { return float64(s.Workers.All) }),
		{
			Metric{"arcrawl_alarms", "gauge", "kind", alarmKinds(), "Alarms that are raised."},
			func(s snapshot) []labelled { return countAlarms(s.Alarms) },
		},
	}
}

// roomGauges tell of the machine and of the configuration.
func roomGauges() []metric {
	gauge := func(name, help string, of func(s snapshot) float64) metric {
		return metric{Metric{Name: name, Type: "gauge", Help: help}, func(s snapshot) []labelled { return one(of(s)) }}
	}
	return []metric{
		gauge("arcrawl_disk_free_bytes", "Space that is left, where there is least.", func(s snapshot) float64 { return float64(s.Disk.Free) }),
		gauge("arcrawl_disk_min_free_bytes", "Space below which the crawl stands still.", func(s snapshot) float64 { return float64(s.Disk.MinFree) }),
		gauge("arcrawl_store_bytes", "Size of the store.", func(s snapshot) float64 { return float64(s.Archive.Store) }),
		gauge("arcrawl_config_loaded_seconds", "When the configuration in force was loaded, in seconds since 1970.", func(s snapshot) float64 { return float64(s.Config.Loaded.Unix()) }),
		gauge("arcrawl_config_faults", "Faults of the configuration that was last tried; it is in force only if there are none.", func(s snapshot) float64 { return float64(len(s.Config.Faults)) }),
		gauge("arcrawl_config_warnings", "Warnings about the configuration in force.", func(s snapshot) float64 { return float64(len(s.Config.Warnings)) }),
		{
			Metric{"arcrawl_build_info", "gauge", "version", "the version", "Always 1."},
			func(s snapshot) []labelled { return []labelled{{s.Version, 1}} },
		},
	}
}

// gatherer makes the metrics of each scrape from what the window knows then.
type gatherer struct{ w *Window }

// Describe leaves it to Collect to say what there is.
func (gatherer) Describe(chan<- *prometheus.Desc) {}

// Collect takes all metrics from one snapshot.
func (g gatherer) Collect(to chan<- prometheus.Metric) {
	s := g.w.snapshot()
	for _, m := range metrics() {
		var labels []string
		if m.Label != "" {
			labels = []string{m.Label}
		}
		kind := prometheus.GaugeValue
		if m.Type == "counter" {
			kind = prometheus.CounterValue
		}
		desc := prometheus.NewDesc(m.Name, m.Help, labels, nil)
		for _, v := range m.values(s) {
			values := []string{v.label}
			to <- prometheus.MustNewConstMetric(desc, kind, v.value, values[:len(labels)]...)
		}
	}
}

func (w *Window) snapshot() snapshot {
	s := snapshot{Status: w.status(), predicted: w.predictions(w.o.Now())}
	w.mu.Lock()
	defer w.mu.Unlock()
	s.total = w.total
	return s
}

// metricsHandler serves the metrics. The registry is the window's own.
func (w *Window) metricsHandler() http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(gatherer{w}, w.took, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// measure counts a visit.
func (w *Window) measure(r crawler.Report) {
	if r.Took > 0 {
		w.took.Observe(r.Took.Seconds())
	}
}

// health serves whether the daemon lives: its frontier answers, so no lock is held for ever.
func (w *Window) health(to http.ResponseWriter, _ *http.Request) {
	w.o.Frontier.Counts(w.o.Now())
	to.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = to.Write([]byte("alive\n"))
}

// ready serves whether the daemon does its work. A pause is work as ordered; a fault of its own is not.
func (w *Window) ready(to http.ResponseWriter, _ *http.Request) {
	to.Header().Set("Content-Type", "text/plain; charset=utf-8")
	s := w.stand()
	if s.State == Held {
		to.WriteHeader(http.StatusServiceUnavailable)
	}
	text := s.State
	if s.Why != "" {
		text += ": " + s.Why
	}
	_, _ = to.Write([]byte(text + "\n"))
}
