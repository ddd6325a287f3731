package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
)

func newFrontier() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "frontier",
		Short: "Look at what waits to be visited, and change it",
		Long: `frontier looks at the queue of everything that is known, and changes it in bulk. URIs are chosen by name, as arguments or with
--from-file, and by --host, --prefix, --match and --state, all of which must be true of them. Every command goes through the
store in small steps, so that neither its size nor what is chosen needs memory. While a daemon runs it has the store for
itself; the commands then ask the daemon through its socket, and the crawl goes on meanwhile.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newFrontierList(), newFrontierCount(), newFrontierExport(), newFrontierImport())
	cmd.AddCommand(newFrontierForce(), newFrontierReschedule(), newFrontierHold(), newFrontierRelease(), newFrontierForget())
	cmd.AddCommand(newFrontierPause(), newFrontierResume(), newFrontierRebuild())
	return cmd
}

// steering is what the commands need of a frontier: that of a stopped daemon, or that of a running one.
type steering interface {
	list(ctx context.Context, s frontier.Selection, from frontier.Cursor, n int) ([]frontier.Entry, frontier.Cursor, error)
	count(ctx context.Context, s frontier.Selection, from frontier.Cursor) (int64, frontier.Cursor, error)
	steer(ctx context.Context, s frontier.Selection, a frontier.Action, from frontier.Cursor) (frontier.Steered, frontier.Cursor, error)
	load(ctx context.Context, replace bool, entries []frontier.Entry) (frontier.Imported, error)
	hosts(ctx context.Context, pattern string, a frontier.HostAction) (matched, changed int64, err error)
	close() error
}

// reach finds the frontier: that of the daemon if one answers, or the store of one that does not run.
func (f *frontierFlags) reach(ctx context.Context) (steering, error) {
	at, err := config.Where(f.config)
	if err == nil && at.Socket != "" {
		client := admin.NewClient(at.Socket)
		if _, _, err = client.List(ctx, frontier.Selection{}, "", 1); err == nil {
			return running{client}, nil
		}
		if !errors.Is(err, admin.ErrNoDaemon) {
			return nil, err
		}
	}
	c, err := config.Load(f.config)
	if err != nil {
		return nil, err
	}
	store, err := daemon.OpenStopped(c, time.Now())
	if errors.Is(err, frontier.ErrLocked) && at.Socket == "" {
		return nil, fmt.Errorf("%w; it cannot be asked, since admin.socket is \"off\"", err)
	}
	if err != nil {
		return nil, err
	}
	return stopped{store}, nil
}

// running is the frontier of a daemon that runs.
type running struct{ c *admin.Client }

func (r running) list(ctx context.Context, s frontier.Selection, from frontier.Cursor, n int) ([]frontier.Entry, frontier.Cursor, error) {
	return r.c.List(ctx, s, from, n)
}

func (r running) count(ctx context.Context, s frontier.Selection, from frontier.Cursor) (int64, frontier.Cursor, error) {
	return r.c.Count(ctx, s, from)
}

func (r running) steer(ctx context.Context, s frontier.Selection, a frontier.Action, from frontier.Cursor) (frontier.Steered, frontier.Cursor, error) {
	return r.c.Steer(ctx, s, a, from)
}

func (r running) load(ctx context.Context, replace bool, entries []frontier.Entry) (frontier.Imported, error) {
	return r.c.Import(ctx, replace, entries...)
}

func (r running) hosts(ctx context.Context, pattern string, a frontier.HostAction) (matched, changed int64, err error) {
	return r.c.SteerHosts(ctx, pattern, a)
}

func (r running) close() error { return nil }

// stopped is the frontier of a daemon that does not run.
type stopped struct{ f *frontier.Frontier }

func (s stopped) list(_ context.Context, sel frontier.Selection, from frontier.Cursor, n int) ([]frontier.Entry, frontier.Cursor, error) {
	return s.f.List(time.Now(), sel, from, n)
}

func (s stopped) count(_ context.Context, sel frontier.Selection, from frontier.Cursor) (int64, frontier.Cursor, error) {
	return s.f.Count(time.Now(), sel, from)
}

func (s stopped) steer(_ context.Context, sel frontier.Selection, a frontier.Action, from frontier.Cursor) (frontier.Steered, frontier.Cursor, error) {
	return s.f.Steer(time.Now(), sel, a, from)
}

func (s stopped) load(_ context.Context, replace bool, entries []frontier.Entry) (frontier.Imported, error) {
	return s.f.Import(time.Now(), replace, entries...)
}

func (s stopped) hosts(_ context.Context, pattern string, a frontier.HostAction) (matched, changed int64, err error) {
	return s.f.SteerHosts(time.Now(), pattern, a)
}

func (s stopped) close() error { return s.f.Close() }

// with reaches the frontier, does something with it and lets it go.
func (f *frontierFlags) with(cmd *cobra.Command, do func(s steering) error) error {
	s, err := f.reach(cmd.Context())
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.close())
}

func newFrontierList() *cobra.Command {
	var f frontierFlags
	var limit int
	cmd := &cobra.Command{
		Use:   "list [URI…]",
		Short: "List URIs with their states and due times",
		Long: `list prints a line for each chosen URI, all if none is chosen: when it is due, the status of its last visit, visits and
