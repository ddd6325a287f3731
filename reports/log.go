package reports

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/uri"
)

// logRoute returns the request for lines of the crawl log. A client that follows the log repeats it: nothing is kept
// for it meanwhile.
func logRoute() admin.Route {
	return admin.Route{
		Method: "GET", Path: api.Base + "/log", Heavy: true, Answer: api.Log{},
		Doc: "Returns lines of the crawl log, the oldest first: the newest of a time span, or those after an earlier answer.",
		Params: admin.Filtered(
			admin.Param{Name: "host", Kind: "string", Doc: "only visits of this host, or of hosts that match a pattern such as *.example.org"},
			admin.Param{Name: "since", Kind: "string", Doc: "only lines that were logged at this time or later, as 2026-11-29T06:00:00Z"},
			admin.Param{Name: "until", Kind: "string", Doc: "only lines that were logged before this time"},
			admin.Param{Name: "after", Kind: "string", Doc: "next of an earlier answer: the lines after it, instead of the newest"},
			admin.Param{Name: "limit", Kind: "integer", Doc: "maximum number of lines, of each node, 1 to 1000 (default 100)"},
			admin.SecondsParam,
		),
		Serve: func(w *admin.Window, r *http.Request) (any, error) {
			within, err := admin.ReadSeconds(r)
			if err != nil {
				return nil, err
			}
			q, err := readLogQuestion(w, r)
			if err != nil {
				return nil, err
			}
			return q.answer(r.Context(), within)
		},
	}
}

// maxLogText is the size of the lines in an answer, in bytes, above which no further line is added.
const maxLogText = 8 << 20

// logQuestion selects lines of the log of a node.
type logQuestion struct {
	path, node string
	now        time.Time
	period     Period
	most       int
	chosen     func(*crawllog.RawEntry) bool
	after      map[string]json.RawMessage // by node: where an earlier answer ended
	from       Position                   // of this node
	size       int                        // of the lines that were taken
}

// readLogQuestion reads what a request selects. Who has to keep an embargo gets no line about a series under it.
func readLogQuestion(w *admin.Window, r *http.Request) (q logQuestion, err error) {
	o := w.Options()
	c := o.Config().Config
	q.path, q.node, q.now = c.Storage.Log, c.Cluster.Node, o.Now()
	for name, at := range map[string]*time.Time{"since": &q.period.From, "until": &q.period.To} {
		if text := r.FormValue(name); text != "" {
			if *at, err = time.Parse(time.RFC3339Nano, text); err != nil {
				return q, admin.Fault("%s: %q is not a time as 2026-11-29T06:00:00Z", name, text)
			}
		}
	}
	if text := r.FormValue("after"); text != "" {
		err := json.Unmarshal([]byte(text), &q.after)
		if own := q.after[q.node]; err == nil && own != nil {
			err = json.Unmarshal(own, &q.from)
		}
		if err != nil || q.from.Offset < 0 {
			return q, admin.Fault("after: %q is not the next of an answer", text)
		}
	}
	pattern, sites, embargo := strings.ToLower(r.FormValue("host")), w.Chooses(admin.FilterOf(r)), w.Embargo(r)
	ofHost := OfHosts(func(host string) bool {
		return frontier.HostMatches(pattern, uri.Host(host)) && (sites == nil || sites(uri.Host(host)))
	})
	q.chosen = func(g *crawllog.RawEntry) bool {
		return q.period.has(g.Logged) && ofHost(g) && !embargo.Keeps(string(g.URI), string(g.MIME))
	}
	q.most, err = admin.Number(r, "limit", 100, 1, 1000)
	return q, err
}

// answer reads the log for a bounded time.
func (q *logQuestion) answer(ctx context.Context, within time.Duration) (out api.Log, err error) {
	reading, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	out.Read = q.now.UTC()
	f := Follow(q.path, q.from)
	if q.from.First != "" {
		err = q.added(reading, f, &out)
	} else {
		err = q.newest(reading, f, &out)
	}
	if err != nil {
		return out, err
	}
	if out.Lines == nil {
		out.Lines = []api.LogLine{}
	}
	position, err := json.Marshal(f.Position())
	out.Next = map[string]json.RawMessage{q.node: position}
	return out, cmp.Or(err, ctx.Err())
}

// take adds a line to an answer if it is selected. It reports whether the answer is full.
func (q *logQuestion) take(g *crawllog.RawEntry, out *api.Log) (full bool) {
	if q.chosen(g) {
		q.size += len(g.Line)
		out.Lines = append(out.Lines, api.LogLine{At: time.UnixMilli(g.Logged).UTC(), Node: q.node, Line: string(g.Line)})
	}
	return len(out.Lines) >= q.most || q.size > maxLogText
}

// added reads the lines behind a position, until there are enough or the time is over.
func (q *logQuestion) added(ctx context.Context, f *Follower, out *api.Log) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := f.Poll(ctx, func(g *crawllog.RawEntry) {
		if q.take(g, out) {
			cancel()
		}
	})
	if out.Gap = errors.Is(err, ErrGap); out.Gap {
		err = nil
	}
	if out.More = ctx.Err() != nil; out.More {
		out.Read = time.UnixMilli(f.Position().Logged).UTC()
		return nil
	}
	return err
}

// newest reads the log back from its end, until there are enough lines, earlier ones are too old, or the time is over.
// It moves the follower to the end.
func (q *logQuestion) newest(ctx context.Context, f *Follower, out *api.Log) error {
	if err := f.SkipToEnd(); err != nil {
		return err
	}
	logs, err := f.logs()
	if err != nil {
		return err
	}
	end := &f.position
	at := slices.IndexFunc(logs, func(l logFile) bool { return l.first == end.First })
	more := true // earlier lines may be selected
	for _, l := range slices.Backward(logs[:at+1]) {
		if !q.period.To.IsZero() && l.logged >= q.period.To.UnixMilli() {
			continue // all of it is too late
		}
		err := q.backwards(ctx, l.name, func(line []byte, offset int64) bool {
			var g crawllog.RawEntry
			if l.first == end.First && offset >= end.Offset || !g.Parse(line) {
				return ctx.Err() == nil
			}
			end.Logged = max(end.Logged, g.Logged)
			more = !q.take(&g, out) && !q.precedes(g.Logged)
			return more && ctx.Err() == nil
		})
		if more = more && !q.precedes(l.logged); err != nil || !more || ctx.Err() != nil {
			out.More = more
			slices.Reverse(out.Lines)
			return err
		}
	}
	slices.Reverse(out.Lines)
	return nil
}

// precedes reports whether a time is before the period.
func (q *logQuestion) precedes(ms int64) bool { return ms < q.period.From.UnixMilli() }

// backwards calls see with the lines of a file, the last one first, until it returns false. A compressed file is read
// from its beginning: see gets the last lines that are selected, without their offset.
func (q *logQuestion) backwards(
	ctx context.Context, name string, see func(line []byte, offset int64) bool,
) (err error) {
	f, err := fileio.OpenText(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !f.Compressed() {
		return crawllog.Backwards(name, see)
	}
	var last [][]byte
	err = eachLine(ctx, bufio.NewReaderSize(f, 8*crawllog.MaxLine), -1, func(line []byte) {
		var g crawllog.RawEntry
		if !g.Parse(line) || !q.chosen(&g) {
			return
		}
		if last = append(last, bytes.Clone(line)); len(last) > 2*q.most {
			last = slices.Delete(last, 0, q.most)
		}
	})
	for i := len(last); i > 0 && err == nil && ctx.Err() == nil && see(last[i-1], 0); {
		i--
	}
	return err
}
