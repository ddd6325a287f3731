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
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

// steering holds the flags of a command that changes URIs or hosts.
type steering struct {
	frontierFlags
	action   func(now time.Time) (frontier.Action, error) // for the chosen URIs
	hosts    frontier.HostVerb                            // for hosts that are named as arguments; "" = none may be named
	dry, yes bool
}

func newVisit() *cobra.Command {
	var s steering
	var at string
	var in, spread time.Duration
	cmd := s.command(&cobra.Command{
		Use:   "visit [URI…]",
		Short: "Make URIs due now, or at a given time",
		Long: `visit makes known URIs due at once, or at the time in --at or --in. They are visited as politeness and robots.txt allow: a
thousand URIs of one host take a thousand politeness delays. With --spread, the URIs become due one after the other over that time.
Learned intervals stay. arcrawl why shows when the visit comes. arcrawl seeds add --running-only adds a URI that is not known.

` + howSteered,
		Example: `  arcrawl visit https://www.news.example/
  arcrawl visit --prefix https://www.news.example/sport/ --spread 6h
  arcrawl visit --host www.news.example --in 12h --spread 2h`,
	})
	s.action = func(now time.Time) (frontier.Action, error) {
		a := frontier.Action{Verb: frontier.Force, Spread: spread}
		switch {
		case at != "" && in != 0:
			return a, cli.Usage(errors.New("--at and --in cannot be used together"))
		case at != "":
			due, err := time.Parse(time.RFC3339, at)
			if err != nil {
				return a, cli.Usage(fmt.Errorf("--at %s: %w; write it as 2027-01-31T06:00:00Z", at, err))
			}
			a.Verb, a.Due = frontier.Reschedule, due
		case in != 0:
			a.Verb, a.Due = frontier.Reschedule, now.Add(in)
		}
		return a, nil
	}
	cmd.Flags().StringVar(&at, "at", "", "make them due at this `TIME`, such as 2027-01-31T06:00:00Z (default: now)")
	cmd.Flags().DurationVar(&in, "in", 0, "make them due after this duration, such as 12h (default: now)")
	cmd.Flags().DurationVar(&spread, "spread", 0, "spread the due times over this duration, such as 6h (default: all at once)")
	return cmd
}

func newHold() *cobra.Command {
	s := steering{hosts: frontier.Pause, action: always(frontier.Hold)}
	return s.command(&cobra.Command{
		Use:   "hold [HOST|URI…]",
		Short: "Keep hosts or URIs from being visited until they are released",
		Long: `hold keeps hosts and URIs from being visited, also after a restart, until arcrawl release. Their history and due times stay.
Visits in progress are finished.

An argument with "://" in it is a URI; any other is a host. "*.example.org" matches example.org and all hosts below it. To hold a
host is different from holding the URIs that --host chooses: it also holds the URIs that are found later.

` + howSteered,
		Example: `  arcrawl hold www.news.example
  arcrawl hold '*.example.org' https://www.news.example/archive/
  arcrawl hold --match '[?&]print=1'`,
	})
}

func newRelease() *cobra.Command {
	s := steering{hosts: frontier.Resume, action: always(frontier.Release)}
	return s.command(&cobra.Command{
		Use:   "release [HOST|URI…]",
		Short: "Visit held hosts or URIs again",
		Long: `release ends a hold. The due times are the same as before the hold; URIs that became due in the meantime are visited as
politeness allows. To release all URIs, use --all --state held. (To release a trap, see arcrawl traps release.)

` + howSteered,
		Example: "  arcrawl release www.news.example\n  arcrawl release --all --state held",
	})
}

func newFrontierForget() *cobra.Command {
	s := steering{action: always(frontier.Forget)}
	cmd := s.command(&cobra.Command{
		Use:   "forget [URI…]",
		Short: "Remove URIs and their history",
		Long: `forget removes the chosen URIs and their whole history from the frontier. To keep the history, save it with arcrawl
frontier list --output before. The archive is not changed. A forgotten URI that is found again, as a link or a seed, is new. A URI
that is being visited is not removed. On a terminal, the command asks for confirmation; otherwise it requires --yes.`,
		Example: "  arcrawl frontier forget --host old.example --dry-run",
	})
	cmd.Flags().BoolVar(&s.yes, "yes", false, "do not ask for confirmation")
	return cmd
}

const howSteered = `Choose URIs by name, or in bulk with --host, --label, --prefix, --match, --state and --from-file: a URI must meet all conditions. If a
daemon runs, the command asks it, and the crawl continues; otherwise it opens the store itself.`

// always returns a function that returns an action that needs no flag.
func always(verb frontier.Verb) func(time.Time) (frontier.Action, error) {
	return func(time.Time) (frontier.Action, error) { return frontier.Action{Verb: verb}, nil }
}

// command returns cmd completed to apply the action to what is chosen.
func (s *steering) command(cmd *cobra.Command) *cobra.Command {
	cmd.RunE = s.run
	s.add(cmd)
	cmd.Flags().BoolVar(&s.all, "all", false, "choose all URIs, or all that meet the other conditions")
	cmd.Flags().BoolVar(&s.dry, "dry-run", false, "count the chosen URIs, change nothing")
	cli.JSONFlag(cmd, &s.json)
	return cmd
}