versions, its wait interval, and what else there is to say of it. The order is that of the store. With --json each line is all
that is remembered of the URI, as export writes it.`,
		Example: `  arcrawl frontier list --host www.news.example --state failing
  arcrawl frontier list --json https://www.news.example/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, func(s steering) error { return f.printAll(cmd, args, s, limit) })
		},
	}
	f.add(cmd)
	cmd.Flags().IntVar(&limit, "limit", 1000, "stop after so many; 0 is never")
	cmd.Flags().BoolVar(&f.json, "json", false, "print all that is remembered, as JSON lines")
	return cmd
}

// printAll prints the chosen URIs, or the first of them.
func (f *frontierFlags) printAll(cmd *cobra.Command, args []string, s steering, limit int) error {
	out := cmd.OutOrStdout()
	printed, now := 0, time.Now()
	errEnough := errors.New("enough")
	err := f.entries(cmd, args, s, func(e frontier.Entry) error {
		if limit > 0 && printed == limit {
			fmt.Fprintf(cmd.ErrOrStderr(), "arcrawl: there are more than these %d; --limit 0 lists all\n", limit)
			return errEnough
		}
		if printed++; f.json {
			return json.NewEncoder(out).Encode(e)
		}
		if printed == 1 {
			fmt.Fprintf(out, "%-20s %6s %6s %8s %9s  %s\n", "DUE", "STATUS", "VISITS", "VERSIONS", "WAIT", "URI")
		}
		_, err := fmt.Fprintln(out, entryLine(e, now))
		return err
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// entryLine is a URI on one line.
func entryLine(e frontier.Entry, now time.Time) string {
	due, status, wait := "on demand", "-", "-"
	if !e.Due.IsZero() {
		due = e.Due.Format("2006-01-02T15:04:05Z")
	}
	if e.LastStatus != 0 {
		status = fmt.Sprint(e.LastStatus)
	}
	if e.Wait > 0 {
		wait = span(admin.Seconds(e.Wait))
	}
	var notes []string
	for _, note := range []struct {
		say  bool
		text string
	}{
		{e.InProgress, "being visited"},
		{e.Held, "held"},
		{e.Forbidden, "forbidden by robots.txt"},
		{e.Failures > 0, fmt.Sprintf("failed %d times in a row", e.Failures)},
		{e.Gone > 0, fmt.Sprintf("gone at %d visits in a row", e.Gone)},
		{!e.InProgress && !e.Held && !e.Due.IsZero() && now.Sub(e.Due) > time.Minute, "due for " + span(admin.Seconds(now.Sub(e.Due)))},
	} {
		if note.say {
			notes = append(notes, note.text)
		}
	}
	line := fmt.Sprintf("%-20s %6s %6d %8d %9s  %s", due, status, e.Visits, e.Versions, wait, e.URI)
	if len(notes) > 0 {
		line += "  (" + strings.Join(notes, ", ") + ")"
	}
	return line
}

func newFrontierCount() *cobra.Command {
	var f frontierFlags
	cmd := &cobra.Command{
		Use:     "count [URI…]",
		Short:   "Count URIs",
		Long:    `count says how many URIs are chosen, of all if nothing else is said.`,
		Example: "  arcrawl frontier count --state due --host '*.news.example'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, func(s steering) error {
				n, err := f.count(cmd, args, s)
				if err != nil {
					return err
				}
				if f.json {
					return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]int64{"count": n})
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), n)
				return err
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print the number as JSON")
	return cmd
}

func newFrontierExport() *cobra.Command {
	var f frontierFlags
	var output string
	cmd := &cobra.Command{
		Use:   "export [URI…]",
		Short: "Write URIs with all their history as JSON lines",
		Long: `export writes a line of JSON for each chosen URI, all if none is chosen: how it was found, when it is due, and all that its
visits have taught: intervals, digests, validators, and where the archive holds its last payload. arcrawl frontier import reads
it. What is remembered of hosts (politeness, robots.txt, pauses) is not part of it, nor the index of payloads.`,
		Example: "  arcrawl frontier export --output frontier.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, func(s steering) error {
				return toFile(cmd, output, func(out io.Writer) error {
					to := json.NewEncoder(out)
					return f.entries(cmd, args, s, func(e frontier.Entry) error { return to.Encode(e) })
				})
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "-", "the file to write; - is the standard output")
	return cmd
}

// toFile writes to a new file, or to the standard output when it is named -.
func toFile(cmd *cobra.Command, name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(cmd.OutOrStdout())
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return daemon.FolderError{Err: fmt.Errorf("write %s: %w", name, err)}
	}
	return errors.Join(write(file), file.Sync(), file.Close())
}

