package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/terminal"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
)

// configFlag adds the flag that names the main configuration file.
func configFlag(cmd *cobra.Command, path *string) {
	configFlagFor(cmd, path, "the main configuration file")
}

// readConfig reads the configuration for a command that only reads. A broken host file is named on errs, and does not
// stop the command.
func readConfig(errs io.Writer, path string) (*config.Config, error) {
	c, err := daemon.ReadConfig(path)
	if err != nil {
		return nil, err
	}
	for _, f := range c.Broken {
		fmt.Fprintf(errs, "warning: %s (the last good copy of this file is used, if the daemon has kept one)\n", f)
	}
	return c, nil
}

// group returns a command that only has subcommands. Without one it prints its help.
func group(name, short string, subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(subcommands...)
	return cmd
}

// fromStore opens the store of a stopped daemon, returns the answer of read, and closes the store.
func fromStore[A any](c *config.Config, read func(*frontier.Frontier) (A, error)) (answer A, err error) {
	f, err := daemon.OpenStopped(c, time.Now())
	if err != nil {
		return answer, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return read(f)
}

// newTable returns a table with two spaces between its columns. Cells end in tabs, and Flush prints the table.
func newTable(out io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(out, 0, 0, 2, ' ', 0) }

// numberTable returns a table like newTable with cells aligned to the right.
func numberTable(out io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
}

// progressEvery is the time between two updates of the progress line.
const progressEvery = 500 * time.Millisecond

// showLine shows a line on a terminal and updates it until stop is called. It does nothing if w is not a terminal.
func showLine(w io.Writer, line func() string) (stop func()) {
	if !terminal.Is(w) {
		return func() {}
	}
	end := make(chan struct{})
	var showing sync.WaitGroup
	showing.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-end:
				terminal.Control(w, "\r"+clearLine)
				return
			case <-tick.C:
				terminal.Control(w, "\r"+clearLine)
				fmt.Fprint(w, line())
			}
		}
	})
	return func() {
		close(end)
		showing.Wait()
	}
}
