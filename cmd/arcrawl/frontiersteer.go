package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/terminal"
	"github.com/arcrawl/arcrawl/daemon/bulk"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newFrontierForce() *cobra.Command {
	var spread time.Duration
	cmd := frontierVerb("force", "Make URIs due now",
		`force makes the chosen URIs due at once. They are visited as politeness allows: a thousand URIs of one host take a thousand
politeness delays. URIs that are already due keep their places in the queue. With --spread, the URIs become due one after
the other over that time.`,
		"  arcrawl frontier force --prefix https://www.news.example/sport/ --spread 6h",
		func(time.Time) (frontier.Action, error) {
			return frontier.Action{Verb: frontier.Force, Spread: spread}, nil
		})
	cmd.Flags().DurationVar(&spread, "spread", 0, "spread the due times over this duration, such as 6h (default: all at once)")
	return cmd
}

func newFrontierReschedule() *cobra.Command {
	var spread, in time.Duration
	var at string
	cmd := frontierVerb("reschedule", "Make URIs due at a given time",
		`reschedule makes the chosen URIs due at the time in --at or --in. Their learned intervals stay. With --spread, the URIs
become due one after the other over that duration.`,
		`  arcrawl frontier reschedule --host www.news.example --in 12h --spread 2h
  arcrawl frontier reschedule --at 2027-01-31T06:00:00Z https://www.news.example/`,
		func(now time.Time) (frontier.Action, error) {
			a := frontier.Action{Verb: frontier.Reschedule, Spread: spread, Due: now.Add(in)}
			if (at == "") == (in == 0) {
				return a, cli.Usage(errors.New("reschedule: set either --at or --in"))
			}
			if at != "" {
				due, err := time.Parse(time.RFC3339, at)
				if err != nil {
					return a, cli.Usage(fmt.Errorf("--at %s: %w; write it as 2027-01-31T06:00:00Z", at, err))
				}
				a.Due = due
			}
			return a, nil
		})
	cmd.Flags().StringVar(&at, "at", "", "make them due at this time, such as 2027-01-31T06:00:00Z")
	cmd.Flags().DurationVar(&in, "in", 0, "make them due after this duration, such as 12h")
	cmd.Flags().DurationVar(&spread, "spread", 0, "spread the due times over this duration, such as 6h (default: all at once)")
	return cmd
}

func newFrontierHold() *cobra.Command {
	return frontierVerb("hold", "Stop visiting URIs",
		`hold keeps the chosen URIs from being visited until they are released, also after a restart. Their history and due times
stay. A URI that is being visited is held after that visit.`,
		"  arcrawl frontier hold --match '[?&]print=1'",
		func(time.Time) (frontier.Action, error) { return frontier.Action{Verb: frontier.Hold}, nil })
}

func newFrontierRelease() *cobra.Command {
	return frontierVerb("release", "Visit held URIs again",
		`release ends a hold. The chosen URIs have the same due times as before the hold. To release all, use --all --state held.`,
		"  arcrawl frontier release --all --state held",
		func(time.Time) (frontier.Action, error) { return frontier.Action{Verb: frontier.Release}, nil })
}

func newFrontierForget() *cobra.Command {
	return frontierVerb("forget", "Remove URIs and their history",
		`forget removes the chosen URIs and their whole history from the frontier. To keep the history, save it with arcrawl
frontier export before. The archive is not changed. A forgotten URI that is found again, as a link or a seed, is new. A URI
that is being visited is not removed. On a terminal, the command asks for confirmation; otherwise it requires --yes.`,
		"  arcrawl frontier forget --host old.example --dry-run",
		func(time.Time) (frontier.Action, error) { return frontier.Action{Verb: frontier.Forget}, nil })
}

// frontierVerb returns a command that applies an action to the chosen URIs.
func frontierVerb(
	name, short, long, example string, action func(now time.Time) (frontier.Action, error),
) *cobra.Command {
	var f frontierFlags
	var dry, yes bool
	cmd := &cobra.Command{
		Use: name + " [URI…]", Short: short, Long: long, Example: example,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := action(time.Now())
			if err != nil {
				return err
			}
			if err := f.somethingChosen(args); err != nil {
				return err
			}
			return f.with(cmd, func(s bulk.Store) error {
				if dry || a.Verb == frontier.Forget && !yes {
					n, err := f.count(cmd, args, s)
					if err != nil || dry {
						return errors.Join(err, f.printDryRun(cmd.OutOrStdout(), name, n))
					}
					if err := confirm(cmd, n); err != nil {
						return err
					}
				}
				done, err := f.steerAll(cmd, args, s, a)
				return errors.Join(err, f.printSteered(cmd, done))
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "choose all URIs, or all that meet the other conditions")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "count the chosen URIs, change nothing")
	cli.JSONFlag(cmd, &f.json)
	if name == string(frontier.Forget) {
		cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	}
	return cmd
}

// somethingChosen returns an error if the command would change all URIs without --all.
func (f *frontierFlags) somethingChosen(args []string) error {
	s, err := f.selection()
	if err == nil && s.IsAll() && !f.all && len(args) == 0 && f.fromFile == "" && f.only.IsZero() {
		err = cli.Usage(errors.New("no URIs chosen: name them, or use --host, --label, --prefix, --match, --state or --from-file; --all chooses all URIs"))
	}
	return err
}

// steerAll applies an action to every chosen URI.
func (f *frontierFlags) steerAll(
	cmd *cobra.Command, args []string, s bulk.Store, a frontier.Action,
) (total frontier.Steered, err error) {
	err = f.selections(cmd, args, func(sel frontier.Selection) error {
		done, err := bulk.Steer(cmd.Context(), s, sel, a)
		total = total.Plus(done)
		return err
	})
	return total, err
}

// printDryRun prints how many URIs a command would change.
func (f *frontierFlags) printDryRun(out io.Writer, name string, n int64) error {
	if f.json {
		return json.NewEncoder(out).Encode(map[string]int64{"matched": n})
	}
	_, err := fmt.Fprintf(out, "%s would apply to %s; nothing was changed\n", name, human.Count(n, "URI"))
	return err
}

// printSteered prints how many URIs a command has changed.
func (f *frontierFlags) printSteered(cmd *cobra.Command, done frontier.Steered) error {
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]int64{
			"matched": done.Matched, "changed": done.Changed, "in_progress": done.InProgress,
		})
	}
	left := ""
	if done.InProgress > 0 {
		left = fmt.Sprintf("; %d are being visited and were not changed: repeat the command for them", done.InProgress)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d of %d URIs changed%s\n", done.Changed, done.Matched, left)
	return err
}

// confirm asks on the terminal whether n URIs are to be forgotten. It returns an error unless the answer is yes.
func confirm(cmd *cobra.Command, n int64) error {
	if n == 0 {
		return nil
	}
	in := cmd.InOrStdin()
	if !terminal.Is(in) {
		return cli.Usage(fmt.Errorf("would forget %s with all history: add --yes to confirm", human.Count(n, "URI")))
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Forget %s with all history? Type yes to confirm: ", human.Count(n, "URI"))
	answer, err := bufio.NewReader(in).ReadString('\n')
	if strings.TrimSpace(answer) != "yes" {
		return errors.Join(errors.New("nothing was forgotten"), ignoreEOF(err))
	}
	return nil
}

// ignoreEOF returns err unless it is the end of the input.
func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
