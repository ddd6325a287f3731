package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newFsck() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "fsck",
		Short: "Check the store of a stopped daemon for damage",
		Long: `fsck reads the whole store, compares it with its checksums, and compares each entry with the entries that belong to it. For
each fault it prints the file or entry, what the fault means, and what to do. It changes nothing. To check the archive, use
arcrawl verify.

The exit code is 0 if the store is undamaged, 65 if it is damaged, and 69 if a daemon uses it.`,
		Example: "  arcrawl fsck --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(path)
			if err != nil {
				return err
			}
			if tables, _ := filepath.Glob(filepath.Join(c.Storage.State, "*.sst")); len(tables) == 0 {
				if err := daemon.CheckStore(c); err != nil {
					return err
				}
			}
			return fsck(cmd.OutOrStdout(), c.Storage.State, time.Now())
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	return cmd
}

// fsck checks the store in dir and prints the result.
func fsck(out io.Writer, dir string, now time.Time) error {
	f, err := frontier.Open(frontier.Options{Dir: dir, Now: now, Inspect: true})
	switch {
	case errors.Is(err, frontier.ErrLocked):
		return fmt.Errorf("%w: stop the daemon first", err)
	case errors.Is(err, frontier.ErrCorrupt):
		return errors.Join(printDamage(out, dir, []error{err}), errDamaged(1))
	case err != nil:
		return err
	}
	faults := fsckFaults(f)
	n := f.Counts(now)
	if err := f.Close(); err != nil {
		return err
	}
	if len(faults) == 0 {
		_, err := fmt.Fprintf(out, "%s is undamaged: %s on %s, %d of them held, %s paused\n",
			dir, human.Count(n.URIs, "URI"), human.Count(n.Hosts, "host"), n.Held, human.Count(n.Paused, "host"))
		return err
	}
	return errors.Join(printDamage(out, dir, faults), errDamaged(len(faults)))
}

// errDamaged returns the error of a store with n faults.
func errDamaged(n int) error {
	return fmt.Errorf("%s found: %w", human.Count(n, "fault"), frontier.ErrCorrupt)
}

// fsckFaults reads the whole store twice: its files against their checksums, and its entries against each other.
func fsckFaults(f *frontier.Frontier) (faults []error) {
	for done := false; !done && len(faults) < maxFsckFaults; {
		var err error
		if done, err = f.Verify(math.MaxInt64); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) > 0 {
		return faults // damaged files cannot be compared
	}
	return split(f.Check())
}

// maxFsckFaults is the maximum number of damaged files that are listed.
const maxFsckFaults = 1000

// split returns the errors that were joined into err.
func split(err error) []error {
	var many interface{ Unwrap() []error }
	if err == nil {
		return nil
	}
	if !errors.As(err, &many) {
		return []error{err}
	}
	var all []error
	for _, part := range many.Unwrap() {
		if !errors.Is(part, frontier.ErrCorrupt) || part.Error() != frontier.ErrCorrupt.Error() {
			all = append(all, part)
		}
	}
	return all
}

// printDamage prints the faults, what they mean, and what to do.
func printDamage(out io.Writer, dir string, faults []error) error {
	meanings := map[string]bool{}
	var text strings.Builder
	fmt.Fprintf(&text, "%s is damaged:\n", dir)
	advice := "; stop, and restore its folder from a backup"
	for _, fault := range faults {
		fmt.Fprintf(&text, "  %s\n", strings.ReplaceAll(fault.Error(), advice, ""))
		meanings[meaning(fault.Error())] = true
	}
	text.WriteString("\nWhat it means:\n")
	for _, m := range damageMeanings {
		if meanings[m.meaning] {
			fmt.Fprintf(&text, "  %s\n", m.meaning)
		}
	}
	fmt.Fprintf(&text, `
What to do:
  1. Keep a copy of %s for finding the cause, and do not start the daemon with it.
  2. Check the disk with dmesg and smartctl.
  3. Restore the folder from a backup, or
  4. move it away and rebuild the store from the logs and the archive: arcrawl frontier rebuild --help
The archive is not affected. To check it, use arcrawl verify.
`, filepath.Clean(dir))
	_, err := io.WriteString(out, text.String())
	return err
}

// damageMeanings explains faults by words in their messages. The first match applies.
var damageMeanings = []struct{ word, meaning string }{
	{"MANIFEST", "The list of the store's files is damaged: without it, nothing in the store can be trusted."},
	{".sst", "A file of the store is damaged: some URIs, hosts or payload digests in it are lost or wrong."},
	{"format", "The store has an unknown format, or belongs to another program."},
	{"has no place in the queue", "A URI is missing from the queue: it would never be visited."},
	{"place in the queue", "A URI is at the wrong place in the queue: it would be visited at a wrong time, or never."},
	{"watermark", "A URI is in a part of the queue that is no longer read: it would never be visited."},
	{"history of a URI", "The history of a URI cannot be read: its interval, digests and validators are lost."},
	{"the record of host", "The state of a host is lost: its politeness, its counters and the start of its queue."},
	{"robots.txt", "A copy of robots.txt is lost: it would be fetched again."},
	{"forbidden URIs", "The list of forbidden URIs is wrong: some would not be visited when robots.txt allows them again."},
	{"host", "The counters or the queue of a host do not match its URIs: limits and the order of visits would be wrong."},
	{"", "The store is damaged."},
}

// meaning returns what a fault means.
func meaning(fault string) string {
	for _, m := range damageMeanings {
		if strings.Contains(fault, m.word) {
			return m.meaning
		}
	}
	return ""
}
