package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/scope/robots"
	"github.com/arcrawl/arcrawl/uri"
)

func newScrub() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scrub",
		Short: "Find and try rules for what does not count as a change",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newScrubTest(), newScrubSuggest(), newScrubCandidates())
	return cmd
}

func newScrubTest() *cobra.Command {
	var at where
	var most int
	cmd := &cobra.Command{
		Use:   "test URI",
		Short: "Show what still differs between the stored versions of a URI under the rules of its host",
		Long: `test runs the scrubbing rules that the configuration has for the URI's host over its versions in the archive, and shows side
by side what still differs from one to the next. It runs them whatever change.mode says, so that rules can be tried before
they are switched on.

` + howFound,
		Example: "  arcrawl scrub test --config arcrawl.toml https://www.news.example/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, u, err := configAndURI(at.config, args[0])
			if err != nil {
				return err
			}
			rules, err := rulesFor(c, u)
			if err != nil {
				return err
			}
			return storedVersions(cmd, &at, u, most, func(versions []stored) error {
				return printWhatDiffers(cmd.OutOrStdout(), rules, versions)
			})
		},
	}
	at.flags(cmd)
	cmd.Flags().IntVar(&most, "versions", 20, "look at so many of the newest versions")
	return cmd
}

func newScrubSuggest() *cobra.Command {
	var at where
	var most int
	var twice bool
	var pause time.Duration
	cmd := &cobra.Command{
		Use:   "suggest URI",
		Short: "Find what differs at every visit of a URI, and print rules for it",
		Long: `suggest compares the versions of a URI in the archive and finds the parts that differ every time: clocks, counters, tokens,
ad slots, lists in another order. It prints the narrowest rules that leave them out, as TOML for the file of the host.

Before it prints a rule it proves it on the same versions: none that would hide a real edit is printed. Two versions are
enough with --fetch, which fetches the URI twice within seconds: nothing but noise can differ then. The more versions,
the better an edit is told from noise; read the rules before you paste them.

` + howFound,
		Example: "  arcrawl scrub suggest --config arcrawl.toml https://www.news.example/\n  arcrawl scrub suggest --fetch https://www.news.example/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, u, err := configAndURI(at.config, args[0])
			if err != nil {
				return err
			}
			suggest := func(versions []stored) error { return printSuggestion(cmd.OutOrStdout(), u, versions) }
			if !twice {
				return storedVersions(cmd, &at, u, most, suggest)
			}
			versions, err := fetchTwice(cmd.Context(), c, u, pause)
			if err != nil {
				return err
			}
			return suggest(versions)
		},
	}
	at.flags(cmd)
	cmd.Flags().IntVar(&most, "versions", 20, "look at so many of the newest versions")
	cmd.Flags().BoolVar(&twice, "fetch", false, "fetch the URI twice instead of reading the archive")
	cmd.Flags().DurationVar(&pause, "pause", 3*time.Second, "between the two fetches")
	return cmd
}

func configAndURI(path, address string) (*config.Config, uri.URI, error) {
	c, err := config.Load(path)
	if err != nil {
		return nil, uri.URI{}, err
	}
	u, err := uri.Parse(address)
	if err != nil {
		return nil, uri.URI{}, usageError{err}
	}
	return c, u, nil
}

// rulesFor compiles the rules of the URI's host, whether they are switched on or not.
func rulesFor(c *config.Config, u uri.URI) (*digest.Rules, error) {
	s := c.For(config.About{URI: u, Now: time.Now()}).Change
	if len(s.Scrub)+len(s.ScrubCSS) == 0 && s.Mode != config.TextOnly {
		return nil, fmt.Errorf("the host %s has no scrubbing rules in %s: set change.scrub or change.scrub_css", u.Host(), c.Path)
	}
	return digest.Compile(digest.Spec{Regexes: s.Scrub, Selectors: s.ScrubCSS, Text: s.Mode == config.TextOnly})
}

// stored is one version of a page.
type stored struct {
	date    time.Time
	mime    string
	content []byte
}

// maxVersion is how much of a version is read; pages are shorter.
const maxVersion = 16 << 20

// storedVersions reads the newest versions of a page from the archive, oldest first, and gives them to use. A revisit is a version
// that is the same as the one before. What is damaged is named and passed over, and the error tells of it.
func storedVersions(cmd *cobra.Command, at *where, u uri.URI, most int, use func(versions []stored) error) error {
	return at.lookIn(cmd, false, func(l *index.Library, d *damages) error {
		captures, err := l.History(u.String())
		if err == nil && len(captures) == 0 {
			err = notFound(l, u.String())
		}
		if err != nil {
			return err
		}
		var out []stored
		for _, c := range captures[max(0, len(captures)-most):] {
			if c.Status != "200" {
				continue
			}
			v, err := readVersion(cmd.Context(), l, c)
			if err != nil {
				d.found++
				fmt.Fprintf(cmd.ErrOrStderr(), "passed over the version of %s: %v\n", c.Date.Format(time.DateTime), err)
				continue
			}
			out = append(out, v)
		}
		return use(out)
	})
}

func readVersion(ctx context.Context, l *index.Library, c index.Capture) (v stored, err error) {
	p, err := l.Payload(ctx, c, true)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	v = stored{date: c.Date, mime: p.Head.Header().Get("Content-Type")}
	v.content, err = io.ReadAll(io.LimitReader(p, maxVersion))
	return v, err
}

