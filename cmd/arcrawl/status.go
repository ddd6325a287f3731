package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/human"
)

// statusFlags are the flags of arcrawl status.
type statusFlags struct {
	cli.Daemon
	top
	watch, health bool
	only          config.Filter
}

func newStatus() *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the running daemon, or of several",
		Long: `status shows whether the daemon crawls, and if not, why and since when. It shows what the daemon did in the last minute, hour
and day, the visits in progress, how late the crawl is, free disk space, alarms and configuration faults. With --watch it adds the most
overdue hosts and updates the page until Ctrl-C.

With --label, --collection or --owner it shows the hosts that these choose: their states, URIs, requests and versions of
today, visits in progress and alarms.

Exit code 69: no daemon answers.`,
		Example: `  arcrawl status --config /etc/arcrawl/arcrawl.toml
  arcrawl status --watch --every 5s
  arcrawl status --json | jq .condition
  arcrawl status --label newspapers
  arcrawl status --health`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.Daemon.Add(cmd)
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "update the page until Ctrl-C")
	cmd.Flags().BoolVar(&f.health, "health", false, "print only whether the daemon is alive, for health checks of containers")
	cli.SiteFlags(cmd, &f.only)
	f.top.add(cmd)
	return cmd
}

// run shows the state once, or repeatedly.
func (f *statusFlags) run(cmd *cobra.Command) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	if !f.only.IsZero() && f.health {
		return cli.Usage(errors.New("--label, --collection and --owner cannot be used together with --health"))
	}
	c, err := f.Client()
	if err != nil {
		return err
	}
	if f.health {
		if err := c.Health(ctx); err != nil {
			return f.Advise(err)
		}
		_, err := fmt.Fprintln(out, "alive")
		return err
	}
	if f.watch {
		page := func(out io.Writer) error { return topPage(ctx, out, c, f.hosts, f.only) }
		return f.Advise(cli.Watch(ctx, out, f.top.every, page))
	}
	if !f.only.IsZero() {
		s, err := c.SitesStatus(ctx, f.only)
		return cli.Print(&f.Daemon, out, s, err, showSites)
	}
	s, err := c.Status(ctx)
	return cli.Print(&f.Daemon, out, s, err, showStatus)
}

// shownVisits is the maximum number of visits in progress that are shown.
const shownVisits = 5

func showStatus(out io.Writer, s api.Status) error {
	name := cmp.Or(s.Instance, "no name")
	fmt.Fprintf(out, "arcrawl %s, %s, up %s\n%s\n", s.Version, name, cli.Span(s.Uptime), standLine(s.Condition, s.Now))
	showOpenAlarms(out, s.Alarms)
	fmt.Fprintln(out)
	t := cli.NumberTable(out)
	fmt.Fprintln(t, "\tvisits\tversions\tunchanged\tfailed\trefused\treceived\tspared\tarchived\t")
	row := func(name string, c api.Counts) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t\n", name, c.Visits, c.Versions, c.Unchanged, c.Failed, c.Refused,
			human.Bytes(c.Received), human.Bytes(c.Spared), human.Bytes(c.Written))
	}
	row("last minute", s.LastMinute)
	row("last hour", s.LastHour)
	row("last day", s.LastDay)
	if err := t.Flush(); err != nil {
		return err
	}
	showHostCounts(out, s, lateText(s.URIs))
	fmt.Fprintf(out, "visiting  %d with %d workers\n", s.Workers.Busy, s.Workers.All)
	showVisits(out, s.Workers.Visits)
	fmt.Fprint(out, s.Rendering.Line())
	showWings(out, s)
	fmt.Fprintf(out, "disk      %s free%s; the store takes %s\n", human.Bytes(s.Disk.Free), fullText(s.Disk),
		human.Bytes(s.Archive.Store))
	for _, f := range s.Archive.Files {
		fmt.Fprintf(out, "archive   %s, %s since %s\n", f.Name, human.Bytes(f.Size), f.Opened.Local().Format(time.DateTime))
	}
	if h := s.Archive.Handover; h.Since != nil {
		fmt.Fprintf(out, "          %s not taken since %s: %s\n", human.Count(h.Waiting, "finished file"),
			h.Since.Local().Format(time.DateTime), h.Error)
	}
	showFixity(out, s.Archive.Fixity)
	for _, f := range s.Archive.Offload.Folders {
		fmt.Fprintf(out, "folder    %s, %s of %s, %s free\n", f.Path, human.Count(f.Files, "file"), human.Bytes(f.Bytes),
			human.Bytes(f.Free))
	}
	if o := s.Archive.Offload; o.Since != nil {
		fmt.Fprintf(out, "          finished files not moved since %s: %s\n", o.Since.Local().Format(time.DateTime), o.Error)
	}
	if u := s.Archive.Offload.Upload; u != nil {
		fmt.Fprintf(out, "upload    %s in %s, %d waiting, %d skipped because they were gone or changed, %d in the earlier bucket\n",
			human.Count(u.Done, "file"), u.Bucket, u.Waiting, u.Skipped, u.Earlier)
		if u.Since != nil {
			fmt.Fprintf(out, "          not uploaded since %s: %s\n", u.Since.Local().Format(time.DateTime), u.Error)
		}
	}
	return showConfigLine(out, s.Config)
}

