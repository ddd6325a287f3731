package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// Flags holds the flags that choose the folder of WARC files.
type Flags struct {
	Config string // the main configuration file
	dir    string
	from   []string
}

// Add adds the flags to a command.
func (w *Flags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.dir, "warcs", "", "read WARC files in this folder (default: storage.warc of the configuration)")
	cmd.Flags().StringArrayVar(&w.from, "from", nil,
		"also read this file, folder, WACZ package or list of packages (.json), of earlier archives; repeatable")
	cli.ConfigFlag(cmd, &w.Config)
}

// places returns the folder named by --warcs, or else the folder of the configuration; and the files and folders of
// --from, with lists of packages replaced by their packages.
func (w *Flags) places() (dir string, outside []string, err error) {
	if dir = w.dir; dir == "" {
		s, err := config.StorageAt(w.Config)
		if err != nil {
			return "", nil, fmt.Errorf(
				"find the folder of the WARC files: %w; name it with --warcs, or a configuration with --config", err)
		}
		dir = s.WARC
	}
	s, err := wacz.ReadSources(w.from)
	if err != nil {
		return "", nil, cli.Usage(err)
	}
	return dir, s.Paths, nil
}

// Damages prints findings of damage and counts them. Damage does not stop a command, but changes its exit code.
type Damages struct {
	print func(warc.Finding) error
	Found int
}

func newDamages(errs io.Writer, asJSON bool) *Damages {
	return &Damages{print: cli.PrintFinding(errs, asJSON)}
}

func (d *Damages) see(f warc.Finding) error {
	if f.Kind == warc.StillOpen {
		return nil // a running crawl writes it; only verify needs to say so
	}
	if f.Severity == warc.Error && !isEmptyFolder(f) {
		d.Found++
	}
	return d.print(f)
}

// isEmptyFolder reports whether a finding is about a folder without WARC files, which is not damage.
func isEmptyFolder(f warc.Finding) bool {
	if f.Kind != warc.Empty {
		return false
	}
	info, err := os.Stat(f.File)
	return err == nil && info.IsDir()
}

// err returns the error of a command that succeeded except for damage.
func (d *Damages) err() error {
	return damaged(nil, d.Found, ", listed above; the answer does not include what they hide")
}

// damaged returns err, or else an error about a number of errors in an archive, which is followed by more.
func damaged(err error, n int, more string) error {
	if err != nil || n == 0 {
		return err
	}
	return fmt.Errorf("%w: %s%s", warc.ErrDamaged, human.Count(n, "error"), more)
}

// printResult prints the result of a command, as JSON or as text.
func printResult(out io.Writer, asJSON bool, result any, format string, args ...any) error {
	if asJSON {
		return json.NewEncoder(out).Encode(result)
	}
	_, err := fmt.Fprintf(out, format, args...)
	return err
}

// LookIn opens the folder and calls do. Its error says whether damage was found.
func (w *Flags) LookIn(
	cmd *cobra.Command, asJSON bool, do func(l *captures.Library, d *Damages) error,
) (err error) {
	dir, outside, err := w.places()
	if err != nil {
		return err
	}
	d, progress := newDamages(cmd.ErrOrStderr(), asJSON), new(warc.Progress)
	stop := cli.ShowProgress(cmd.ErrOrStderr(), progress)
	l, err := captures.OpenLibrary(cmd.Context(), dir, captures.Options{Progress: progress, Outside: outside}, d.see)
	stop()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return errors.Join(do(l, d), d.err())
}

// name returns a URI in the form that the archive uses.
func name(s string) string {
	if u, err := uri.Parse(s); err == nil {
		return u.String()
	}
	return s // not http: unchanged
}

// HowFound says in the help which files are read.
const HowFound = `The folder is storage.warc of the configuration, or the one named by --warcs. Every file in it is read, unless an index.cdxj in the
folder covers it; arcrawl index -o writes one. WACZ packages in the folder are always read.`

func newHistory() *cobra.Command {
	var at Flags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "history URI",
		Short: "List every archived capture of a URI",
		Long: `history prints one line for each capture of a URI, oldest first: date, status, kind of record, payload digest, size, file and
offset, the reason of the visit, and its result. If the index has a capture whose file was moved away, history says which file to
bring back.

` + HowFound,
		Example: "  arcrawl history --warcs warc/ https://www.example.org/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return at.LookIn(cmd, asJSON, func(l *captures.Library, d *Damages) error {
				found, err := l.History(name(args[0]))
				if err == nil && len(found) == 0 {
					err = l.NotFound(name(args[0]))
				}
				if err != nil {
					return err
				}
				for _, c := range found {
					if c.Damage != nil && !c.IsElsewhere() {
						d.Found++
					}
				}
				if asJSON {
					return captures.WriteJSON(cmd.OutOrStdout(), found)
				}
				return captures.WriteTable(cmd.OutOrStdout(), found)
			})
		},
	}
	at.Add(cmd)
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

