package admin

import (
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// The live series has short steps, so that the charts of a crawl that has just started move while somebody watches.
const (
	liveStep  = 5 * time.Second
	liveSteps = 120
	// liveSpan names the period that the steps cover.
	liveSpan = "10m"
)

// livePoint is one step of the live series.
type livePoint struct {
	seriesPoint
	sampled bool // the gauges are known
}

// liveSeries holds the steps of the last ten minutes. The zero value is empty.
type liveSeries [liveSteps]livePoint

// at returns the step of a moment. A step of an earlier round is emptied.
func (l *liveSeries) at(now time.Time) *livePoint {
	start := now.Truncate(liveStep)
	p := &l[start.Unix()/int64(liveStep/time.Second)%liveSteps]
	if !p.Start.Equal(start) {
		*p = livePoint{seriesPoint: seriesPoint{Start: start}}
	}
	return p
}

// points returns the steps up to now, and not before from. A step without sample has the gauges of the one before.
func (l *liveSeries) points(from, now time.Time) []seriesPoint {
	first := now.Add(-(liveSteps - 1) * liveStep)
	if first.Before(from) {
		first = from
	}
	var out []seriesPoint
	gauges := gauges{
		URIs: -1, Hosts: -1, Queued: -1, Due: -1, Overdue: -1, InProgress: -1, HostsDown: -1, DiskFree: -1, Store: -1,
	}
	for t := first.Truncate(liveStep); !t.After(now); t = t.Add(liveStep) {
		p := *l.at(t)
		if p.sampled {
			gauges = p.Gauges
		}
		p.Gauges = gauges
		out = append(out, p.seriesPoint)
	}
	return out
}

// Count adds the counts of a visit that ended now.
func (l *liveSeries) Count(now time.Time, c api.Counts) {
	p := l.at(now)
	p.Counts = p.Counts.Plus(c)
}

// Sample stores the gauges of now.
func (l *liveSeries) Sample(now time.Time, g gauges) {
	p := l.at(now)
	p.Gauges, p.sampled = g, true
}

// Since returns the steps up to now as the API has them, and not those before from.
func (l *liveSeries) Since(from, now time.Time) api.Series {
	return answerSeries(liveStep, l.points(from, now))
}

// answerSeries returns points as the API has them.
func answerSeries(step time.Duration, points []seriesPoint) api.Series {
	out := api.Series{Step: api.Seconds(step), Times: []int64{}, Values: map[string][]int64{}}
	for _, p := range points {
		out.Times = append(out.Times, p.Start.Unix())
		for _, v := range p.values() {
			out.Values[v.name] = append(out.Values[v.name], v.value)
		}
	}
	return out
}