// showFixity prints when WARC files were compared with the manifest, and which differ.
func showFixity(out io.Writer, f api.Fixity) {
	if f.Files == 0 {
		return
	}
	fmt.Fprintf(out, "fixity    %s checked in turn", human.Count(f.Files, "file"))
	if f.Last != nil {
		fmt.Fprintf(out, ", the last at %s", f.Last.Local().Format(time.DateTime))
	}
	if f.Oldest != nil {
		fmt.Fprintf(out, ", each read since %s", f.Oldest.Local().Format(time.DateTime))
	}
	fmt.Fprintln(out)
	if f.Failed > 0 {
		fmt.Fprintf(out, "          %s not as sealed: %s\n", human.Count(f.Failed, "file"), f.Example)
	}
	if f.Error != "" {
		fmt.Fprintf(out, "          not checked: %s\n", f.Error)
	}
}

// showHostCounts prints the states of hosts and the numbers of their URIs.
func showHostCounts(out io.Writer, s api.Status, late string) {
	fmt.Fprintf(out, "\nhosts     %d: %d ready, %d resting, %d busy, %d idle, %d paused; %d unreachable\n", s.Hosts.Known, s.Hosts.Ready,
		s.Hosts.Snoozed, s.Hosts.Busy, s.Hosts.Idle, s.Hosts.Paused, s.Hosts.Down)
	showUnreachable(out, s)
	fmt.Fprintf(out, "URIs      %d: %d queued, %d forbidden by robots.txt; %s\n", s.URIs.Known, s.URIs.Queued,
		s.URIs.Forbidden, late)
}

// showVisits prints the longest visits in progress.
func showVisits(out io.Writer, all []api.Visit) {
	for _, v := range all[:min(len(all), shownVisits)] {
		fmt.Fprintf(out, "          %s for %s\n", v.URI, cli.Span(v.Seconds))
	}
}

// showUnreachable prints why hosts could not be reached.
func showUnreachable(out io.Writer, s api.Status) {
	for _, h := range s.Down[:min(len(s.Down), shownVisits)] {
		fmt.Fprintf(out, "          %s: %s, the %s failed\n", unreachableLabel(h), orNone(h.Error),
			human.Last(h.Failures, "visit"))
	}
	if more := int(s.Hosts.Down) - shownVisits; more > 0 && len(s.Down) > 0 {
		fmt.Fprintf(out, "          and %s more: arcrawl host list --state down\n", human.Count(more, "host"))
	}
}

