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
)

func newFsck() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "fsck",
		Short: "Look for damage in the store of a stopped daemon",
		Long: `fsck reads the whole store and compares it with its checksums, and every entry with the others that belong to it. It names each
fault with its file or entry, says what it means and what to do, and changes nothing. The archive is another matter: arcrawl
verify reads that.

The exit code is 0 when the store is whole, 65 when it is damaged, and 69 when a daemon has it.`,
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

func fsck(out io.Writer, dir string, now time.Time) error {
	f, err := frontier.Open(frontier.Options{Dir: dir, Now: now, Inspect: true})
	switch {
	case errors.Is(err, frontier.ErrLocked):
		return fmt.Errorf("%w: stop the daemon first", err)
	case errors.Is(err, frontier.ErrCorrupt):
		return errors.Join(tellDamage(out, dir, []error{err}), errDamaged(1))
	case err != nil:
		return err
	}
	faults := fsckFaults(f)
	n := f.Counts(now)
	if err := f.Close(); err != nil {
		return err
	}
	if len(faults) == 0 {
		_, err := fmt.Fprintf(out, "%s is whole: %d URIs on %d hosts, %d of them held, %d hosts paused\n", dir, n.URIs, n.Hosts, n.Held, n.Paused)
		return err
	}
	return errors.Join(tellDamage(out, dir, faults), errDamaged(len(faults)))
}

func errDamaged(n int) error {
	return fmt.Errorf("%d faults found: %w", n, frontier.ErrCorrupt)
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
		return faults // what cannot be read cannot be compared
	}
	return parts(f.Check())
}

// maxFsckFaults is how many files are named at most.
const maxFsckFaults = 1000

// parts takes joined errors apart.
func parts(err error) []error {
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

// tellDamage prints the faults, what they mean, and what to do.
func tellDamage(out io.Writer, dir string, faults []error) error {
	meanings := map[string]bool{}
	var text strings.Builder
	fmt.Fprintf(&text, "%s is damaged:\n", dir)
	advice := "; stop, and restore its folder from a backup"
	for _, fault := range faults {
		fmt.Fprintf(&text, "  %s\n", strings.ReplaceAll(fault.Error(), advice, ""))
		meanings[meaningOf(fault.Error())] = true
	}
	text.WriteString("\nWhat that means:\n")
	for _, m := range damageMeanings {
		if meanings[m.meaning] {
			fmt.Fprintf(&text, "  %s\n", m.meaning)
		}
	}
	fmt.Fprintf(&text, `
What to do:
  1. Keep %s as it is, for whoever wants to find the cause, and do not start the daemon on it.
  2. Look at the disk: dmesg and smartctl tell whether it fails.
  3. Restore the folder from a backup, or
  4. move it away and make it anew from the logs and the archive: arcrawl frontier rebuild --help
The archive is not touched by this; arcrawl verify proves that it is whole.
`, filepath.Clean(dir))
	_, err := io.WriteString(out, text.String())
	return err
}

// damageMeanings tell what a fault means by words in its message; the first that fits.
var damageMeanings = []struct{ word, meaning string }{
	{"MANIFEST", "The list of the store's files is damaged: without it nothing of the store can be trusted."},
	{".sst", "A file of the store does not hold what was written to it: some URIs, hosts or payload digests in it are lost or wrong."},
	{"format", "The store is not what it says it is, or of another program."},
	{"has no place in the queue", "A URI that should be visited has no place in the queue: it would never be visited."},
	{"place in the queue", "A URI and its place in the queue disagree: it would be visited at a wrong time, or never."},
	{"watermark", "A URI stands where the queue is no longer read: it would never be visited."},
	{"history of a URI", "The history of a URI cannot be read: its interval, digests and validators are lost."},
	{"the record of host", "What is known of a host is lost: its politeness, its counters and where its queue begins."},
	{"robots.txt", "A copy of robots.txt is lost; it would be fetched again."},
	{"forbidden URIs", "The list of forbidden URIs disagrees with them: some would not be looked at when robots.txt changes."},
	{"host", "The counters or the queue of a host disagree with its URIs: limits and the order of visits would be wrong."},
	{"", "The store is not as it was written."},
}

func meaningOf(fault string) string {
	for _, m := range damageMeanings {
		if strings.Contains(fault, m.word) {
			return m.meaning
		}
	}
	return ""
}
