package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/demosite"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newDemo() *cobra.Command {
	var (
		dir, engine string
		bound       time.Duration
	)
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a crawl of a small news site that comes with the program",
		Long: `demo starts a small news site on this machine and crawls it with the real crawler, store and archive. The site changes while
you watch. Waits are seconds instead of hours, so that an hour of a real crawl takes about a minute. Each visit is printed. At the end
demo prints what was captured and saved, and where the WARC files and the log are.`,
		Example: "  arcrawl demo --for 60s --dir /tmp/demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if bound < 0 {
				return cli.Usage(fmt.Errorf("--for %s is negative; write a duration such as 60s", bound))
			}
			return demo(cmd.Context(), cmd.OutOrStdout(), dir, engine, bound)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write everything to this folder (default: a new temporary folder)")
	cmd.Flags().StringVar(&engine, "replay-assets", "", "show archived versions with the engine of ReplayWeb.page in this folder (default: where the package arcrawl-replay installs it)")
	cmd.Flags().DurationVar(&bound, "for", 0, "stop after this long (default: until Ctrl-C)")
	return cmd
}

// demo serves the bundled site and crawls it until ctx ends or the time is over.
func demo(ctx context.Context, out io.Writer, dir, engine string, bound time.Duration) error {
	if bound > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, bound)
		defer cancel()
	}
	dir, err := demoFolder(dir)
	if err != nil {
		return err
	}
	site, shut, err := demosite.Serve(time.Now())
	if err != nil {
		return err
	}
	defer shut()
	c, err := demoConfig(dir, site, engine)
	if err != nil {
		return err
	}
	token, err := demoToken(c)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Crawling the news site at http://%s/ into %s. Press Ctrl-C to stop.\n", site, dir)
	fmt.Fprintf(out, "Dashboard: http://%s/?token=%s\nTerminal:  arcrawl status --watch -c %s\n\n",
		c.Admin.Listen, token, filepath.Join(dir, "arcrawl.toml"))
	visits := newVisitPrinter(out)
	began := time.Now()
	// Only warnings and errors of the daemon's log are shown on the screen.
	log := newLogger(os.Stderr).Level(zerolog.WarnLevel)
	o := daemon.Options{Version: cli.Version(), ConfigRead: began, Log: log, Wings: daemonWings(), Observe: visits.print}
	if err := daemon.Run(ctx, c, o); err != nil {
		return err
	}
	return visits.sumUp(c, time.Since(began))
}

// demoLine returns the line of a visit on the screen of a demo, in which further columns take some characters.
func demoLine(
	out io.Writer, others int, clock string, status int, path, result string, wait time.Duration, reason string,
) string {
	return visitLine(newVisitPrinter(out).width()-others, clock, status, path, result, wait, reason)
}

// demoToken returns a token for the dashboard of a configuration.
func demoToken(c *config.Config) (string, error) {
	tokens, err := access.OpenTokens(c.Admin.TokenFile)
	if err != nil {
		return "", daemon.FolderError{Err: err}
	}
	return tokens[0].Secret, nil
}

func demoFolder(dir string) (string, error) {
	if dir == "" {
		made, err := os.MkdirTemp("", "arcrawl-demo-")
		if err != nil {
			return "", daemon.FolderError{Err: fmt.Errorf("create a folder for the demo: %w; name one with --dir", err)}
		}
		return made, nil
	}
	if err := daemon.MakeFolder(dir); err != nil {
		return "", daemon.FolderError{Err: fmt.Errorf("--dir %s: %w; name a writable folder", dir, err)}
	}
	return filepath.Abs(dir)
}

// demoConfig writes and reads the configuration of the demo. It shows archived versions if the engine for that is
// installed.
func demoConfig(dir, site, engine string) (*config.Config, error) {
	path := filepath.Join(dir, "arcrawl.toml")
	dashboard, err := demosite.FreeAddress()
	if err != nil {
		return nil, err
	}
	replayed, err := demosite.FreeAddress()
	if err != nil {
		return nil, err
	}
	write := func(replayed, engine string) (*config.Config, error) {
		if err := os.WriteFile(path, demosite.Config(site, dashboard, replayed, engine), 0o600); err != nil {
			return nil, daemon.FolderError{Err: fmt.Errorf("write the demo's configuration: %w", err)}
		}
		return config.Load(path)
	}
	c, err := write("", "")
	if err != nil {
		return nil, err
	}
	switch {
	case engine != "" && !hasPlayer(engine):
		return nil, cli.Usage(fmt.Errorf("--replay-assets %s: the folder has no sw.js; name the folder of the engine", engine))
	case engine == "" && !hasPlayer(c.Admin.ReplayAssets):
		return c, nil
	case engine == "":
		engine = c.Admin.ReplayAssets
	}
	if engine, err = filepath.Abs(engine); err != nil {
		return nil, err
	}
	return write(replayed, engine)
}

