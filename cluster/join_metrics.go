package cluster

import (
	"maps"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/arcrawl/arcrawl/admin"
)

// Measure adds the metrics of a shard that was set before.
func (s *switchboard) Measure(shard int, m admin.Metrics) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serve[shard].metrics = m
}

// maxScrapes is the maximum number of requests for metrics that are answered at the same time, as of one shard.
const maxScrapes = 4

// metricsHandler returns the handler of the metrics of this process: of all its shards, and of the node once. A shard
// that is handed over meanwhile has none.
func (s *switchboard) metricsHandler() http.Handler {
	busy := make(chan struct{}, maxScrapes)
	return http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		select {
		case busy <- struct{}{}:
			defer func() { <-busy }()
		default:
			http.Error(to, "too many requests for metrics at the same time", http.StatusServiceUnavailable)
			return
		}
		var all prometheus.Gatherers
		served, of := s.measured()
		for _, n := range slices.Sorted(maps.Keys(of)) {
			_, end, here := s.begin(served[n], from.Context())
			defer end()
			if !here {
				continue
			}
			if all = append(all, of[n].Crawl); len(all) == 1 {
				all = append(all, of[n].Machine)
			}
		}
		promhttp.HandlerFor(all, promhttp.HandlerOpts{}).ServeHTTP(to, from)
	})
}

// measured returns the shards that have metrics.
func (s *switchboard) measured() (served map[int]*served, of map[int]admin.Metrics) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of = map[int]admin.Metrics{}
	for n, shard := range s.serve {
		if shard.metrics.Crawl != nil {
			of[n] = shard.metrics
		}
	}
	return maps.Clone(s.serve), of
}