func newFrontierImport() *cobra.Command {
	var f frontierFlags
	var replace bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Make the URIs of an export known, with all their history",
		Long: `import reads JSON lines as arcrawl frontier export writes them; FILE may be - for the standard input. A URI that is known
already stays exactly as it is, unless --replace says otherwise; so an import that was broken off is simply begun again. The
first line that is wrong ends it.`,
		Example: "  arcrawl frontier import frontier.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, func(s steering) error {
				in, done, err := input(cmd, args[0])
				if err != nil {
					return err
				}
				defer done()
				total, err := importAll(cmd.Context(), s, in, args[0], replace)
				fmt.Fprintf(cmd.ErrOrStderr(), "arcrawl: %d URIs are new, %d were known, %d were replaced, %d were being visited, %d were refused since their host is full\n",
					total.New, total.Known, total.Replaced, total.InProgress, total.Refused)
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&f.config, "config", "c", defaultConfig, "the main configuration file")
	cmd.Flags().BoolVar(&replace, "replace", false, "write over what is known of a URI")
	return cmd
}

func newFrontierPause() *cobra.Command {
	return frontierHosts("pause", frontier.Pause, "Keep hosts from being visited",
		`pause has the hosts hand out no more URIs, until they are resumed; it outlasts a restart. Visits in progress go on to their end.
A pattern as *.news.example means news.example and all hosts below it. Only hosts that are known already are paused.`)
}

func newFrontierResume() *cobra.Command {
	return frontierHosts("resume", frontier.Resume, "Let paused hosts be visited again",
		`resume ends what arcrawl frontier pause began. What became due meanwhile is visited at the host's pace.`)
}

func frontierHosts(name string, verb frontier.HostVerb, short, long string) *cobra.Command {
	var f frontierFlags
	cmd := &cobra.Command{
		Use: name + " HOST…", Short: short, Long: long,
		Example: "  arcrawl frontier " + name + " www.news.example '*.blog.example'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, func(s steering) error {
				for _, pattern := range args {
					matched, changed, err := s.hosts(cmd.Context(), strings.ToLower(pattern), frontier.HostAction{Verb: verb})
					if err != nil {
						return err
					}
					if matched == 0 {
						return fmt.Errorf("no host is known that %q fits; arcrawl frontier list shows URIs of those that are", pattern)
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s: %d of %d hosts changed\n", pattern, changed, matched)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVarP(&f.config, "config", "c", defaultConfig, "the main configuration file")
	return cmd
}
