// This module stands for the whole server of Prometheus, of which gowarc uses one function. See the go.mod of arcrawl.
module github.com/prometheus/prometheus

go 1.26.0