const howNamed = `DATE is in UTC: 2026-11-21T09:00:00Z or 20261121090000, or the start of one, such as 2026 or 2026-11. The command uses the last
capture in that period, or else the last one before it, with a note on standard error. Without DATE it uses the latest capture.`

func newCat() *cobra.Command {
	var at Flags
	var raw, head bool
	cmd := &cobra.Command{
		Use:   "cat URI[@DATE]",
		Short: "Print an archived version of a URI",
		Long: `cat prints the payload of a capture, with its content coding (gzip, br …) removed. It follows a revisit to its original. It
checks that the record is whole and matches its digest before it prints anything.

` + howNamed + `

` + HowFound,
		Example: `  arcrawl cat --warcs warc/ https://www.example.org/
  arcrawl cat --warcs warc/ https://www.example.org/@2026-11 > november.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return at.LookIn(cmd, false, func(l *captures.Library, _ *Damages) error { return cat(cmd, l, args[0], !raw, head) })
		},
	}
	at.Add(cmd)
	cmd.Flags().BoolVar(&raw, "raw", false, "keep the content coding: print the bytes that the payload digest covers")
	cmd.Flags().BoolVar(&head, "head", false, "print the HTTP status line and headers before the payload")
	return cmd
}

func cat(cmd *cobra.Command, l *captures.Library, arg string, decode, head bool) error {
	c, err := choose(l, versionOf(arg), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	p, err := l.Payload(cmd.Context(), c, decode)
	if err != nil {
		return err
	}
	if head {
		_, err = cmd.OutOrStdout().Write(p.Head.Raw)
	}
	if err == nil {
		_, err = io.Copy(cmd.OutOrStdout(), p)
	}
	return errors.Join(err, p.Close())
}

// choose returns the capture that URI@DATE names.
func choose(l *captures.Library, v captures.Version, errs io.Writer) (captures.Capture, error) {
	found, err := l.History(v.URI)
	if err != nil {
		return captures.Capture{}, err
	}
	if len(found) == 0 {
		return captures.Capture{}, l.NotFound(v.URI)
	}
	c, exact, err := v.Choose(found)
	if err == nil && c.Damage != nil {
		err = fmt.Errorf("cannot read the capture of %s from %s; choose another one by its date: %w", v.URI, c.Date.Format(time.RFC3339), c.Damage)
	}
	if err == nil && !exact && !v.From.IsZero() {
		fmt.Fprintf(errs, "no capture of %s in that period; using the one before, from %s\n", v.URI, c.Date.Format(time.RFC3339Nano))
	}
	return c, err
}

func versionOf(arg string) captures.Version {
	v := captures.ParseVersion(arg)
	v.URI = name(v.URI)
	return v
}

// comparing holds the flags of the diff command.
type comparing struct {
	at        Flags
	scrub     []*regexp.Regexp
	hostRules bool
}

func newDiff() *cobra.Command {
	var d comparing
	var scrub []string
	cmd := &cobra.Command{
		Use:   "diff URI[@DATE] [[URI]@DATE]",
		Short: "Compare two archived versions of a text",
		Long: `diff compares the payloads of two captures line by line and prints the differences in the unified format. It removes content
codings and converts character sets to UTF-8. Equal texts print nothing. If the second argument is only @DATE, the URI is the same.
Without the second argument it compares the version with the one before: of a URI alone the two newest. Of HTML pages, standard error
says what a reader sees that changed: headline, text, links, pictures, what is around the article, or nothing.

With --scrub @host both texts are scrubbed first by the rules of the URI's host, even if scrubbing is off in the configuration. The
output is what would still count as a change.

` + howNamed + `

` + HowFound,
		Example: `  arcrawl diff -c arcrawl.toml https://www.example.org/
  arcrawl diff --warcs warc/ https://www.example.org/@2026-11-20 @2026-11-21
  arcrawl diff -c arcrawl.toml --scrub @host https://www.example.org/@2026-11-21T09 @2026-11-21T10
  arcrawl diff --scrub '<span class="clock">.*?</span>' https://www.example.org/@2026-11-20 @2026-11-21`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, s := range scrub {
				if s == "@host" {
					d.hostRules = true
					continue
				}
				rule, err := regexp.Compile(s)
				if err != nil {
					return cli.Usage(fmt.Errorf("--scrub: %w", err))
				}
				d.scrub = append(d.scrub, rule)
			}
			versions := []captures.Version{versionOf(args[0])}
			if len(args) > 1 {
				if strings.HasPrefix(args[1], "@") {
					args[1] = versions[0].URI + args[1]
				}
				versions = append(versions, versionOf(args[1]))
			}
			return d.at.LookIn(cmd, false, func(l *captures.Library, _ *Damages) error { return d.run(cmd, l, versions) })
		},
	}
	d.at.Add(cmd)
	cmd.Flags().StringArrayVar(&scrub, "scrub", nil, "remove matches of this regular expression from both texts first; @host: what the rules of the URI's host match; repeatable")
	return cmd
}

