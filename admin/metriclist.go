package admin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
)

// Metric is one Prometheus metric, as docs/metrics.md shows it. No label contains hosts or URIs, so the number of time
// series does not grow with the crawl. The API has the values of single hosts.
type Metric struct {
	Name   string
	Type   string // "counter", "gauge" or "histogram"
	Label  string // name of its label, if it has one
	Values string // values of the label
	Help   string
}

// metric is a Metric with the function that computes its values.
type metric struct {
	Metric
	values func(s metricSnapshot) []labelled
}

// labelled is a value of a metric with its label.
type labelled struct {
	label string
	value float64
}

// metricSnapshot holds the data of all metrics of one scrape.
type metricSnapshot struct {
	api.Status
	Total       api.Counts // since the start
	Labels      []labelRow
	Predicted   headerPredictions
	Repaired    int64
	Looks       map[string]int64 // second looks, by what they found
	Kept        map[string]int64 // due URIs that were not visited because of a trap, by its kind
	Documents   map[string]int64 // that could not be processed, by kind of fault
	Memory      []crawler.Memory
	Reserved    int64
	Collisions  int64
	Missing     int64
	Refused     int64    // URIs of new hosts
	Evicted     int64    // hosts
	Connections [3]int64 // of clients that were refused, by reason
}

func single(v float64) []labelled { return []labelled{{value: v}} }

// gauge returns a metric without labels.
func gauge(name, help string, of func(s metricSnapshot) float64) metric {
	value := func(s metricSnapshot) []labelled { return single(of(s)) }
	return metric{Metric{Name: name, Type: "gauge", Help: help}, value}
}

// split returns a metric that has a value for each of the values of its label.
func split(name, kind, label, values, help string, of func(s metricSnapshot) []int64) metric {
	return metric{Metric{name, kind, label, values, help}, func(s metricSnapshot) (v []labelled) {
		for i, n := range of(s) {
			v = append(v, labelled{strings.Split(values, ", ")[i], float64(n)})
		}
		return v
	}}
}

// splitByName returns a counter that has a value for each of some names.
func splitByName(name, label string, names []string, help string, of func(s metricSnapshot) map[string]int64) metric {
	return split(name, "counter", label, strings.Join(names, ", "), help, func(s metricSnapshot) (v []int64) {
		for _, n := range names {
			v = append(v, of(s)[n])
		}
		return v
	})
}

// allMetrics returns every metric of arcrawl, in the order of docs/metrics.md, except metrics of the Go runtime and the
// process.
func allMetrics() []Metric {
	all := []Metric{visitSeconds}
	for _, m := range metricList() {
		all = append(all, m.Metric)
	}
	return all
}

// visitSeconds is a histogram; each settled visit adds a value.
var visitSeconds = Metric{
	Name: "arcrawl_visit_seconds", Type: "histogram", Help: "Duration of exchanges with servers.",
}

// newVisitSeconds returns the histogram of the durations of visits.
func newVisitSeconds() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: visitSeconds.Name, Help: visitSeconds.Help,
		Buckets: []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300},
	})
}

func metricList() []metric {
	return slices.Concat(
		outcomeCounters(), counterMetrics(), labelMetrics(), stateGauges(), systemGauges(), fixityGauges(),
	)
}

