package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/crawllog/stats"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts/daily"
	"github.com/arcrawl/arcrawl/uri"
)

func newFrontierRebuild() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "rebuild [LOG…]",
		Short: "Make a lost store anew from the crawl logs and the archive",
		Long: `rebuild makes the store anew when it is lost: from all lines of the crawl logs, and from the records of the archive that they
lead to. The logs are those named, or else the one of the configuration with what was rotated away beside it (.gz too), in the
order of their first lines. The folder of the store must not hold one: move a damaged one away first. With arcrawl index --write
beforehand the archive is looked up faster.

What comes back: every URI that was ever visited, with its due time, interval, counts, failures, digests, validators, the record
that holds its payload, and what the rule "learned" had made of its visits; and the daily accounts. The first visit of each host waits
as after a crash. Lines that were cut or damaged are counted and passed over.

What is learned anew while the crawl goes on:

  URIs that were found but not visited   when the page that names them has changed, or their feed or sitemap is read
  what headers of a host are worth       after 3 unchanged pages each of text and other types (midfetch.proof), or 12; until then
                                         bodies are read where a 304 would have done
  what dates of feeds are worth          after 3 dates that came true
  what URIs of a kind have in common     with the next visit of each
  what feeds have listed                 with their next reading, whose entries are taken but not as news; articles are not
                                         followed up any more
  traps of a host                        as they were at first, from the pages visited; those that were released too
  robots.txt                             before the next visit of each host

What is lost: holds and pauses, which versions a page goes back and forth between, and the index of payloads. Unless that is filled
from the archive with arcrawl dedup import, before the crawl goes on, the same payload under another URI is archived once more.`,
		Example: `  arcrawl frontier rebuild --config /etc/arcrawl/arcrawl.toml
  arcrawl dedup import --config /etc/arcrawl/arcrawl.toml /var/lib/arcrawl/warc`,
		RunE: func(cmd *cobra.Command, logs []string) error {
			c, err := config.Load(path)
			if err != nil {
				return err
			}
			if len(logs) == 0 {
				s := logStats{config: path}
				if logs, err = s.rotated(); err != nil {
					return err
				}
			}
			return rebuild(cmd.Context(), cmd.OutOrStdout(), c, logs, time.Now())
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	return cmd
}

// rebuilding is a store in the making.
type rebuilding struct {
	f     *frontier.Frontier
	days  *daily.Store
	c     *config.Config
	now   time.Time
	lines int64
	bad   int64 // lines that are none
	batch map[uri.URI]frontier.Entry
	order []uri.URI
}

