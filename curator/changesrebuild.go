package curator

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/changes"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

func newChangesRebuild(c *changesCommand) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Compare archived versions again, and store what changed",
		Long: `rebuild reads the archived versions of each page since a time, compares each with the one before, and replaces the stored
changes of these days; with --host, only the changes of one host. While the daemon runs, today stays unchanged.`,
		Example: `  arcrawl changes rebuild --since 2026-11-20
  arcrawl changes rebuild --since 400d --host www.news.example`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.rebuild(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	c.Add(cmd)
	return cmd
}

// rebuilding makes the changes of an archive again.
type rebuilding struct {
	conf    *config.Config
	library *captures.Library
	host    string
	since   time.Time
	end     time.Time // changes from then on are left as they are; zero = none
	folder  string    // of the lines of each day, in no order
	lines   map[string]*bytes.Buffer
	waiting int // bytes of lines
	found   int

	key   string // of the URIs in pages
	pages map[string]*pageHistory
}

// pageHistory holds the state of a URI while its captures are read in the order of time.
type pageHistory struct {
	entry    captures.Entry // of the last version of the page
	versions int
	away     string // as [awayBy] says
}

func (c *changesCommand) rebuild(ctx context.Context, out, errs io.Writer) (err error) {
	r := rebuilding{host: c.host, lines: map[string]*bytes.Buffer{}}
	if r.since, err = c.begin(); err != nil {
		return err
	}
	r.since = r.since.UTC().Truncate(24 * time.Hour)
	if r.conf, err = cli.ReadConfig(errs, c.Config); err != nil {
		return err
	}
	if client, err := c.Client(); err == nil {
		if _, err = client.Missing(nil).HostNames(ctx); err == nil {
			r.end = c.now().UTC().Truncate(24 * time.Hour)
		}
	}
	store := &changeStore{dir: filepath.Join(r.conf.Storage.State, changesFolder)}
	if err := os.MkdirAll(store.dir, 0o750); err != nil {
		return err
	}
	if r.folder, err = os.MkdirTemp(store.dir, ".rebuild-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.folder)) }()
	progress := new(warc.Progress)
	stop := cli.ShowProgress(errs, progress)
	damaged := 0
	r.library, err = captures.OpenLibrary(ctx, r.conf.Storage.WARC, captures.Options{Progress: progress},
		func(warc.Finding) error { damaged++; return nil })
	stop()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.library.Close()) }()
	err = r.library.InOrder(func(e captures.Entry) error { return errors.Join(ctx.Err(), r.see(ctx, e)) })
	if err = errors.Join(err, r.flush()); err != nil {
		return err
	}
	days, err := r.replace(store)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s in %s\n", human.Count(r.found, "change"), human.Count(days, "day"))
	if damaged > 0 {
		fmt.Fprintf(errs, "%s of the archive cannot be read; arcrawl verify lists them\n", human.Count(damaged, "part"))
	}
	return err
}

// see notes what changed with a capture.
func (r *rebuilding) see(ctx context.Context, e captures.Entry) error {
	u, err := uri.Parse(e.URL)
	if err != nil || u.IsRobots() || r.host != "" && string(u.Host()) != r.host {
		return nil //nolint:nilerr // it is not a page
	}
	if e.Key != r.key {
		r.key, r.pages = e.Key, map[string]*pageHistory{}
	}
	h := r.pages[e.URL]
	if h == nil {
		h = &pageHistory{}
		r.pages[e.URL] = h
	}
	if h.away == "" && h.entry.Digest == e.Digest || isFailure(e) {
		return nil
	}
	page, away, ok := captures.Page{}, "", true
	inPeriod := !e.Date().Before(r.since) && (r.end.IsZero() || e.Date().Before(r.end))
	if inPeriod {
		page, away, ok = r.read(ctx, e)
	} else if status, err := strconv.Atoi(e.Status); err == nil {
		away = awayBy(&crawler.Report{Status: status})
	}
	if !ok || away != "" && (h.versions == 0 || away == h.away) {
		return nil
	}
	before, was := h.entry, h.away
	if h.away = away; away == "" && before.Digest != e.Digest {
		h.entry, h.versions = e, h.versions+1
	}
	if !inPeriod || before.URL == "" {
		return nil
	}
	var change captures.Change
	if away != "" {
		change = changes.Between(captures.Page{URI: e.URL, Status: http.StatusOK}, page, h.versions)
	} else {
		change = r.compare(ctx, before, page, was, u, e.Date())
	}
	return r.add(r.captureOf(u, e, before, page, h.versions, change))
}

// isFailure reports whether a capture says nothing about its page.
func isFailure(e captures.Entry) bool {
	status, err := strconv.Atoi(e.Status)
	switch {
	case e.MIME == index.RevisitMIME:
		return false
	case err != nil:
		return true
	case status == http.StatusNotFound, status == http.StatusGone, status == http.StatusUnavailableForLegalReasons:
		return false
	}
	return status < 200 || status >= 400 || status == http.StatusNotModified
}

