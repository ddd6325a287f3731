// Package cli holds what the commands of arcrawl share: finding the configuration, asking the daemon, tables, JSON,
// progress, the log, and exit codes. What strangers wrote (URIs, titles, errors) cannot control a terminal. The
// commands of a wing are declared in the folder of the wing, with this package.
package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Group returns a command that only has subcommands. Without one it prints its help.
func Group(name, short string, subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(subcommands...)
	return cmd
}

// NewTable returns a table with two spaces between its columns. Cells end in tabs, and Flush prints the table.
func NewTable(out io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(out, 0, 0, 2, ' ', 0) }

// NumberTable returns a table like NewTable with cells aligned to the right.
func NumberTable(out io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
}

// progressEvery is the time between two updates of the progress line.
const progressEvery = 500 * time.Millisecond

// ShowLine shows a line on a terminal and updates it until stop is called. It does nothing if w is not a terminal.
func ShowLine(w io.Writer, line func() string) (stop func()) {
	if !IsTerminal(w) {
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
				Control(w, "\r"+ClearLine)
				return
			case <-tick.C:
				Control(w, "\r"+ClearLine)
				fmt.Fprint(w, line())
			}
		}
	})
	return func() {
		close(end)
		showing.Wait()
	}
}

// Control sequences of terminals: move to the top left, clear to the end of the line, clear to the end of the screen.
const (
	Home      = "\x1b[H"
	ClearLine = "\x1b[K"
	ClearRest = "\x1b[J"
)

// ShowProgress shows on a terminal how far the reading of WARC files is, until stop is called.
func ShowProgress(w io.Writer, p *warc.Progress) (stop func()) {
	start := time.Now()
	return ShowLine(w, func() string {
		done, total := p.Bytes()
		read, all := p.Files()
		speed := float64(done) / time.Since(start).Seconds()
		return fmt.Sprintf("%d of %d files, %s of %s, %s/s", read, all, human.Bytes(done), human.Bytes(total),
			human.Bytes(int64(speed)))
	})
}

// PrintFinding returns a function that prints findings about WARC files, as text or as JSON lines.
func PrintFinding(out io.Writer, asJSON bool) func(warc.Finding) error {
	if asJSON {
		return func(f warc.Finding) error { return json.NewEncoder(out).Encode(f) }
	}
	return func(f warc.Finding) error {
		_, err := fmt.Fprintln(out, f.Error())
		return err
	}
}

// WriteJSON writes a value as indented JSON.
func WriteJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Wait waits for d, or until ctx ends.
func Wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Input opens a file, or returns the standard input if the name is "-".
func Input(cmd *cobra.Command, name string) (in io.Reader, done func(), err error) {
	if name == "-" {
		return cmd.InOrStdin(), func() {}, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	return file, func() { _ = file.Close() }, nil
}

// Confirmed asks whether to write, and reports whether the answer is yes. Without a terminal it is no.
func Confirmed(in io.Reader, out io.Writer) bool {
	if !IsTerminal(in) {
		fmt.Fprintln(out, "Nothing was written, because there is nobody to ask. Repeat with --yes.")
		return false
	}
	fmt.Fprint(out, "Write this? [y/N] ")
	answer, _ := bufio.NewReader(in).ReadString('\n')
	a := strings.ToLower(strings.TrimSpace(answer))
	return a == "y" || a == "yes"
}

// version is set by the linker in a release build: -ldflags "-X <this package>.version=v1.2.3".
var version string

// Version returns the version set by the linker, or else the version of the module, or else "dev".
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