func rebuild(ctx context.Context, out io.Writer, c *config.Config, logs []string, now time.Time) (err error) {
	if there, _ := filepath.Glob(filepath.Join(c.Storage.State, "*.sst")); len(there) > 0 || daemon.CheckStore(c) == nil {
		return daemon.FolderError{Err: fmt.Errorf("there is a store in %s: stop the daemon, move what is in that folder away, and try again", c.Storage.State)}
	}
	if logs, err = inTime(logs); err != nil {
		return err
	}
	if err := daemon.PrepareFolders(c); err != nil {
		return err
	}
	f, _, err := daemon.OpenStore(config.NewLive(c), now, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	days, err := daily.Open(f.DB())
	if err != nil {
		return err
	}
	r := rebuilding{f: f, days: days, c: c, now: now, batch: map[uri.URI]frontier.Entry{}}
	for _, log := range logs {
		if err := r.read(ctx, log); err != nil {
			return err
		}
	}
	if err := days.Flush(); err != nil {
		return err
	}
	n := f.Counts(now)
	fmt.Fprintf(out, "%d lines of %d logs tell of %d URIs on %d hosts; %d lines were none\n", r.lines, len(logs), n.URIs, n.Hosts, r.bad)
	found, missing, err := r.lookUp(ctx, c.Storage.WARC)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the archive has the last payload of %d of them; of %d it should, and was not found\n", found, missing)
	_, _, err = f.SteerHosts(now, "*", frontier.HostAction{Verb: frontier.Rest, Until: now.Add(max(c.ForHost("", now).Politeness.MaxDelay, time.Second))})
	return errors.Join(err, f.Sync())
}

// inTime puts logs into the order of their first lines.
func inTime(logs []string) ([]string, error) {
	first := map[string]time.Time{}
	var some []string
	for _, log := range logs {
		errFound := errors.New("found")
		err := eachLogLine(log, func(line string) error {
			e, err := crawllog.Parse(line)
			if err != nil {
				return nil //nolint:nilerr // the first line that is one
			}
			first[log] = e.Logged
			return errFound
		})
		switch {
		case errors.Is(err, errFound):
			some = append(some, log)
		case err != nil:
			return nil, err
		}
	}
	slices.SortFunc(some, func(a, b string) int { return cmp.Or(first[a].Compare(first[b]), strings.Compare(a, b)) })
	if len(some) == 0 {
		return nil, fmt.Errorf("no line of a crawl log is in %q", logs)
	}
	return some, nil
}

// eachLogLine reads a log, compressed or not.
func eachLogLine(name string, see func(line string) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if err := see(lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// read learns from a log.
func (r *rebuilding) read(ctx context.Context, log string) error {
	type visit struct {
		u uri.URI
		e crawllog.Entry
	}
	var visits []visit
	learn := func() error {
		if err := r.remember(); err != nil {
			return err
		}
		for _, v := range visits {
			about := config.About{URI: v.u, Hops: v.e.Hops, ContentType: v.e.MIME, Now: v.e.Logged}
			r.batch[v.u] = history.Replay(r.batch[v.u], v.e, r.c.For(about).Wait)
		}
		visits = visits[:0]
		return errors.Join(r.forgetBatch(), ctx.Err())
	}
	err := eachLogLine(log, func(line string) error {
		e, err := crawllog.Parse(line)
		u, err2 := uri.Parse(e.URI)
		if err != nil || err2 != nil {
			r.bad++
			return nil
		}
		r.lines++
		if err := r.count(u, e, line); err != nil {
			return err
		}
		if _, ok := r.batch[u]; !ok {
			var fresh frontier.Entry
			fresh.URI = u
			r.batch[u] = fresh
			r.order = append(r.order, u)
		}
		if visits = append(visits, visit{u, e}); len(visits) < uriBatch {
			return nil
		}
		return learn()
	})
	return errors.Join(err, learn())
}

// count adds a line to the account of its day.
func (r *rebuilding) count(u uri.URI, e crawllog.Entry, line string) error {
	var g crawllog.RawEntry
	if !g.Parse([]byte(line)) {
		return nil
	}
	day := stats.DailyCount(&g)
	if day == (evaluators.Day{}) {
		return nil
	}
	return r.days.Add(u.Host(), e.Started, day)
}

// remember brings what is known already of the URIs of a batch.
func (r *rebuilding) remember() error {
	for from := frontier.Cursor(""); len(r.order) > 0; {
		list, next, err := r.f.List(r.now, frontier.Selection{URIs: r.order}, from, uriBatch)
		if err != nil {
			return err
		}
		for _, e := range list {
			r.batch[e.URI] = e
		}
		if from = next; next == "" {
			return nil
		}
	}
	return nil
}

// forgetBatch writes what was learned of the URIs of a batch.
func (r *rebuilding) forgetBatch() error {
	entries := make([]frontier.Entry, len(r.order))
	for i, u := range r.order {
		entries[i] = r.batch[u]
	}
	clear(r.batch)
	r.order = nil
	done, err := r.f.Import(r.now, true, entries...)
	if err == nil && done.Refused > 0 {
		err = fmt.Errorf("%d URIs are more than the configuration allows on their hosts: raise crawl.max_uris_per_host or the limits of [scope], and begin again", done.Refused)
	}
	return err
}

// lookUp adds what the archive knows to every URI.
func (r *rebuilding) lookUp(ctx context.Context, dir string) (found, missing int64, err error) {
	library, err := index.OpenLibrary(ctx, dir, index.Options{}, func(warc.Finding) error { return nil })
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, library.Close()) }()
	for from := frontier.Cursor(""); ; {
		list, next, err := r.f.List(r.now, frontier.Selection{}, from, uriBatch)
		if err != nil {
			return found, missing, err
		}
		for i, e := range list {
			if e.LastRead.IsZero() {
				continue
			}
			payload := captureOf(payloadIn(library, e.Origin))
			list[i].History = history.Recaptured(e.History, captureOf(library.On(e.URI.String(), e.LastRead)), payload)
			if payload != nil {
				found++
				continue
			}
			if e.Origin != (digest.Origin{}) {
				missing++
				list[i].Origin = digest.Origin{} // nothing may refer to what is not there
			}
		}
		if _, err := r.f.Import(r.now, true, list...); err != nil {
			return found, missing, err
		}
		if from = next; next == "" {
			return found, missing, ctx.Err()
		}
	}
}

// payloadIn finds the record of an origin as a log knows it: by its place, or by URI and date.
func payloadIn(l *index.Library, o digest.Origin) (index.Capture, http.Header, error) {
	if o.File != "" {
		return l.At(o.URI, o.File, o.Offset)
	}
	return l.On(o.URI, o.Date)
}

// captureOf is a capture in the crawler's terms; nil when there is none, or none that can be read.
func captureOf(c index.Capture, header http.Header, err error) *history.Record {
	payload, bad := digest.Parse(c.Digest)
	if err != nil || bad != nil {
		return nil
	}
	r := &history.Record{Header: header, Metadata: map[string]string{}, Origin: digest.Origin{
		RecordID: c.RecordID, URI: c.URL, Date: c.Date, Payload: payload, File: c.Filename, Offset: c.Offset, Length: c.Length, Size: c.Size,
	}}
	for _, field := range c.Why {
		r.Metadata[field.Name] = field.Value
	}
	return r
}