// read reads a version. away says why the page was not there, and ok is false if it cannot be read, or is no page.
func (r *rebuilding) read(ctx context.Context, e captures.Entry) (p captures.Page, away string, ok bool) {
	p, err := r.library.PageOf(ctx, e)
	if err != nil {
		return p, "", false
	}
	html := isHTML(p.Header.Get("Content-Type"))
	if html {
		begin := p.Content[:min(len(p.Content), evaluators.BlockReads)]
		p.Wall = cmp.Or(p.Wall, evaluators.Block(evaluators.Answer{Status: p.Status, Header: p.Header, Content: begin}))
	}
	away = awayBy(&crawler.Report{Status: p.Status, Block: p.Wall})
	return p, away, html || away != "" || p.Header.Get("Location") != ""
}

// compare says what changed from the version of an entry to a later one. was says why the page was not there between.
func (r *rebuilding) compare(
	ctx context.Context, before captures.Entry, after captures.Page, was string, u uri.URI, at time.Time,
) captures.Change {
	earlier, err := r.library.PageOf(ctx, before)
	if err != nil {
		return captures.Change{Problem: "The version before cannot be read. " + captures.Sentence(err)}
	}
	about := config.About{URI: u, ContentType: after.Header.Get("Content-Type"), Now: at}
	change, err := captures.Between(earlier, after, 0, r.conf.Scrubbing(about))
	if err != nil {
		change = captures.Change{Problem: "The versions cannot be compared. " + err.Error()}
	}
	return returned(change, was)
}

// captureOf returns a change as it is stored.
func (r *rebuilding) captureOf(
	u uri.URI, e, before captures.Entry, page captures.Page, versions int, change captures.Change,
) api.Capture {
	out := api.Capture{
		At: e.Date().UTC(), Host: string(u.Host()), URI: e.URL, Kind: api.CaptureChanged, Versions: versions,
		Change: changeOf(change),
	}
	contentType := page.Header.Get("Content-Type")
	out.Type, _, _ = mime.ParseMediaType(contentType)
	out.Title = cut(changes.Read(page.Content, contentType, e.URL).Title)
	series := captures.SeriesIn(r.conf.WARC.Prefix)
	out.Change.Noted, out.Change.Series = out.At, cmp.Or(series(e), series(before))
	if page.Wall == "" && page.Status < 400 {
		out.Change.Before = before.Timestamp
	}
	return out
}

// maxLinesInMemory is the maximum number of bytes of lines in memory.
const maxLinesInMemory = 32 << 20

// add adds a change to the lines of its day.
func (r *rebuilding) add(c api.Capture) error {
	line, err := lineOf(c)
	if err != nil {
		return err
	}
	day := c.Change.Noted.Format(time.DateOnly)
	if r.lines[day] == nil {
		r.lines[day] = new(bytes.Buffer)
	}
	r.lines[day].Write(line)
	r.found++
	if r.waiting += len(line); r.waiting > maxLinesInMemory {
		return r.flush()
	}
	return nil
}

// flush writes the lines in memory to the files of their days.
func (r *rebuilding) flush() error {
	for day, lines := range r.lines {
		f, err := os.OpenFile(filepath.Join(r.folder, day), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o640)
		if err != nil {
			return err
		}
		_, err = f.Write(lines.Bytes())
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	clear(r.lines)
	r.waiting = 0
	return nil
}

// replace replaces the files of the days that were made again, and returns their number. Of days that had changes and
// have none any more, the changes go too.
func (r *rebuilding) replace(store *changeStore) (days int, err error) {
	all, err := store.files()
	if err != nil {
		return 0, err
	}
	made, err := os.ReadDir(r.folder)
	if err != nil {
		return 0, err
	}
	names := map[string]bool{}
	for _, f := range made {
		names[f.Name()] = true
	}
	for _, f := range all {
		day, _ := time.Parse(time.DateOnly, f.day)
		if !day.Before(r.since) && (r.end.IsZero() || day.Before(r.end)) {
			names[f.day] = true
		}
	}
	for _, day := range slices.Sorted(maps.Keys(names)) {
		if err := r.replaceDay(store, day); err != nil {
			return days, err
		}
		days++
	}
	return days, store.removeOld()
}

// replaceDay writes the file of a day: the lines that were made again, and the lines of other hosts.
func (r *rebuilding) replaceDay(store *changeStore, day string) error {
	path := filepath.Join(store.dir, day+".jsonl")
	var list []api.Capture
	for _, from := range []struct {
		path string
		kept bool
	}{{path, true}, {filepath.Join(r.folder, day), false}} {
		text, err := os.ReadFile(from.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for line := range bytes.Lines(text) {
			c, ok := parseChange(line)
			if ok && (!from.kept || r.host != "" && c.Host != r.host) {
				list = append(list, c)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b api.Capture) int { return a.Change.Noted.Compare(b.Change.Noted) })
	var out bytes.Buffer
	last := time.Time{}
	for _, c := range list {
		if !c.Change.Noted.After(last) {
			c.Change.Noted = last.Add(time.Nanosecond)
		}
		last = c.Change.Noted
		line, err := lineOf(c)
		if err != nil {
			return err
		}
		if out.Len()+len(line) > maxDayBytes {
			break
		}
		out.Write(line)
	}
	return fileio.Write(path, out.Bytes(), 0o640)
}