func (d comparing) run(cmd *cobra.Command, l *captures.Library, versions []captures.Version) error {
	var labels, texts [2]string
	var found []captures.Capture
	for _, v := range versions {
		c, err := choose(l, v, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		found = append(found, c)
	}
	if len(found) == 1 {
		before, err := versionBefore(l, found[0])
		if err != nil {
			return err
		}
		found = []captures.Capture{before, found[0]}
	}
	for i, c := range found {
		labels[i] = c.URL + "@" + c.Date.Format(captures.ShownDate)
	}
	if a, b := found[0], found[1]; a.Filename == b.Filename && a.Offset == b.Offset {
		_, err := fmt.Fprintf(cmd.ErrOrStderr(), "both arguments name the same capture, %s; arcrawl history lists the dates of others\n", labels[0])
		return err
	}
	for i, c := range found {
		var err error
		if texts[i], err = d.text(cmd, l, c); err != nil {
			return fmt.Errorf("%s: %w", labels[i], err)
		}
	}
	_, err := io.WriteString(cmd.OutOrStdout(), udiff.Unified(labels[0], labels[1], texts[0], texts[1]))
	if err != nil || texts[0] == texts[1] {
		return err
	}
	return seen(cmd, l, found[0], found[1])
}

// seen says what a reader sees that changed between two versions of an HTML page.
func seen(cmd *cobra.Command, l *captures.Library, before, after captures.Capture) error {
	var pages [2]captures.Page
	for i, c := range []captures.Capture{before, after} {
		var err error
		if pages[i], err = l.PageOf(cmd.Context(), c.Entry); err != nil {
			return err
		}
	}
	if len(pages[0].Content) == 0 || len(pages[1].Content) == 0 {
		return nil // not both are HTML pages
	}
	c, err := captures.Between(pages[0], pages[1], 0, digest.Spec{})
	if err == nil {
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "a reader sees: %s\n", c)
	}
	return err
}

// versionBefore returns the last capture before c that has another content and can be read.
func versionBefore(l *captures.Library, c captures.Capture) (captures.Capture, error) {
	all, err := l.History(c.URL)
	if err != nil {
		return c, err
	}
	for _, b := range slices.Backward(all) {
		if b.Date.Before(c.Date) && b.Damage == nil && b.Digest != "" && b.Digest != c.Digest {
			return b, nil
		}
	}
	return c, fmt.Errorf("no version of %s before %s has another content; arcrawl history lists its captures",
		c.URL, c.Date.Format(time.RFC3339))
}

// text returns the text of a capture, scrubbed as the flags say.
func (d comparing) text(cmd *cobra.Command, l *captures.Library, c captures.Capture) (string, error) {
	var scrub func(content []byte, mime string) []byte
	if d.hostRules {
		conf, u, err := ConfigAndURI(cmd.ErrOrStderr(), d.at.Config, c.URL)
		if err != nil {
			return "", err
		}
		rules, err := ScrubRules(conf, u, time.Now())
		if err != nil {
			return "", err
		}
		scrub = rules.Scrub
	}
	text, err := l.Text(cmd.Context(), c, scrub)
	for _, rule := range d.scrub {
		text = rule.ReplaceAllString(text, "")
	}
	return text, err
}

// ConfigAndURI loads a configuration and parses a URI.
func ConfigAndURI(errs io.Writer, path, address string) (*config.Config, uri.URI, error) {
	c, err := cli.ReadConfig(errs, path)
	if err != nil {
		return nil, uri.URI{}, err
	}
	u, err := uri.Parse(address)
	if err != nil {
		return nil, uri.URI{}, cli.Usage(err)
	}
	return c, u, nil
}

// ScrubRules compiles the scrubbing rules of a URI's host, whether change.mode uses them or not.
func ScrubRules(c *config.Config, u uri.URI, now time.Time) (*digest.Rules, error) {
	spec := c.Scrubbing(config.About{URI: u, Now: now})
	if len(spec.Regexes)+len(spec.Selectors) == 0 && !spec.Text {
		return nil, fmt.Errorf("the host %s has no scrubbing rules in %s: set change.scrub or change.scrub_css", u.Host(), c.Path)
	}
	return digest.Compile(spec)
}
