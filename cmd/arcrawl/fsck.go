package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
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
each fault it prints the file or entry, what the fault means, and what to do. It changes nothing. To check the archive,
use arcrawl verify.

The exit code is 0 if the store is undamaged, 65 if it is damaged, and 69 if a daemon uses it.`,
		Example: "  arcrawl fsck --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cli.ReadConfig(cmd.ErrOrStderr(), path)
			if err != nil {
				return err
			}
			if tables, _ := filepath.Glob(filepath.Join(c.Storage.State, "*.sst")); len(tables) == 0 {
				if err := daemon.CheckStore(cmd.Context(), c); err != nil {
					return err
				}
			}
			return fsck(cmd.OutOrStdout(), c.Storage.State, time.Now())
		},
	}
	cli.ConfigFlag(cmd, &path)
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
	faults := findDamage(f)
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

// printDamage prints the faults, what they mean, and what to do.
func printDamage(out io.Writer, dir string, faults []error) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s is damaged:\n", dir)
	for _, fault := range faults {
		fmt.Fprintf(&text, "  %s\n", describeDamage(fault))
	}
	text.WriteString("\nWhat it means:\n")
	for _, meaning := range explainDamage(faults) {
		fmt.Fprintf(&text, "  %s\n", meaning)
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