// outcomeCounters returns the counters that have a label.
func outcomeCounters() []metric {
	looks := []evaluators.Outcome{
		evaluators.LookSame, evaluators.LookNoisy, evaluators.LookDiffers, evaluators.LookFailed,
	}
	outcomes := make([]string, len(looks))
	for i, o := range looks {
		outcomes[i] = o.String()
	}
	return []metric{
		split("arcrawl_visits_total", "counter", "outcome", "version, unchanged, failed, refused, other",
			"Settled visits: a version was captured, nothing was new, failed, not requested because of robots.txt or scope.",
			func(s metricSnapshot) []int64 {
				c := s.Total
				other := c.Visits - c.Versions - c.Unchanged - c.Failed - c.Refused
				return []int64{c.Versions, c.Unchanged, c.Failed, c.Refused, other}
			}),
		split("arcrawl_header_predictions_total", "counter", "outcome", "same-right, same-false, change-right, change-false, missing",
			"Predictions of ETag, Last-Modified and 304 on all hosts since the first start, compared with the body. Each same-false is a version that would have been lost.",
			func(s metricSnapshot) []int64 {
				p := s.Predicted
				return []int64{p.SameRight, p.SameFalse, p.ChangeRight, p.ChangeFalse, p.Missing}
			}),
		splitByName("arcrawl_second_looks_total", "outcome", outcomes,
			"Second fetches of pages that differed at many visits in a row: they stayed the same, differed only in what no reader sees, differed, or could not be compared.",
			func(s metricSnapshot) map[string]int64 { return s.Looks }),
		splitByName("arcrawl_trapped_uris_total", "kind", spaces.Kinds(),
			"Due URIs that were not visited: they are part of a trap, or of what may be one until that is clear, or of a path that may be endless and has used up its budget.",
			func(s metricSnapshot) map[string]int64 { return s.Kept }),
		splitByName("arcrawl_document_faults_total", "kind", misfortune.Kinds(),
			"Visits whose document the program could not process, or could not scrub in time (rules). Only their URIs are affected; each error and panic is a fault of the program to report.",
			func(s metricSnapshot) map[string]int64 { return s.Documents }),
		split("arcrawl_renderings_total", "counter", "outcome", "done, failed, dropped",
			"Pages that a browser loaded, could not load, or that were not given to one because the queue was full or render.max_per_day was reached.",
			func(s metricSnapshot) []int64 {
				r := s.Rendering
				return []int64{r.Done, r.Failed, r.Dropped}
			}),
		split("arcrawl_rendering_requests_total", "counter", "answer", "archive, visit, refused, late",
			"Requests of browsers: answered from the archive, by a visit, refused, or not visited in time.",
			func(s metricSnapshot) []int64 {
				r := s.Rendering
				return []int64{r.FromArchive, r.Visited, r.Refused, r.GaveUp}
			}),
	}
}

// counterMetrics returns the other metrics that grow from the start of the daemon.
func counterMetrics() []metric {
	total := func(name, help string, of func(metricSnapshot) int64) metric {
		value := func(s metricSnapshot) []labelled { return single(float64(of(s))) }
		return metric{Metric{Name: name, Type: "counter", Help: help}, value}
	}
	count := func(name, help string, of func(api.Counts) int64) metric {
		return total(name, help, func(s metricSnapshot) int64 { return of(s.Total) })
	}
	return []metric{
		total("arcrawl_heads_repaired_total", "Responses whose head was not valid HTTP and was repaired before it was parsed. The archive has them as they were sent, over HTTP/2 repaired.",
			func(s metricSnapshot) int64 { return s.Repaired }),
		total("arcrawl_fingerprint_collisions_total", "URIs that were not added because another URI of their host has the same fingerprint. arcrawl check --store says whether a damaged row looks so.",
			func(s metricSnapshot) int64 { return s.Collisions }),
		total("arcrawl_new_hosts_refused_total", "URIs that were not added because a bound for new hosts was reached, for example crawl.max_hosts.",
			func(s metricSnapshot) int64 { return s.Refused }),
		total("arcrawl_hosts_evicted_total", "Hosts that never answered and were removed with their URIs, because nearly crawl.max_hosts hosts were known.",
			func(s metricSnapshot) int64 { return s.Evicted }),
		count("arcrawl_visits_unread_total", "Unchanged visits that did not read the body.",
			func(c api.Counts) int64 { return c.Unread }),
		count("arcrawl_visits_unreached_total", "Visits that did not reach their host.",
			func(c api.Counts) int64 { return c.Down }),
		count("arcrawl_uris_found_total", "New URIs.",
			func(c api.Counts) int64 { return c.Found }),
		count("arcrawl_received_bytes_total", "Transferred bytes of responses.",
			func(c api.Counts) int64 { return c.Received }),
		count("arcrawl_spared_bytes_total", "Bytes that were not transferred, estimated from the last capture.",
			func(c api.Counts) int64 { return c.Spared }),
		count("arcrawl_deduplicated_bytes_total", "Bytes that were transferred but not stored again.",
			func(c api.Counts) int64 { return c.Deduped }),
		count("arcrawl_archived_bytes_total", "Compressed bytes added to the archive.",
			func(c api.Counts) int64 { return c.Written }),
		count("arcrawl_bodies_refused_total", "Bodies that were not received for lack of disk space, or because their domain had used up fetch.max_per_day.",
			func(c api.Counts) int64 { return c.NoSpace }),
	}
}

// labelMetrics returns the metrics by label of the hosts.
func labelMetrics() []metric {
	values := fmt.Sprintf("the first %d labels in use; %s", maxLabels, otherLabel)
	of := func(name, kind, help string, value func(labelRow) int64) metric {
		return metric{Metric{name, kind, "label", values, help}, func(s metricSnapshot) (v []labelled) {
			for _, r := range s.Labels {
				v = append(v, labelled{r.Label, float64(value(r))})
			}
			return v
		}}
	}
	return []metric{
		of("arcrawl_label_visits_total", "counter", "Settled visits to hosts with each label. A host with several labels counts for each.",
			func(r labelRow) int64 { return r.Visits }),
		of("arcrawl_label_versions_total", "counter", "Versions captured from hosts with each label.",
			func(r labelRow) int64 { return r.Versions }),
		of("arcrawl_label_hosts_down", "gauge", "Hosts with each label that were unreachable at the last visit.",
			func(r labelRow) int64 { return r.Down }),
	}
}

