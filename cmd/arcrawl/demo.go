package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/demosite"
)

func newDemo() *cobra.Command {
	var (
		dir   string
		bound time.Duration
	)
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a crawl of a small news site that comes with the program",
		Long: `demo starts a small news site on this machine that changes while you watch, and crawls it with the real crawler, store
and archive. Its waits are shortened to seconds, so that an hour of a real crawl passes in a minute. Each visit is shown as it
happens; at the end demo sums up what was captured and what was saved, and where the WARC files and the log are.`,
		Example: "  arcrawl demo --for 60s --dir /tmp/demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if bound < 0 {
				return usageError{fmt.Errorf("--for %s: want a positive duration such as 60s", bound)}
			}
			return demo(cmd.Context(), cmd.OutOrStdout(), dir, bound)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder for everything the demo writes (default: a new folder for temporary files)")
	cmd.Flags().DurationVar(&bound, "for", 0, "stop after this long (default: until Ctrl-C)")
	return cmd
}

// demo serves the bundled site and crawls it until ctx ends or the bound is over.
func demo(ctx context.Context, out io.Writer, dir string, bound time.Duration) error {
	if bound > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, bound)
		defer cancel()
	}
	dir, err := demoFolder(dir)
	if err != nil {
		return err
	}
	site, shut, err := serveDemo(time.Now())
	if err != nil {
		return err
	}
	defer shut()
	c, err := demoConfig(dir, site)
	if err != nil {
		return err
	}
	token, err := adminToken(c.Admin.TokenFile)
	if err != nil {
		return folderError{err}
	}
	fmt.Fprintf(out, "A small news site changes at http://%s/ and is crawled into %s. Ctrl-C ends it.\n", site, dir)
	fmt.Fprintf(out, "Watch it at http://%s/ (any user name, password %s), or with: arcrawl top -c %s\n\n", c.Admin.Listen, token, filepath.Join(dir, "arcrawl.toml"))
	show := newShow(out)
	began := time.Now()
	// What the daemon would say in its log belongs on the screen only when it is bad news.
	log := newLogger(os.Stderr).Level(zerolog.WarnLevel)
	if err := crawl(ctx, c, began, log, show.visit); err != nil {
		return err
	}
	return show.sumUp(c, time.Since(began))
}

func demoFolder(dir string) (string, error) {
	if dir == "" {
		made, err := os.MkdirTemp("", "arcrawl-demo-")
		if err != nil {
			return "", folderError{fmt.Errorf("make a folder for the demo: %w; name one with --dir", err)}
		}
		return made, nil
	}
	if err := writable(dir); err != nil {
		return "", folderError{fmt.Errorf("--dir %s: %w; name a folder that you may write", dir, err)}
	}
	return filepath.Abs(dir)
}

// serveDemo serves the site on a free port of the loopback and tells its address.
func serveDemo(now time.Time) (string, func(), error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("open a port on the loopback for the demo site: %w", err)
	}
	server := &http.Server{Handler: demosite.New(now).Handler(time.Now), ReadHeaderTimeout: 10 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	return l.Addr().String(), func() {
		_ = server.Close()
		serving.Wait()
	}, nil
}

// demoTOML is the demo's configuration: that of a real crawl with seconds for hours. It stays in the demo's folder to
// be read and changed.
const demoTOML = `# The configuration of the demo. A real crawl has hours where this one has seconds.

[operator]
name = "arcrawl demo"
contact = "https://github.com/arcrawl/arcrawl"

[storage]
state = "state"
warc = "warc"
log = "crawl.log"
min_free = "100MB"

[log]
extra_info = true

[admin]
listen = "%[2]s"          # the dashboard, for whoever has the token
token_file = "admin.token"

[fetch]
allow_networks = ["127.0.0.0/8"]    # the demo site is on this machine

[politeness]
delay_factor = 5.0
min_delay = "200ms"                 # never so short on somebody else's server
max_delay = "1s"

[robots]
wait = "30s"
forbidden_wait = "30s"

[retry]
first = "5s"
max = "1m"

[[wait]]
mime = "^text/.*$"
initial = "10s"
min = "2s"
max = "2m"

[[wait]]
mime = ".*"
initial = "20s"
min = "5s"
max = "5m"

[feeds]
uris = ["http://%[1]s/feed.xml"]    # what is new in it is visited before all else,
implied = ["http://%[1]s/"]         # and the front page with it
initial = "4s"
min = "2s"
max = "10s"
min_wait = "1s"

[articles]
ladder = ["5s", "15s", "40s"]       # new articles are visited at these ages at the latest

[seeds]
uris = ["http://%[1]s/"]
`

func demoConfig(dir, site string) (*config.Config, error) {
	path := filepath.Join(dir, "arcrawl.toml")
	dashboard, err := freeAddress()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, fmt.Appendf(nil, demoTOML, site, dashboard), 0o600); err != nil {
		return nil, folderError{fmt.Errorf("write the demo's configuration: %w", err)}
	}
	return config.Load(path)
}

// freeAddress is an address of the loopback that nobody uses at this moment.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a port on the loopback for the dashboard: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// show prints visits as they happen and counts them.
type show struct {
	mu  sync.Mutex // guards the fields below
	out io.Writer

	visits, versions, unchanged, unread, failed, refused int
	received, spared, deduped, written                   int64
	uris                                                 int
}

func newShow(out io.Writer) *show { return &show{out: out} }

func (s *show) visit(r crawler.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits++
	s.uris += r.Found
	s.received += r.Received
	s.spared += r.Spared
	s.deduped += r.Deduped
	s.written += r.Written
	what := s.meaning(r)
	told := ""
	if n := r.Source.New; n > 0 && !r.Source.First {
		told = fmt.Sprintf("%d NEW: ", n)
	}
	fmt.Fprintf(s.out, "%s %5d  %-32s %-10s again in %-7s %s%s\n", r.Finished.Format(time.TimeOnly), r.Status, r.URI.RequestTarget(), what,
		r.Wait.Interval.Round(100*time.Millisecond), told, r.Wait.Reason)
}

// meaning names what a visit meant, and counts it.
func (s *show) meaning(r crawler.Report) string {
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
			return "broken off"
		}
		return "unchanged"
	}
	return r.Verdict.State.String()
}

func (s *show) sumUp(c *config.Config, took time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	files, err := filepath.Glob(filepath.Join(c.Storage.WARC, "*.warc.gz"))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, `
%d visits in %s
  %4d versions captured (first visits and changes)
  %4d unchanged visits avoided a copy, %d of them without a download (304, or broken off in mid-fetch)
  %4d failed, %d refused by robots.txt
bytes
  %8s received
  %8s not downloaded, because the headers said that nothing changed
  %8s downloaded but not stored again, because the archive has them
  %8s written to the archive (compressed)
the archive   %s
the log       %s
the settings  %s
`, s.visits, took.Round(time.Second), s.versions, s.unchanged, s.unread, s.failed, s.refused, bytesText(s.received), bytesText(s.spared),
		bytesText(s.deduped), bytesText(s.written), oneOrFolder(files, c.Storage.WARC), c.Storage.Log, c.Path)
	return err
}

func oneOrFolder(files []string, folder string) string {
	if len(files) == 1 {
		return files[0]
	}
	return fmt.Sprintf("%s (%d files)", folder, len(files))
}

// bytesText is a size for people.
func bytesText(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}