// visitPrinter prints visits as they happen and counts them.
type visitPrinter struct {
	mu  sync.Mutex // guards the fields below
	out io.Writer

	visits, versions, unchanged, unread, failed, refused int
	received, spared, deduped, written                   int64
	uris                                                 int
}

func newVisitPrinter(out io.Writer) *visitPrinter { return &visitPrinter{out: out} }

func (s *visitPrinter) print(r crawler.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits++
	s.uris += r.Found
	s.received += r.Received
	s.spared += r.Spared
	s.deduped += r.Deduped
	s.written += r.Written
	result := s.count(r)
	news := ""
	if n := r.Source.New; n > 0 && !r.Source.First {
		news = fmt.Sprintf("%d NEW: ", n)
	}
	fmt.Fprintln(s.out, visitLine(s.width(), r.Finished.Format(time.TimeOnly), r.Status, r.URI.RequestTarget(), result,
		r.Wait.Interval, news+r.Wait.Reason))
}

// Widths of the columns of a visit.
const (
	fixedColumns = 8 + 1 + 5 + 2 + 1 + 9 + 2 + 6 + 6 + 2 // all except path and reason
	minPath      = 16
	maxPath      = 44
	usualWidth   = 140 // of an output that is not a terminal
)

// visitLine returns the line of a visit in at most width characters. Path and reason share what the other columns
// leave; a narrow terminal gets no reason.
func visitLine(width int, clock string, status int, path, result string, wait time.Duration, reason string) string {
	room := max(width-fixedColumns, minPath)
	pathWidth := min(max(room*3/5, minPath), maxPath)
	line := fmt.Sprintf("%s %5d  %-*s %-9s  again %-6s  %s", clock, status, pathWidth, fit(path, pathWidth),
		fit(result, 9), fit(shortWait(wait), 6), fit(reason, max(room-pathWidth, 0)))
	return strings.TrimRight(line, " ")
}

// shortWait returns a wait in at most six characters.
func shortWait(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + "s"
	case d < 100*time.Minute:
		return fmt.Sprintf("%.0fm", d.Minutes())
	}
	return fmt.Sprintf("%.0fh", d.Hours())
}

// width returns the width of the terminal, or a usual one.
func (s *visitPrinter) width() int {
	if f, ok := s.out.(*os.File); ok {
		if n := cli.TerminalWidth(f); n > 0 {
			return n
		}
	}
	return usualWidth
}

// fit shortens a text to n characters, with an ellipsis at the end.
func fit(s string, n int) string {
	if r := []rune(s); n < 1 {
		return ""
	} else if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// count counts a visit and returns its result in a word.
func (s *visitPrinter) count(r crawler.Report) string {
	switch {
	case r.Failed:
		s.failed++
		return "failed"
	case r.Status < 0:
		s.refused++
		return "refused"
	case r.Verdict.State == evaluators.Changed:
		s.versions++
		if r.Verdict.First {
			return "first"
		}
		return "CHANGED"
	case r.Verdict.State == evaluators.Unchanged:
		s.unchanged++
		if r.Stopped || r.Status == http.StatusNotModified {
			s.unread++
		}
		if r.Stopped {
			return "cut short"
		}
		return "unchanged"
	}
	return r.Verdict.State.String()
}

func (s *visitPrinter) sumUp(c *config.Config, took time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	files, err := filepath.Glob(filepath.Join(c.Storage.WARC, "*.warc.gz"))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, `
%d visits in %s
  %4d versions captured (first visits and changes)
  %4d unchanged visits stored no copy; %d of them needed no download (304, or cut short after the headers)
  %4d failed, %d refused by robots.txt
bytes
  %8s received
  %8s not downloaded, because the headers proved that nothing changed
  %8s downloaded but not stored again, because the archive has them already
  %8s written to the archive (compressed)
the archive   %s
the log       %s
the settings  %s
`, s.visits, took.Round(time.Second), s.versions, s.unchanged, s.unread, s.failed, s.refused, human.Bytes(s.received), human.Bytes(s.spared),
		human.Bytes(s.deduped), human.Bytes(s.written), oneOrFolder(files, c.Storage.WARC), c.Storage.Log, c.Path)
	return err
}

func oneOrFolder(files []string, folder string) string {
	if len(files) == 1 {
		return files[0]
	}
	return fmt.Sprintf("%s (%d files)", folder, len(files))
}