// dueURIs returns the metric of due URIs. It has no value until they are counted.
func dueURIs() metric {
	help := "Due URIs, counted up to 100,000; missing until they are counted for the first time after a start."
	return metric{Metric{Name: "arcrawl_uris_due", Type: "gauge", Help: help}, func(s metricSnapshot) []labelled {
		if s.URIs.Due < 0 {
			return nil
		}
		return single(float64(s.URIs.Due))
	}}
}

// stateGauges returns the metrics of the state of the crawl.
func stateGauges() []metric {
	return []metric{
		split("arcrawl_state", "gauge", "state", "crawling, paused, held",
			"1 for the current state of the crawl: paused by an operator, held by a fault of its own.",
			func(s metricSnapshot) []int64 {
				is := map[string]int64{s.Condition.State: 1}
				return []int64{is[api.Crawling], is[api.Paused], is[api.Held]}
			}),
		split("arcrawl_hosts", "gauge", "state", "ready, snoozed, busy, idle, paused",
			"Hosts in each state; the sum is all hosts.",
			func(s metricSnapshot) []int64 {
				h := s.Hosts
				return []int64{h.Ready, h.Snoozed, h.Busy, h.Idle, h.Paused}
			}),
		gauge("arcrawl_hosts_down", "Hosts that were unreachable at the last visit.",
			func(s metricSnapshot) float64 { return float64(s.Hosts.Down) }),
		gauge("arcrawl_uris", "Known URIs.",
			func(s metricSnapshot) float64 { return float64(s.URIs.Known) }),
		gauge("arcrawl_uris_queued", "URIs with a due time.",
			func(s metricSnapshot) float64 { return float64(s.URIs.Queued) }),
		gauge("arcrawl_uris_forbidden", "URIs forbidden by robots.txt.",
			func(s metricSnapshot) float64 { return float64(s.URIs.Forbidden) }),
		gauge("arcrawl_uris_held", "URIs held by an operator.",
			func(s metricSnapshot) float64 { return float64(s.URIs.Held) }),
		dueURIs(),
		gauge("arcrawl_overdue_seconds", "Overdue time of the URI that has been due for longest.",
			func(s metricSnapshot) float64 { return time.Duration(s.URIs.Overdue).Seconds() }),
		gauge("arcrawl_overdue_reachable_seconds", "The same without the hosts that were unreachable at their last visit.",
			func(s metricSnapshot) float64 { return time.Duration(s.URIs.OverdueReachable).Seconds() }),
		gauge("arcrawl_visits_in_progress", "Visits in progress.",
			func(s metricSnapshot) float64 { return float64(s.Workers.Busy) }),
		gauge("arcrawl_workers", "Maximum number of visits in progress.",
			func(s metricSnapshot) float64 { return float64(s.Workers.All) }),
		split("arcrawl_alarms", "gauge", "kind", strings.Join(alarm.Kinds(), ", "),
			"Raised alarms that nobody has acknowledged.",
			func(s metricSnapshot) []int64 { return countAlarms(s.Alarms) }),
		gauge("arcrawl_alarms_acknowledged", "Raised alarms that somebody has acknowledged.",
			func(s metricSnapshot) float64 { return float64(alarm.Acknowledged(s.Alarms)) }),
	}
}

