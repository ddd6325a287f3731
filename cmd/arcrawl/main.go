// Command arcrawl revisits a curated set of web sites without end, each URI as often as it changes, and archives them.
//
// This package parses flags and prints answers. The work is done by the packages that it calls.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/daemon"
)

func main() {
	os.Exit(realMain(os.Args[1:], cli.Terminal(os.Stdout), cli.Terminal(os.Stderr)))
}

// realMain runs the command line and returns the exit code.
func realMain(args []string, stdout, stderr io.Writer) int {
	if err := daemon.CheckThreads(); err != nil {
		cli.PrintError(stderr, fmt.Sprintf("arcrawl: %v\n", err))
		return cli.ExitCode(err)
	}
	defer beginProfile()()
	ctx, stop := untilStopped(stderr)
	defer stop()
	if err := replaced(args); err != nil {
		cli.PrintError(stderr, fmt.Sprintf("arcrawl: %v\n", err))
		return cli.ExitUsage
	}
	if slices.Equal(args, []string{"version"}) {
		args = []string{"--version"}
	}
	return cli.Run(daemon.WithWings(ctx, daemonWings()), newRoot(), args, stdout, stderr)
}

// now returns the time of day for the commands of wings, which do not ask the clock.
func now() time.Time { return time.Now() }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "arcrawl",
		Short: "An archiving crawler that revisits each URI as often as it changes",
		Long: `arcrawl crawls a curated set of sites without end. It visits each URI as often as the URI changes, evaluates whether it
changed, and writes new content to WARC files. It needs no other server: its queue is in a folder of its own.

First steps:
  arcrawl demo --for 60s                 watch a crawl of a small news site that comes with the program
  arcrawl init                           write arcrawl.toml; on a terminal it asks for what must be in it
  arcrawl check --config arcrawl.toml    check the configuration and list every fault
  arcrawl run --config arcrawl.toml      crawl until SIGTERM or Ctrl-C
  arcrawl verify warc/                   check every record, digest and reference of the archive

` + cli.ExitCodes,
		Args: cobra.NoArgs,
	}
	// cobra's own flag needs a template for this text, and with a template that is executed the linker keeps every method
	// of every type, which makes the program a sixth larger.
	version := root.Flags().BoolP("version", "v", false, "version for arcrawl")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "arcrawl %s (%s, %s/%s)\n", cli.Version(), runtime.Version(),
				runtime.GOOS, runtime.GOARCH)
			return err
		}
		return cmd.Help()
	}
	cli.Prepare(root)
	root.AddCommand(cli.In(cli.FirstDay,
		newRun(), newCheck(), newInit(), newDemo(), newStatus(), newWhy(), newVisit(), newHold(), newRelease(), newPause(),
		newResume())...)
	root.AddCommand(cli.In(cli.Curator,
		newEffective(), newFetch(), newCanon(), newTraps(), newAlarms(), newOverdue(),
		newReload())...)
	root.AddCommand(cli.In(cli.Operator,
		newAudit(), newUser(), newFrontier())...)
	for _, w := range wings() {
		if w.commands != nil {
			root.AddCommand(w.commands()...)
		}
	}
	for _, w := range wings() {
		if w.extend != nil {
			w.extend(root)
		}
	}
	return root
}

// untilStopped returns a context that ends at the first SIGINT or SIGTERM. A second SIGINT ends the process
// immediately.
func untilStopped(stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	var listening sync.WaitGroup
	listening.Go(func() {
		for s := range signals {
			if ctx.Err() != nil && s == syscall.SIGINT {
				fmt.Fprintln(stderr, "arcrawl: stopped immediately; logged visits are not lost")
				os.Exit(cli.ExitInterrupted)
			}
			cancel()
		}
	})
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		listening.Wait()
		cancel()
	}
}
