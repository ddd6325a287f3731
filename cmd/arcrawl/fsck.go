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

// checkStore checks the store of a stopped daemon for damage.
func checkStore(cmd *cobra.Command, path string) error {
	c, err := cli.ReadConfig(cmd.ErrOrStderr(), path)
	if err != nil {
		return err
	}
	if tables, _ := filepath.Glob(filepath.Join(c.Storage.State, "*.sst")); len(tables) == 0 {
		if err := daemon.CheckStore(c); err != nil {
			return err
		}
	}
	return findFaults(cmd.OutOrStdout(), c.Storage.State, time.Now())
}

// findFaults checks the store in dir and prints the result.
func findFaults(out io.Writer, dir string, now time.Time) error {
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
  4. move it away and rebuild the store from the logs and the archive: arcrawl backup restore --rebuild
The archive is not affected. To check it, use arcrawl verify.
`, filepath.Clean(dir))
	_, err := io.WriteString(out, text.String())
	return err
}