// systemGauges returns the metrics of the machine and the configuration.
func systemGauges() []metric {
	return []metric{
		gauge("arcrawl_disk_free_bytes", "Free space of the disk that has the least.",
			func(s metricSnapshot) float64 { return float64(s.Disk.Free) }),
		gauge("arcrawl_disk_min_free_bytes", "Free space below which the crawl pauses.",
			func(s metricSnapshot) float64 { return float64(s.Disk.MinFree) }),
		{
			Metric{"arcrawl_table_bytes", "gauge", "table", "robots, prices, space, similar, daily, cookies, looks, traps, reputation", "Memory of the tables that grow with the number of hosts: parsed robots.txt, estimated load, use of the disk today, similar URIs, daily counts, cookies, pages that are looked at twice, traps, reputation of headers and dates. Each is bounded."},
			func(s metricSnapshot) (v []labelled) {
				for _, m := range s.Memory {
					v = append(v, labelled{m.Part, float64(m.Bytes)})
				}
				return v
			},
		},
		gauge("arcrawl_disk_reserved_bytes", "Bytes that are reserved for bodies in progress.",
			func(s metricSnapshot) float64 { return float64(s.Reserved) }),
		gauge("arcrawl_store_bytes", "Size of the store.",
			func(s metricSnapshot) float64 { return float64(s.Archive.Store) }),
		gauge("arcrawl_sealed_waiting", "Finished WARC files that warc.sealed_url or warc.sealed_command has not taken yet.",
			func(s metricSnapshot) float64 { return float64(s.Archive.Handover.Waiting) }),
		split("arcrawl_lost_files", "gauge", "cause", "absent, cut, declared",
			"WARC files of which something is lost: they are gone, their ends are lost, or the operator declared them lost.",
			func(s metricSnapshot) []int64 {
				lost := s.Archive.Lost
				return []int64{int64(lost.Absent), int64(lost.CutOff), int64(lost.Declared)}
			}),
		{
			Metric{"arcrawl_folder_free_bytes", "gauge", "folder", "each of storage.folders", "Free bytes of the disk of each further folder of WARC files."},
			func(s metricSnapshot) (v []labelled) {
				for _, f := range s.Archive.Offload.Folders {
					v = append(v, labelled{f.Path, float64(f.Free)})
				}
				return v
			},
		},
		gauge("arcrawl_upload_waiting", "Finished WARC files that are not in the bucket of [upload] yet.",
			func(s metricSnapshot) float64 { return float64(s.Archive.Offload.Upload.NotUploaded()) }),
		gauge("arcrawl_visits_missing", "Visits that crawl.log had and the store did not know, when the daemon started.",
			func(s metricSnapshot) float64 { return float64(s.Missing) }),
		gauge("arcrawl_config_loaded_seconds", "Time at which the configuration in force was loaded, in seconds since 1970.",
			func(s metricSnapshot) float64 { return float64(s.Config.Loaded.Unix()) }),
		gauge("arcrawl_config_faults", "Faults of the last configuration that was loaded; it is in force only if there are none.",
			func(s metricSnapshot) float64 { return float64(len(s.Config.Faults)) }),
		gauge("arcrawl_config_warnings", "Warnings about the configuration in force.",
			func(s metricSnapshot) float64 { return float64(len(s.Config.Warnings)) }),
		split("arcrawl_connections_refused_total", "counter", "reason", "address, listener, tls",
			"Connections of clients of the dashboard, the API, WebSub and other nodes that were closed: their address had too many open, the listener had, the TLS handshake failed.",
			func(s metricSnapshot) []int64 { return s.Connections[:] }),
		{
			Metric{"arcrawl_build_info", "gauge", "version", "the version", "Always 1."},
			func(s metricSnapshot) []labelled { return []labelled{{s.Version, 1}} },
		},
	}
}

// metricCollector collects all metrics except the histogram from one snapshot a scrape.
type metricCollector struct{ Snapshot func() metricSnapshot }

// metricRegistry returns a registry for all metrics. took is the histogram. Each metric has the name of the crawl as a
// label, unless it is empty.
func metricRegistry(snapshot func() metricSnapshot, took prometheus.Collector, crawl string) *prometheus.Registry {
	r := prometheus.NewRegistry()
	labels := prometheus.Labels{}
	if crawl != "" {
		labels["crawl"] = crawl
	}
	prometheus.WrapRegistererWith(labels, r).MustRegister(
		metricCollector{snapshot}, took,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Describe sends nothing; Collect describes the metrics.
func (metricCollector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the metrics.
func (c metricCollector) Collect(to chan<- prometheus.Metric) {
	s := c.Snapshot()
	for _, m := range metricList() {
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

// countAlarms counts alarms by kind, without acknowledged ones.
func countAlarms(raised []api.Alarm) []int64 {
	out := make([]int64, len(alarm.Kinds()))
	for _, a := range raised {
		if i := slices.Index(alarm.Kinds(), a.Kind); i >= 0 && a.Acknowledged == nil {
			out[i]++
		}
	}
	return out
}

// fixityGauges returns the metrics of the checks of finished WARC files.
func fixityGauges() []metric {
	return []metric{
		gauge("arcrawl_fixity_failed", "Finished WARC files that differed from the manifest at their last check (fixity.daily).",
			func(s metricSnapshot) float64 { return float64(s.Archive.Fixity.Failed) }),
		gauge("arcrawl_fixity_oldest_seconds",
			"Time of the last check of the WARC file whose last check is oldest, in seconds since 1970; 0 if none is checked.",
			func(s metricSnapshot) float64 {
				if at := s.Archive.Fixity.Oldest; at != nil {
					return float64(at.Unix())
				}
				return 0
			}),
	}
}
