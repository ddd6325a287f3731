package main

import (
	"bufio"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// frontierFlags are the flags that choose URIs.
type frontierFlags struct {
	config   string
	host     string
	only     config.Filter
	prefix   string
	match    string
	states   []string
	fromFile string
	all      bool
	json     bool
}

func (f *frontierFlags) add(cmd *cobra.Command) {
	cli.ConfigFlag(cmd, &f.config)
	cmd.Flags().Var(cli.Once(&f.host), "host", "choose URIs on this host; *.example.org matches example.org and all hosts below it")
	cli.SiteFlags(cmd, &f.only)
	cmd.Flags().Var(cli.Once(&f.prefix), "prefix", "choose URIs that begin with this text, in canonical form")
	cmd.Flags().Var(cli.Once(&f.match), "match", "choose URIs that this regular expression matches anywhere, in canonical form")
	cmd.Flags().StringSliceVar(&f.states, "state", nil,
		"choose URIs in this state: "+stateNames()+"; with several states, URIs must be in all of them")
	cmd.Flags().StringVar(&f.fromFile, "from-file", "", "choose the URIs in this file, one per line (- = standard input)")
}

// selects reports whether flags choose URIs.
func (f *frontierFlags) selects() bool {
	return f.host != "" || f.prefix != "" || f.match != "" || len(f.states) > 0 || f.fromFile != "" || !f.only.IsZero()
}

// stateNames returns the states that --state accepts.
func stateNames() string {
	var names []string
	for _, s := range frontier.States() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// selection returns what the flags choose, without the URIs that are named one by one.
func (f *frontierFlags) selection() (s frontier.Selection, err error) {
	s = frontier.Selection{Host: strings.ToLower(f.host), Prefix: f.prefix}
	for _, name := range f.states {
		if !slices.Contains(frontier.States(), frontier.State(name)) {
			return s, cli.Usage(fmt.Errorf("unknown --state %q; valid states: %s", name, stateNames()))
		}
		s.States = append(s.States, frontier.State(name))
	}
	if f.match != "" {
		if s.Match, err = regexp.Compile(f.match); err != nil {
			return s, cli.Usage(fmt.Errorf("--match: %w; see https://go.dev/s/re2syntax for the syntax", err))
		}
	}
	return s, nil
}

// selections calls do with what is chosen: once, or for each batch of the URIs that are named one by one.
func (f *frontierFlags) selections(cmd *cobra.Command, args []string, do func(frontier.Selection) error) error {
	s, err := f.selection()
	if err != nil {
		return err
	}
	if !f.only.IsZero() {
		return f.chosen(cmd, args, s, do)
	}
	if f.fromFile == "" && len(args) == 0 {
		return do(s)
	}
	flush := func() error {
		if len(s.URIs) == 0 {
			return nil
		}
		err := do(s)
		s.URIs = nil
		return err
	}
	add := func(text string) error {
		u, err := uri.Parse(text)
		if err != nil {
			return cli.Usage(err)
		}
		if s.URIs = append(s.URIs, u); len(s.URIs) == cli.Batch {
			return flush()
		}
		return nil
	}
	for _, arg := range args {
		if err := add(arg); err != nil {
			return err
		}
	}
	if f.fromFile != "" {
		if err := eachLine(cmd, f.fromFile, add); err != nil {
			return err
		}
	}
	return flush()
}

// chosen calls do with the URIs of each host that --label, --collection or --owner select.
func (f *frontierFlags) chosen(
	cmd *cobra.Command, args []string, s frontier.Selection, do func(frontier.Selection) error,
) error {
	if s.Host != "" || f.fromFile != "" || len(args) > 0 {
		return cli.Usage(errors.New("--label, --collection and --owner choose hosts; leave out --host, --from-file and URIs"))
	}
	patterns, err := cli.ChosenHosts(cmd.ErrOrStderr(), f.config, f.only)
	if err != nil {
		return err
	}
	for i, p := range patterns {
		host := uri.Host(strings.TrimPrefix(p, "*."))
		covered := func(other string) bool {
			return other != p && strings.HasPrefix(other, "*.") && frontier.HostMatches(other, host)
		}
		if slices.ContainsFunc(patterns, covered) || slices.Contains(patterns[:i], p) {
			continue // its URIs are chosen together with the URIs of a host above it
		}
		s.Host = p
		if err := do(s); err != nil {
			return err
		}
	}
	return nil
}

// eachLine calls take with each line of a file that is not empty and not a comment.
func eachLine(cmd *cobra.Command, name string, take func(string) error) error {
	in, done, err := cli.Input(cmd, name)
	if err != nil {
		return err
	}
	defer done()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, cli.MaxLine)
	n := 0
	for lines.Scan() {
		n++
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if err := take(text); err != nil {
			return fmt.Errorf("%s, line %d: %w", name, n, err)
		}
	}
	return lines.Err()
}

// entries calls visit with every chosen URI.
func (f *frontierFlags) entries(
	cmd *cobra.Command, args []string, s cli.Store, visit func(frontier.Entry) error,
) error {
	return f.selections(cmd, args, func(sel frontier.Selection) error {
		return cli.EachSelected(cmd.Context(), s, sel, visit)
	})
}

// count counts every chosen URI.
func (f *frontierFlags) count(cmd *cobra.Command, args []string, s cli.Store) (total int64, err error) {
	err = f.selections(cmd, args, func(sel frontier.Selection) error {
		n, err := cli.CountSelected(cmd.Context(), s, sel)
		total += n
		return err
	})
	return total, err
}