func (s *steering) run(cmd *cobra.Command, args []string) error {
	a, err := s.action(time.Now())
	if err != nil {
		return err
	}
	hosts, uris, err := s.named(cmd, args)
	if err != nil {
		return err
	}
	onlyHosts := len(hosts) > 0 && len(uris) == 0 && !s.all && !s.selects()
	if err := s.somethingChosen(args); err != nil {
		return err
	}
	return s.with(cmd, func(store cli.Store) error {
		if s.dry || a.Verb == frontier.Forget && !s.yes {
			n, err := s.count(cmd, uris, store)
			if err != nil || s.dry {
				return errors.Join(err, s.printDryRun(cmd.OutOrStdout(), cmd.Name(), n))
			}
			if err := confirm(cmd, n); err != nil {
				return err
			}
		}
		changed, err := s.steerHosts(cmd, store, hosts)
		if err != nil {
			return err
		}
		var done frontier.Steered
		if !onlyHosts {
			done, err = s.steerAll(cmd, uris, store, a)
		} else if !s.json {
			return nil // each host has its line
		}
		return errors.Join(err, s.printSteered(cmd, done, changed), s.printUnknown(cmd, uris, done))
	})
}

// named divides the arguments into hosts and URIs.
func (s *steering) named(cmd *cobra.Command, args []string) (hosts, uris []string, err error) {
	for _, arg := range args {
		switch {
		case strings.Contains(arg, "://"):
			uris = append(uris, arg)
		case s.hosts == "":
			err := fmt.Errorf("%s is not a URI; for a whole host use: %s --host %s", arg, cmd.CommandPath(), arg)
			return nil, nil, cli.Usage(err)
		default:
			hosts = append(hosts, strings.ToLower(arg))
		}
	}
	if s.dry && len(hosts) > 0 {
		return nil, nil, cli.Usage(fmt.Errorf("--dry-run counts URIs; leave out %s, or use --host", hosts[0]))
	}
	return hosts, uris, nil
}

// steerHosts applies the verb for hosts to each pattern, and returns the number of hosts that were changed.
func (s *steering) steerHosts(cmd *cobra.Command, store cli.Store, patterns []string) (total int64, err error) {
	for _, pattern := range patterns {
		matched, changed, err := store.SteerHosts(cmd.Context(), pattern, frontier.HostAction{Verb: s.hosts})
		if err != nil {
			return total, err
		}
		if matched == 0 {
			return total, fmt.Errorf("no known host matches %q; arcrawl host list lists the known hosts", pattern)
		}
		if total += changed; !s.json {
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d of %d hosts changed\n", pattern, changed, matched)
		}
	}
	return total, nil
}

// printUnknown says how many of the URIs that were named the frontier does not know.
func (s *steering) printUnknown(cmd *cobra.Command, uris []string, done frontier.Steered) error {
	missing := int64(len(uris)) - done.Matched
	if missing <= 0 || s.json || s.selects() {
		return nil
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d not known; \"arcrawl why URI\" shows the reason\n", missing)
	return err
}

// somethingChosen returns an error if the command would change all URIs without --all.
func (f *frontierFlags) somethingChosen(args []string) error {
	_, err := f.selection()
	if err == nil && !f.selects() && !f.all && len(args) == 0 {
		err = cli.Usage(errors.New("no URIs chosen: name them, or use --host, --label, --prefix, --match, --state or --from-file; --all chooses all URIs"))
	}
	return err
}

// steerAll applies an action to every chosen URI.
func (f *frontierFlags) steerAll(
	cmd *cobra.Command, args []string, s cli.Store, a frontier.Action,
) (total frontier.Steered, err error) {
	err = f.selections(cmd, args, func(sel frontier.Selection) error {
		done, err := cli.Steer(cmd.Context(), s, sel, a)
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

// printSteered prints how many URIs and hosts a command has changed.
func (f *frontierFlags) printSteered(cmd *cobra.Command, done frontier.Steered, hosts int64) error {
	if f.json {
		answer := map[string]int64{"matched": done.Matched, "changed": done.Changed, "in_progress": done.InProgress}
		if hosts > 0 {
			answer["hosts"] = hosts
		}
		return json.NewEncoder(cmd.OutOrStdout()).Encode(answer)
	}
	left := ""
	if done.InProgress > 0 {
		left = fmt.Sprintf("; %d are being visited and were not changed: repeat the command for them", done.InProgress)
	}
	what := "changed"
	if cmd.Name() == "visit" { // the content of a URI that "changed" would be another
		what = "scheduled"
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d of %d URIs %s%s\n", done.Changed, done.Matched, what, left)
	return err
}

// confirm asks on the terminal whether n URIs are to be forgotten. It returns an error unless the answer is yes.
func confirm(cmd *cobra.Command, n int64) error {
	if n == 0 {
		return nil
	}
	in := cmd.InOrStdin()
	if !cli.IsTerminal(in) {
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
