// Command arcrawl revisits a curated set of web sites without end, each URI as often as it changes, and archives them.
//
// This package parses flags and prints answers. The work is done by the packages that it calls.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cluster/node"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/terminal"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/daemon/journal"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/frontier/backup"
	"github.com/arcrawl/arcrawl/internal/profile"
)

func main() {
	os.Exit(realMain(os.Args[1:], terminal.For(os.Stdout), terminal.For(os.Stderr)))
}

// realMain runs the command line and returns the exit code.
func realMain(args []string, stdout, stderr io.Writer) int {
	if err := daemon.CheckThreads(); err != nil {
		journal.PrintError(stderr, fmt.Sprintf("arcrawl: %v\n", err))
		return exitCode(err)
	}
	defer profile.Begin()()
	ctx, stop := untilStopped(stderr)
	defer stop()
	root := newRoot()
	understood := false // the command line is valid and its command has started
	finder := newConfigFinder()
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { understood = true; finder.setFlags(cmd) }
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return exitOK
	case !understood && cmd == root:
		journal.PrintError(stderr, fmt.Sprintf("arcrawl: %v\nRun 'arcrawl --help' for the commands and their flags.\n", err))
		return exitUsage
	case !understood:
		usage := fmt.Sprintf("usage: %s; see '%s --help'", cmd.UseLine(), cmd.CommandPath())
		journal.PrintError(stderr, fmt.Sprintf("arcrawl: %v\n%s\n", err, usage))
		return exitUsage
	}
	journal.PrintError(stderr, finder.explain(fmt.Sprintf("arcrawl: %v", err))+"\n")
	return exitCode(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "arcrawl",
		Short: "An archiving crawler that revisits each URI as often as it changes",
		Long: `arcrawl crawls a curated set of sites without end. It visits each URI as often as the URI changes, evaluates whether it
changed, and writes new content to WARC files. It needs no other server: its queue is in a folder of its own.

First steps:
  arcrawl demo --for 60s                 watch a crawl of a small news site that comes with the program
  arcrawl check --config arcrawl.toml    check the configuration and list every fault
  arcrawl run --config arcrawl.toml      crawl until SIGTERM or Ctrl-C
  arcrawl verify warc/                   check every record, digest and reference of the archive

` + exitCodes,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newRun(), newCheck(), newEffective(), newReport(), newScrub(), newDemo(), newVersion(), newSim())
	root.AddCommand(newStatus(), newTop(), newHosts(), newPause(), newResume(), newSeeds(), newVisit(), newHold(),
		newRelease())
	root.AddCommand(newOverdue(), newWhy(), newReload(), newPlan(), newAudit(), newToken(), newUser(), newAlarms())
	root.AddCommand(newVerify(), newIndex(), newHistory(), newCat(), newDiff())
	root.AddCommand(newDedup(), newDeps(), newImpact(), newReduplicate(), newExtract(), newWacz(), newBag(), newOffload())
	root.AddCommand(newLog(), newConvert(), newInit(), newHost(), newSchema())
	root.AddCommand(newWhyNot(), newFetch(), newCanon(), newTraps())
	root.AddCommand(newFrontier(), newFsck(), newBackup(), newTune(), newPrime(), newCluster())
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
				os.Exit(exitInterrupted)
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

// Exit codes, after sysexits.h. Code 2 is not used because a Go panic ends with it.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 64
	exitDamaged     = 65
	exitBusy        = 69
	exitFolder      = 73
	exitDisk        = 74
	exitConfig      = 78
	exitInterrupted = 130
)

const exitCodes = `Exit codes:
   0  success                     73  cannot use a folder
   1  other failure               74  disk is full or failing
  64  wrong command line          78  invalid configuration
  65  damaged store or archive   130  interrupted twice
  69  another arcrawl uses this folder, or no daemon answers`

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// as reports whether err is or wraps an E.
func as[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// exitCode returns the exit code for an error.
func exitCode(err error) int {
	switch {
	case as[usageError](err):
		return exitUsage
	case isFaults(err), as[daemon.LimitError](err):
		return exitConfig
	case errors.Is(err, frontier.ErrLocked), errors.Is(err, api.ErrNoDaemon), errors.Is(err, node.ErrLost):
		return exitBusy
	case errors.Is(err, frontier.ErrCorrupt), errors.Is(err, frontier.ErrVersion), errors.Is(err, warc.ErrDamaged),
		errors.Is(err, warc.ErrWarnings), errors.Is(err, backup.ErrDamaged):
		return exitDamaged
	case as[daemon.FolderError](err):
		return exitFolder
	case as[daemon.DiskError](err),
		errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EIO), errors.Is(err, syscall.EDQUOT),
		errors.Is(err, syscall.EROFS):
		return exitDisk
	}
	return exitFailure
}

// version is set by the linker in a release build: -ldflags "-X main.version=v1.2.3".
var version string

// programVersion returns the version set by the linker, or else the version of the module, or else "dev".
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "arcrawl %s (%s, %s/%s)\n", programVersion(), runtime.Version(),
				runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