// fetchTwice fetches a page twice, if robots.txt allows it.
func fetchTwice(ctx context.Context, c *config.Config, u uri.URI, pause time.Duration) (out []stored, err error) {
	client := fetch.New(fetch.Options{Dial: fetch.Guard(c.AllowNetworks)})
	defer func() { err = errors.Join(err, client.Close()) }()
	rules, err := fetchOne(ctx, client, c, u.Robots())
	switch {
	case err != nil:
		return nil, err
	case rules.status >= 500 || rules.status < 0:
		return nil, fmt.Errorf("%s cannot be had (%d), so nothing is fetched", u.Robots(), rules.status)
	case rules.status == 200 && !robots.Parse(rules.content).Allowed("arcrawl", u):
		return nil, fmt.Errorf("%s forbids to fetch %s", u.Robots(), u)
	}
	for range 2 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		got, err := fetchOne(ctx, client, c, u)
		if err != nil {
			return nil, err
		}
		if got.status != 200 {
			return nil, fmt.Errorf("%s was answered with status %d", u, got.status)
		}
		out = append(out, got.stored)
	}
	return out, nil
}

type fetched struct {
	stored
	status int
}

func fetchOne(ctx context.Context, client *fetch.Client, c *config.Config, u uri.URI) (f fetched, err error) {
	got, err := client.Fetch(ctx, fetch.Request{URI: u, Header: []fetch.Field{
		{Name: "User-Agent", Value: c.UserAgent(programVersion())}, {Name: "Accept-Encoding", Value: "gzip, deflate, br, zstd"},
	}})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, got.Close()) }()
	f = fetched{stored: stored{date: got.Started, mime: got.Header.Get("Content-Type")}, status: got.Status}
	if got.Status < 0 {
		return f, nil
	}
	content, err := got.Content()
	if err != nil {
		return f, fmt.Errorf("read %s: %w", u, err)
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	f.content, err = io.ReadAll(io.LimitReader(content, maxVersion))
	return f, err
}

// printSuggestion prints rules as TOML.
func printSuggestion(out io.Writer, u uri.URI, versions []stored) error {
	if len(versions) == 0 {
		return fmt.Errorf("%s: %w", u, digest.ErrTooFew)
	}
	contents := make([][]byte, len(versions))
	for i, v := range versions {
		contents[i] = v.content
	}
	p, err := digest.Suggest(contents, versions[len(versions)-1].mime)
	if err != nil {
		return fmt.Errorf("%s: %w", u, err)
	}
	fmt.Fprintf(out, "# %s, %d versions from %s to %s: %d times it differed.\n", u, len(versions),
		versions[0].date.UTC().Format(time.DateTime), versions[len(versions)-1].date.UTC().Format(time.DateTime), p.Pairs)
	if len(p.Regexes)+len(p.Selectors) == 0 {
		_, err := fmt.Fprintf(out, "# Nothing differs at every visit; there is nothing to silence.\n")
		return err
	}
	fmt.Fprintf(out, "# With these rules %d of them are no change, %d are edits still, %d differ in what no rule was found for.\n", p.Quiet, p.Edits, p.Loud)
	fmt.Fprint(out, "[change]\nmode = \"scrubbed\"\n")
	printRules(out, "scrub", p.Regexes)
	printRules(out, "scrub_css", p.Selectors)
	return nil
}

func printRules(out io.Writer, key string, rules []string) {
	if len(rules) == 0 {
		return
	}
	fmt.Fprintf(out, "%s = [\n", key)
	for _, r := range rules {
		if strings.ContainsAny(r, "'\n") {
			fmt.Fprintf(out, "  %q,\n", r)
		} else {
			fmt.Fprintf(out, "  '%s',\n", r)
		}
	}
	fmt.Fprintln(out, "]")
}

// Bounds of what is shown of each pair of versions.
const (
	shownWidth = 58
	shownLines = 12
)

// printWhatDiffers shows each pair of neighbouring versions side by side, after scrubbing.
func printWhatDiffers(out io.Writer, rules *digest.Rules, versions []stored) error {
	if len(versions) < 2 {
		return digest.ErrTooFew
	}
	same := 0
	for i := range versions[1:] {
		a, b := versions[i], versions[i+1]
		left, right := string(rules.Scrub(a.content, a.mime)), string(rules.Scrub(b.content, b.mime))
		if left == right {
			same++
			continue
		}
		fmt.Fprintf(out, "%-*s | %s\n", shownWidth, a.date.UTC().Format(time.DateTime), b.date.UTC().Format(time.DateTime))
		sideBySide(out, strings.Split(left, "\n"), strings.Split(right, "\n"))
		fmt.Fprintln(out)
	}
	_, err := fmt.Fprintf(out, "%d versions; %d times nothing differs, %d times something does\n", len(versions), same, len(versions)-1-same)
	return err
}

// sideBySide shows the lines between what both have at their beginning and at their end.
func sideBySide(out io.Writer, left, right []string) {
	for len(left) > 0 && len(right) > 0 && left[0] == right[0] {
		left, right = left[1:], right[1:]
	}
	for len(left) > 0 && len(right) > 0 && left[len(left)-1] == right[len(right)-1] {
		left, right = left[:len(left)-1], right[:len(right)-1]
	}
	for i := range max(len(left), len(right)) {
		if i == shownLines {
			fmt.Fprintf(out, "… and %d lines more\n", max(len(left), len(right))-i)
			return
		}
		var a, b string
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			b = right[i]
		}
		if a == b {
			continue
		}
		a, b = window(a, b), window(b, a)
		fmt.Fprintf(out, "%s%s | %s\n", a, strings.Repeat(" ", max(0, shownWidth-utf8.RuneCountInString(a))), b)
	}
}

// window is the part of a line around its first difference from another one, without control characters.
func window(line, other string) string {
	a, b := []rune(line), []rune(other)
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	start := max(0, min(at-20, len(a)-shownWidth))
	a = a[start:min(len(a), start+shownWidth)]
	for i, r := range a {
		if r < ' ' || r == 0x7f {
			a[i] = ' '
		}
	}
	return string(a)
}
