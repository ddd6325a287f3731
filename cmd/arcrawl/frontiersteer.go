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

	"github.com/arcrawl/arcrawl/frontier"
)

func newFrontierForce() *cobra.Command {
	var spread time.Duration
	cmd := frontierVerb("force", "Make URIs due now",
		`force makes the chosen URIs due at once. They are visited as politeness allows: a host with a thousand of them takes a thousand
of its delays. URIs that are due already keep their places. With --spread they become due one after the other over that time.`,
		"  arcrawl frontier force --prefix https://www.news.example/sport/ --spread 6h",
		func(time.Time) (frontier.Action, error) {
			return frontier.Action{Verb: frontier.Force, Spread: spread}, nil
		})
	cmd.Flags().DurationVar(&spread, "spread", 0, "over how long a time to spread them, as 6h")
	return cmd
}

func newFrontierReschedule() *cobra.Command {
	var spread, in time.Duration
	var at string
	cmd := frontierVerb("reschedule", "Make URIs due at a given time",
		`reschedule makes the chosen URIs due at a time, and changes nothing else: the interval that was learned stays. Give the time with
--at or --in. With --spread they become due one after the other over that time.`,
		`  arcrawl frontier reschedule --host www.news.example --in 12h --spread 2h
  arcrawl frontier reschedule --at 2027-01-31T06:00:00Z https://www.news.example/`,
		func(now time.Time) (frontier.Action, error) {
			a := frontier.Action{Verb: frontier.Reschedule, Spread: spread, Due: now.Add(in)}
			if (at == "") == (in == 0) {
				return a, usageError{errors.New("reschedule: give the time with one of --at and --in")}
			}
			if at != "" {
				due, err := time.Parse(time.RFC3339, at)
				if err != nil {
					return a, usageError{fmt.Errorf("--at %s: %w; write it as in 2027-01-31T06:00:00Z", at, err)}
				}
				a.Due = due
			}
			return a, nil
		})
	cmd.Flags().StringVar(&at, "at", "", "the time, as 2027-01-31T06:00:00Z")
	cmd.Flags().DurationVar(&in, "in", 0, "how long from now, as 12h")
	cmd.Flags().DurationVar(&spread, "spread", 0, "over how long a time to spread them, as 6h")
	return cmd
}

func newFrontierHold() *cobra.Command {
	return frontierVerb("hold", "Keep URIs from being visited",
		`hold keeps the chosen URIs from being visited until they are released; it outlasts a restart. They keep their due times and all
that was learned of them. One that is being visited is held from the end of that visit on.`,
		"  arcrawl frontier hold --match '[?&]print=1'",
		func(time.Time) (frontier.Action, error) { return frontier.Action{Verb: frontier.Hold}, nil })
}

func newFrontierRelease() *cobra.Command {
	return frontierVerb("release", "Let held URIs be visited again",
		`release ends a hold: the chosen URIs are due when they were. With --state held, or none of the other flags but --all, that is all.`,
		"  arcrawl frontier release --all --state held",
		func(time.Time) (frontier.Action, error) { return frontier.Action{Verb: frontier.Release}, nil })
}

func newFrontierForget() *cobra.Command {
	return frontierVerb("forget", "Remove URIs and all that was learned of them",
		`forget removes the chosen URIs from the frontier, with their whole history; arcrawl frontier export saves it first. What is
archived stays archived. A forgotten URI that is found again, as a link or a seed, is new. One that is being visited stays.
On a terminal it asks before it begins; elsewhere it wants --yes.`,
		"  arcrawl frontier forget --host old.example --dry-run",
		func(time.Time) (frontier.Action, error) { return frontier.Action{Verb: frontier.Forget}, nil })
}

// frontierVerb is a command that does something to the chosen URIs.
func frontierVerb(name, short, long, example string, action func(now time.Time) (frontier.Action, error)) *cobra.Command {
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
			return f.with(cmd, func(s steering) error {
				if dry || a.Verb == frontier.Forget && !yes {
					n, err := f.count(cmd, args, s)
					if err != nil || dry {
						return errors.Join(err, f.tellDry(cmd.OutOrStdout(), name, n))
					}
					if err := confirm(cmd, n); err != nil {
						return err
					}
				}
				done, err := f.steerAll(cmd, args, s, a)
				return errors.Join(err, f.tell(cmd, done))
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "all URIs that the other flags leave")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say how many are chosen")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the outcome as JSON")
	if name == string(frontier.Forget) {
		cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	}
	return cmd
}

// somethingChosen makes sure that nobody changes everything by a slip.
func (f *frontierFlags) somethingChosen(args []string) error {
	s, err := f.selection()
	if err == nil && s.IsAll() && !f.all && len(args) == 0 && f.fromFile == "" {
		err = usageError{errors.New("no URI is chosen: name some, or use --host, --prefix, --match, --state or --from-file; --all means all")}
	}
	return err
}

func (f *frontierFlags) steerAll(cmd *cobra.Command, args []string, s steering, a frontier.Action) (total frontier.Steered, err error) {
	err = f.selections(cmd, args, func(sel frontier.Selection) error {
		for from := frontier.Cursor(""); ; {
			done, next, err := s.steer(cmd.Context(), sel, a, from)
			if err != nil {
				return err
			}
			total = total.Plus(done)
			if from = next; next == "" {
				return nil
			}
			if err := cmd.Context().Err(); err != nil {
				return err
			}
		}
	})
	return total, err
}

func (f *frontierFlags) tellDry(out io.Writer, name string, n int64) error {
	if f.json {
		return json.NewEncoder(out).Encode(map[string]int64{"matched": n})
	}
	_, err := fmt.Fprintf(out, "%s would go for %d URIs; nothing was changed\n", name, n)
	return err
}

func (f *frontierFlags) tell(cmd *cobra.Command, done frontier.Steered) error {
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]int64{
			"matched": done.Matched, "changed": done.Changed, "in_progress": done.InProgress,
		})
	}
	left := ""
	if done.InProgress > 0 {
		left = fmt.Sprintf("; %d are being visited and were left alone, try again for them", done.InProgress)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d of %d URIs changed%s\n", done.Changed, done.Matched, left)
	return err
}

// confirm asks whether so many URIs are to be forgotten.
func confirm(cmd *cobra.Command, n int64) error {
	if n == 0 {
		return nil
	}
	in := cmd.InOrStdin()
	if !isTerminal(in) {
		return usageError{fmt.Errorf("%d URIs would be forgotten with all their history: say --yes", n)}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Forget %d URIs with all that was learned of them? Write yes: ", n)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if strings.TrimSpace(answer) != "yes" {
		return errors.Join(errors.New("nothing was forgotten"), ignoreEOF(err))
	}
	return nil
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
