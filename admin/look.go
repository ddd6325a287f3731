package admin

import (
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// uri returns the history of a URI.
func (w *Window) uri(text string) (api.URI, error) {
	u, err := uri.Parse(text)
	if err != nil {
		return api.URI{}, Fault("%s: %w", text, err)
	}
	r, ok, err := w.o.Frontier.Get(u)
	if err != nil {
		return api.URI{}, err
	}
	if !ok {
		return api.URI{}, Unknown(u.String())
	}
	return uriOf(r, w.o.Now()), nil
}

func uriOf(r frontier.Record, now time.Time) api.URI {
	out := api.URI{
		URI: r.URI.String(), Title: r.Title, Hops: string(r.Hops), Via: r.Via, Seed: r.Seed,
		FirstSeen: api.Moment(r.FirstSeen), LastVisit: api.Moment(r.LastVisit),
		LastCapture: api.Moment(r.LastCapture), LastChange: api.Moment(r.LastChange), Due: api.Moment(r.Due),
		Overdue: late(r.Due, now), Visits: r.Visits, Versions: r.Versions, Failures: r.Failures, LastStatus: r.LastStatus,
		LastError: r.LastError,
		Wait:      api.Seconds(r.Wait), Rate: r.Rate, ContentType: r.ContentType, Status: r.Status, Size: r.Size,
		ETag: r.Validators.ETag, Modified: r.Validators.LastModified, File: r.Origin.File, Offset: r.Origin.Offset,
	}
	if !r.Payload.IsZero() {
		out.Digest = r.Payload.String()
	}
	return out
}

// predictions returns the predictions as of the last minute. It reads the rows of every host.
func (w *Window) predictions(now time.Time) headerPredictions {
	w.mu.Lock()
	known, at := w.predicted, w.predictedAt
	w.mu.Unlock()
	if now.Sub(at) < time.Minute && !at.IsZero() {
		return known
	}
	p, err := headersPredicted(w.o.Trust, w.Ours(nil))
	if err != nil {
		w.o.Log.Error().Err(err).Msg("could not read the reputations of headers; the metrics show older values")
		return known
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.predicted, w.predictedAt = p, now
	return p
}

// AddSeeds adds URIs on hosts of the configuration.
func (w *Window) AddSeeds(list api.Seeds) (api.Added, error) {
	now := w.o.Now()
	c := w.o.Config().Config
	var out api.Added
	var seeds []frontier.Candidate
	for _, text := range list.URIs {
		u, err := uri.Parse(text)
		switch {
		case err != nil:
			out.Faults = append(out.Faults, err.Error())
		case !c.SeedHost(u.Host()):
			out.Outside = append(out.Outside, u.String())
		default:
			seeds = append(seeds, frontier.Candidate{URI: u, Seed: u.String(), Due: now})
		}
	}
	added, err := w.o.Frontier.Add(now, seeds...)
	if err != nil {
		return out, err
	}
	out.New, out.Known, out.Refused, out.Posted = added.New, added.Known, added.Refused, added.Posted
	w.o.Crawler.Wake()
	return out, nil
}

// spans lists the periods of a series.
var spans = []string{liveSpan, "1h", "1d", "7d", "90d"}

// seriesOf returns what happened in a period: in steps of seconds, by minute up to a day, or by hour.
func (w *Window) seriesOf(span string) (api.Series, error) {
	if !slices.Contains(spans, span) {
		return api.Series{}, Fault("unknown span %q; valid spans: %v", span, spans)
	}
	now := w.o.Now()
	if span == liveSpan {
		w.sample(now)
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.live.Since(w.started, now), nil
	}
	const day = 24 * time.Hour
	gauges := w.gauges(now)
	long := map[string]time.Duration{"1h": time.Hour, "1d": day, "7d": 7 * day, "90d": 90 * day}[span]
	w.mu.Lock()
	defer w.mu.Unlock()
	step, points := w.series.Within(long, now)
	if len(points) == 0 { // the minute in progress is the first sample
		points = append(points, seriesPoint{Start: now.Truncate(time.Minute), Counts: w.current, Gauges: gauges})
	}
	return answerSeries(step, points), nil
}
