package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
)

// Exit codes, after sysexits.h. Code 2 is not used because a Go panic ends with it.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 64
	ExitDamaged     = 65
	ExitBusy        = 69
	ExitFolder      = 73
	ExitDisk        = 74
	ExitConfig      = 78
	ExitInterrupted = 130
)

// ExitCodes lists the exit codes for the help.
const ExitCodes = `Exit codes:
   0  success                     73  cannot use a folder
   1  other failure               74  disk is full or failing
  64  wrong command line          78  invalid configuration
  65  damaged store or archive   130  interrupted twice
  69  another arcrawl uses this folder, or no daemon answers`

// Run runs a command line and returns the exit code.
func Run(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	understood, began := false, time.Now() // understood: the command line is valid and its command has started
	finder := newConfigFinder()
	if root.PersistentFlags().Lookup(configName) == nil {
		Prepare(root)
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := errors.Join(checkGlobalFlags(cmd), cmd.ValidateFlagGroups()); err != nil {
			return err
		}
		understood = true
		finder.setFlag(cmd)
		return nil
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SilenceErrors, root.SilenceUsage = true, true
	cmd, err := root.ExecuteContextC(ctx)
	if path := root.PersistentFlags().Lookup(configName); understood && takes(cmd, path) {
		if err := daemon.RestoreOwner(path.Value.String(), began); err != nil {
			PrintError(stderr, fmt.Sprintf("arcrawl: give files of root to the daemon: %v; use chown\n", err))
		}
	}
	switch {
	case err == nil:
		return ExitOK
	case !understood && cmd == root:
		PrintError(stderr, fmt.Sprintf("arcrawl: %v\nRun 'arcrawl --help' for the commands and their flags.\n", err))
		return ExitUsage
	case !understood:
		usage := fmt.Sprintf("usage: %s; see '%s --help'", cmd.UseLine(), cmd.CommandPath())
		PrintError(stderr, fmt.Sprintf("arcrawl: %v\n%s\n", err, usage))
		return ExitUsage
	}
	PrintError(stderr, finder.explain(fmt.Sprintf("arcrawl: %v", err))+"\n")
	return ExitCode(err)
}

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usage returns err as a mistake on the command line, which has an exit code of its own.
func Usage(err error) error { return usageError{err} }

// coded is an error of a wing that has an exit code.
type coded interface{ ExitCode() int }

// as reports whether err is or wraps an E.
func as[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// ExitCode returns the exit code for an error.
func ExitCode(err error) int {
	var own coded
	switch {
	case as[usageError](err):
		return ExitUsage
	case errors.As(err, &own):
		return own.ExitCode()
	case as[config.Faults](err), as[daemon.LimitError](err):
		return ExitConfig
	case errors.Is(err, frontier.ErrLocked), errors.Is(err, api.ErrNoDaemon):
		return ExitBusy
	case errors.Is(err, frontier.ErrCorrupt), errors.Is(err, frontier.ErrVersion), errors.Is(err, warc.ErrDamaged),
		errors.Is(err, warc.ErrWarnings):
		return ExitDamaged
	case as[daemon.FolderError](err):
		return ExitFolder
	case as[daemon.DiskError](err),
		errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EIO), errors.Is(err, syscall.EDQUOT),
		errors.Is(err, syscall.EROFS):
		return ExitDisk
	}
	return ExitFailure
}
