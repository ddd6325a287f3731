// Command arcrawl visits the same URIs again and again, each as often as it changes, and archives what it sees.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(realMain(os.Args[1:], os.Stdout, os.Stderr))
}

// realMain runs the command line and returns the exit code.
func realMain(args []string, stdout, stderr io.Writer) int {
	defer profile()()
	ctx, stop := untilStopped(stderr)
	defer stop()
	root := newRoot()
	understood := false // the command line was, and its command has begun
	root.PersistentPreRun = func(*cobra.Command, []string) { understood = true }
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return exitOK
	case !understood && cmd == root:
		complain(stderr, fmt.Sprintf("arcrawl: %v\nRun 'arcrawl --help' for the commands and their flags.\n", err))
		return exitUsage
	case !understood:
		complain(stderr, fmt.Sprintf("arcrawl: %v\nusage: %s; '%s --help' tells more\n", err, cmd.UseLine(), cmd.CommandPath()))
		return exitUsage
	}
	complain(stderr, fmt.Sprintf("arcrawl: %v\n", err))
	return exitCode(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "arcrawl",
		Short: "An archiving crawler that revisits each URI as often as it changes",
		Long: `arcrawl crawls a curated set of sites without end. It visits each URI as often as that URI changes, judges whether it
did, and archives what is new in WARC files. It needs no other server: the queue of everything it knows lives in a
folder of its own.

First steps:
  arcrawl demo --for 60s                 watch a crawl of a small news site that comes with the program
  arcrawl check --config arcrawl.toml    read the configuration and list everything that is wrong with it
  arcrawl run --config arcrawl.toml      crawl until told to stop (SIGTERM or Ctrl-C)
  arcrawl verify warc/                   prove that every record of the archive is whole and true

` + exitCodes,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newRun(), newCheck(), newEffective(), newReport(), newScrub(), newDemo(), newVersion(), newSim())
	root.AddCommand(newStatus(), newTop(), newHosts(), newPause(), newResume(), newSeeds(), newVisit(), newHold(), newRelease())
	root.AddCommand(newOverdue(), newWhy(), newReload())
	root.AddCommand(newVerify(), newIndex(), newHistory(), newCat(), newDiff())
	root.AddCommand(newDedup(), newDeps(), newImpact(), newReduplicate(), newExtract(), newWacz())
	root.AddCommand(newLog(), newConvert(), newInit(), newHost(), newSchema(), newManual())
	root.AddCommand(newWhyNot(), newCanon(), newTraps())
	root.AddCommand(newFrontier(), newFsck(), newTune(), newPrime())
	return root
}

// untilStopped gives a context that ends at the first SIGINT or SIGTERM. A second SIGINT ends the process at once.
func untilStopped(stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	var listening sync.WaitGroup
	listening.Go(func() {
		for s := range signals {
			if ctx.Err() != nil && s == syscall.SIGINT {
				fmt.Fprintln(stderr, "arcrawl: stopped at once; nothing that was logged is lost")
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

// The exit codes. They follow sysexits.h, and leave out 2 because a Go panic ends with it.
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
   0  done                        73  a folder cannot be used
   1  something else failed       74  the disk is full or failing
  64  wrong command line          78  the configuration is wrong
  65  store or archive damaged   130  interrupted twice
  69  another arcrawl runs in this folder, or none answers`

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// folderError is a folder that cannot be used.
type folderError struct{ error }

func (e folderError) Unwrap() error { return e.error }

// diskError is a disk without room.
type diskError struct{ error }

func (e diskError) Unwrap() error { return e.error }

// as reports whether err is or wraps an E.
func as[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