// unreachableLabel returns the name of a host, marked if its file was removed.
func unreachableLabel(h api.Unreachable) string {
	if h.Removed {
		return human.Host(h.Host) + ", removed"
	}
	return human.Host(h.Host)
}

// standLine returns the state of the crawl in one line.
func standLine(s api.Condition, now time.Time) string {
	line := s.State
	if s.Why != "" {
		line += ": " + s.Why
	}
	if s.Since != nil {
		line += fmt.Sprintf(" (for %s", cli.Span(api.Seconds(now.Sub(*s.Since))))
		if s.Until != nil {
			line += ", ends " + s.Until.Local().Format(time.DateTime)
		}
		line += ")"
	}
	return line
}

// lateText says how many URIs are due, and for how long.
func lateText(u api.URICounts) string {
	switch {
	case u.Overdue == 0:
		return oldestText(u)
	case u.Due < 0:
		return "due ones are still being counted, " + oldestText(u)
	}
	return fmt.Sprintf("%d due, %s", u.Due, oldestText(u))
}

// oldestText says for how long URIs have been due.
func oldestText(u api.URICounts) string {
	if u.Overdue == 0 {
		return "nothing is overdue"
	}
	return "the oldest is " + cli.Span(u.Overdue) + " overdue"
}

func fullText(d api.Disk) string {
	if d.FullIn == nil {
		return ""
	}
	return fmt.Sprintf(", full in %s at the rate of the last day", cli.Span(*d.FullIn))
}

func showConfigLine(out io.Writer, c api.Config) error {
	short := c.Digest[:min(len(c.Digest), len("sha256:")+12)]
	fmt.Fprintf(out, "config    %s, %s, in force since %s, %s\n", c.Path, short, c.Loaded.Local().Format(time.DateTime),
		human.Count(len(c.Warnings), "warning"))
	if len(c.AtRestart) > 0 {
		fmt.Fprintf(out, "          waits for a restart: %s\n", strings.Join(c.AtRestart, ", "))
	}
	if c.Tried == nil || len(c.Faults) == 0 {
		return nil
	}
	fmt.Fprintf(out, "          the configuration of %s has %s and is not in force:\n", c.Tried.Local().Format(time.DateTime),
		human.Count(len(c.Faults), "fault"))
	for _, f := range c.Faults {
		fmt.Fprintf(out, "          %s\n", f)
	}
	return nil
}

// top shows the status and the most overdue hosts repeatedly.
type top struct {
	every time.Duration
	hosts int
}

func (t *top) add(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&t.every, "every", 2*time.Second, "update at this interval")
	cmd.Flags().IntVar(&t.hosts, "hosts", 10, "show `N` hosts")
}

// topPage writes one page.
func topPage(ctx context.Context, out io.Writer, c *api.Client, hosts int, only config.Filter) error {
	var page bytes.Buffer
	var err error
	if only.IsZero() {
		err = shown(&page, showStatus)(c.Status(ctx))
	} else {
		err = shown(&page, showSites)(c.SitesStatus(ctx, only))
	}
	if err != nil {
		return err
	}
	late, err := c.Hosts(ctx, api.HostFilter{Sort: "overdue", Limit: max(1, hosts), Only: only})
	if err != nil {
		return err
	}
	_, err = page.WriteTo(out)
	t := cli.NewTable(out)
	fmt.Fprintln(t, "\nhost\tstate\tURIs\toverdue\tfailures")
	for _, h := range late.Hosts {
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%d\n", h.Label(), h.Condition(), h.URIs, cli.Span(h.Overdue), h.Failures)
	}
	return errors.Join(err, t.Flush())
}

// shown returns a function that prints an answer.
func shown[A any](out io.Writer, show func(io.Writer, A) error) func(A, error) error {
	return func(a A, err error) error {
		if err != nil {
			return err
		}
		return show(out, a)
	}
}
