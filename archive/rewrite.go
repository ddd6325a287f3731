package archive

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/rewrite"
	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newExtract() *cobra.Command {
	var o rewrite.Options
	var asJSON, all, asTexts bool
	var revisits string
	var choice captureFlags
	var series seriesFlags
	cmd := &cobra.Command{
		Use:   "extract -o DIR FILE|DIR…",
		Short: "Copy the records of a host, prefix or period, or all, to WARC files that need no others",
		Long: `extract copies the chosen records, with their requests and metadata, to new files of the same names in another folder. The
new files are compressed and depend on no others: a revisit whose original was not chosen becomes a response with its own headers, the
original's payload and a new record id. Later revisits of the same original then refer to that response. A metadata record says what the
response was made from. Other records are copied byte for byte. With --revisits keep a revisit stays a revisit, and the files that it
depends on are listed; with --revisits none every revisit becomes a response, even if its original is among the files.

Originals are taken from the files and from the folders named by --from, after a check of their digests. Existing files are never
changed or overwritten; a file appears when it is complete. Damaged records are not copied; a revisit without original is copied as it is.
Both give exit code 65. If the files are of several series, choose with --series.

With --texts the folder gets the main text of each version of an HTML page that was there (status 200), without navigation, teasers and
advertisements: a line of JSON with headline, author and date, in FILE.jsonl.gz for each WARC file. A version is a capture whose payload
differs from the one before. Files that are there are not made again, so an interrupted run resumes, and a nightly one reads only new
WARC files, once the daemon has finished them.`,
		Example: `  arcrawl extract -o news/ --host www.news.example --since 2026-11 --until 2026-11 warc/
  arcrawl extract -o elections/ --collection elections-2026 --since 2026-11 warc/
  arcrawl extract -o live/ --prefix https://www.news.example/live/ --revisits keep warc/
  arcrawl extract --texts -o texts/ --label newspapers --since 2026 warc/
  arcrawl extract --all --from warc/ -o alone/ warc/arcrawl-20261121090000000-00002-c1.warc.gz`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if revisits != "" && revisits != "keep" && revisits != "none" {
				return cli.Usage(fmt.Errorf("unknown --revisits %q; valid values: keep, none", revisits))
			}
			if asTexts && revisits != "" {
				return cli.Usage(errors.New("--texts and --revisits cannot be used together"))
			}
			o.Keep, o.All = revisits == "keep", revisits == "none"
			if err := choice.apply(cmd, &o.Select); err != nil {
				return err
			}
			return runExtract(cmd, args, o, series, all, asTexts, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.Out, "output", "o", "", "write the new files to this folder (required)")
	f.StringArrayVar(&o.From, "from", nil, "look for originals in this file, folder, WACZ package or list of packages (.json); repeatable")
	f.BoolVar(&all, "all", false, "copy all records")
	f.BoolVar(&asTexts, "texts", false, "write the main texts of pages instead, as lines of JSON")
	choice.add(cmd, &o.Select)
	series.add(cmd)
	f.StringVar(&revisits, "revisits", "", "keep or none (default: those whose originals are chosen too)")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

func runExtract(
	cmd *cobra.Command, args []string, o rewrite.Options, series seriesFlags, all, asTexts, asJSON bool,
) (err error) {
	if o.Select.IsZero() != all {
		return cli.Usage(errors.New(
			"choose what to extract with --host, --collection, --prefix, --since or --until, or use --all"))
	}
	if o.Out == "" {
		return cli.Usage(errors.New("missing -o; name the folder of the new files"))
	}
	if o.Leave, err = series.choose(args); err != nil {
		return err
	}
	if asTexts {
		return extractTexts(cmd, args, o, asJSON)
	}
	return runRewrite(cmd, args, o, asJSON)
}

// captureFlags are the flags that choose captures, besides those that are in the selection itself.
type captureFlags struct {
	since, until string
	config       string
	only         config.Filter
}

func (c *captureFlags) add(cmd *cobra.Command, s *rewrite.Selection) {
	f := cmd.Flags()
	cli.ConfigFlag(cmd, &c.config)
	cli.SiteFlags(cmd, &c.only)
	f.Var(hostList{&s.Hosts}, "host", "choose this host, with a port only that one; a leading dot includes hosts below it; "+
		"@FILE chooses those in a file, one on a line, # starts a comment; repeatable")
	f.StringArrayVar(&s.Prefixes, "prefix", nil, "choose URIs that start with this; repeatable")
	f.StringVar(&c.since, "since", "", "choose captures from this date on: 2026, 2026-11, 2026-11-21 or 2026-11-21T09:00:00Z")
	f.StringVar(&c.until, "until", "", "choose captures up to the end of this date")
}

// hostList is a flag that takes a host, or reads hosts from a file.
type hostList struct{ hosts *[]string }

// String returns the hosts so far.
func (l hostList) String() string {
	if l.hosts == nil {
		return ""
	}
	return strings.Join(*l.hosts, ",")
}

// Type returns the type in the help. The flag is repeatable.
func (hostList) Type() string { return "stringArray" }

// Set adds a host, or the hosts in a file.
func (l hostList) Set(text string) (err error) {
	file, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		*l.hosts = append(*l.hosts, text)
		return nil
	}
	f, err := fileio.OpenText(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	before := len(*l.hosts)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		switch words := strings.Fields(line); {
		case len(words) == 1 && !strings.Contains(words[0], "/"):
			*l.hosts = append(*l.hosts, words[0])
		case len(words) > 0:
			return fmt.Errorf("want one host on a line, such as www.example.org or .example.org, not %.80q", line)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(*l.hosts) == before {
		return errors.New("the file names no host") // without hosts, all would be chosen
	}
	return nil
}

// apply adds the hosts of a label, collection or owner, and the period, to a selection.
func (c *captureFlags) apply(cmd *cobra.Command, s *rewrite.Selection) (err error) {
	if !c.only.IsZero() {
		hosts, err := archiveHosts(cmd.ErrOrStderr(), c.config, c.only)
		if err != nil {
			return err
		}
		for i, h := range hosts {
			if !strings.Contains(h, ":") {
				hosts[i] = h + ":" // the host at another port is another one
			}
		}
		s.Hosts = append(s.Hosts, hosts...)
	}
	if c.since != "" {
		if s.From, _, err = human.ParsePeriod(c.since); err != nil {
			return cli.Usage(fmt.Errorf("--since: %w", err))
		}
	}
	if c.until != "" {
		if _, s.To, err = human.ParsePeriod(c.until); err != nil {
			return cli.Usage(fmt.Errorf("--until: %w", err))
		}
	}
	return nil
}

func runRewrite(cmd *cobra.Command, args []string, o rewrite.Options, asJSON bool) error {
	sources, err := wacz.ReadSources(o.From)
	if err != nil {
		return cli.Usage(err)
	}
	o.From, o.Progress = sources.Paths, new(warc.Progress)
	o.Software, o.Command, o.Now = "arcrawl/"+cli.Version(), "arcrawl "+cmd.Name(), time.Now()
	stop := cli.ShowProgress(cmd.ErrOrStderr(), o.Progress)
	var lost lostOriginals
	sum, err := rewrite.Files(cmd.Context(), args, o, lost.count(cli.PrintFinding(cmd.ErrOrStderr(), asJSON)))
	stop()
	if err != nil {
		return err
	}
	var needs strings.Builder
	for _, d := range sum.Needs {
		fmt.Fprintf(&needs, "needs %s for %s\n", d.File, human.Count(d.Revisits, "revisit"))
	}
	if sum.Files == 0 && sum.Errors == 0 {
		return fmt.Errorf("%w: no record of the files matches the choice; nothing was copied", warc.ErrNotFound)
	}
	err = printResult(cmd.OutOrStdout(), asJSON, sum,
		"%s of %s with %s in %s; %s became responses, %d refer to such a response\n%s",
		human.Count(sum.Files, "file"), human.Bytes(sum.Bytes), human.Count(sum.Records, "record"), o.Out,
		human.Count(sum.Filled, "revisit"), sum.Repointed, needs.String())
	return damaged(err, sum.Errors, lost.advice("--from"))
}

// extractTexts writes the main texts of the chosen versions.
func extractTexts(cmd *cobra.Command, args []string, o rewrite.Options, asJSON bool) error {
	sources, err := wacz.ReadSources(o.From)
	if err != nil {
		return cli.Usage(err)
	}
	o.From, o.Progress = sources.Paths, new(warc.Progress)
	stop := cli.ShowProgress(cmd.ErrOrStderr(), o.Progress)
	sum, err := writeTexts(cmd.Context(), args, o, cli.PrintFinding(cmd.ErrOrStderr(), asJSON))
	stop()
	if err != nil {
		return err
	}
	var more string
	if sum.Known > 0 {
		more += "; " + human.Count(sum.Known, "file") + " there before"
	}
	if sum.Open > 0 {
		more += "; the daemon still writes " + human.Count(sum.Open, "WARC file")
	}
	err = printResult(cmd.OutOrStdout(), asJSON, sum, "%s of %s in %s, %s%s\n", human.Count(sum.Versions, "text"),
		human.Bytes(sum.Bytes), o.Out, human.Count(sum.Files, "new file"), more)
	return damaged(err, sum.Errors, "")
}

// archiveHosts returns the hosts that a filter selects, as commands about archives name them.
func archiveHosts(errs io.Writer, path string, f config.Filter) ([]string, error) {
	patterns, err := cli.ChosenHosts(errs, path, f)
	for i, p := range patterns {
		patterns[i] = strings.TrimPrefix(p, "*")
	}
	return patterns, err
}

// packing holds the flags of the wacz command.
type packing struct {
	wacz.Options
	choice rewrite.Options
	period captureFlags
	series seriesFlags
	alone  bool
	from   []string
	crawl  string
	key    string
	size   string
}

func newWacz() *cobra.Command {
	var p packing
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "wacz -o FILE.wacz FILE|DIR…",
		Short: "Package WARC files for replay tools",
		Long: `wacz writes a WACZ 1.1.1 package for ReplayWeb.page and similar tools: the WARC files, an index, a list of pages, and a
manifest with the hash and size of each. Choose hosts, a collection, prefixes, a period or series as with extract. The list of pages has
their titles and texts, in which replay tools search. With --log, it also holds the lines of crawl.log about the chosen hosts and
period, or else about the period of its captures. With --max-size, FILE.wacz becomes FILE-001.wacz and so on, and FILE.json, a list to open in
ReplayWeb.page. With --sign-key, packages are signed; verify and replay tools check the signature. If the
file has the certificate of a domain with its key too, the domain signs, and the server of fixity.timestamp stamps the signature.

Revisits stay revisits. The WARC files and packages with their originals, found by --from, are listed with hash and size in
relation.requires, packages also with their crawl id. With --self-contained revisits become responses, as with extract.

Existing files are never overwritten; the package appears when it is complete. If something is damaged, the exit code is 65.`,
		Example: `  arcrawl wacz -o november.wacz --since 2026-11 --until 2026-11 --self-contained warc/
  arcrawl wacz -o news.wacz --host @news.txt --since 2026 --until 2026 --max-size 4GB --sign-key library.pem --title News warc/
  arcrawl wacz -o elections.wacz --collection elections-2026 --since 2026-11 --until 2026-11 --self-contained warc/
  arcrawl wacz -o last.wacz --from warc/ warc/arcrawl-20261121090000000-00002-c1.warc.gz`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !strings.HasSuffix(p.Out, ".wacz") {
				return cli.Usage(errors.New("missing -o; name the package, with the suffix .wacz"))
			}
			return p.run(cmd, args, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&p.Out, "output", "o", "", "write this package; its name ends in .wacz (required)")
	f.StringVar(&p.Title, "title", "", "set the title of the package (default: the one in the files)")
	f.StringVar(&p.Description, "description", "", "set the description of the package")
	f.StringArrayVar(&p.from, "from", nil, "look for originals in this file, folder, WACZ package or list of packages (.json); repeatable")
	f.StringVar(&p.crawl, "crawl", "", "set the crawl id of packages named by --from, unless their list has one")
	f.BoolVar(&p.NoText, "no-text", false, "leave the titles and texts of pages out, in which replay tools search")
	f.StringVar(&p.key, "sign-key", "", "sign the package with the ECDSA key (P-384, PEM) in this file, or with a key and its certificates")
	f.StringVar(&p.size, "max-size", "", "make packages with at most this size of WARC files, such as 2GB, and a list of them")
	f.StringArrayVar(&p.Logs.Files, "log", nil, "add the lines of this crawl.log about the chosen visits, as logs/NAME; repeatable, also for rotated logs (.gz)")
	p.period.add(cmd, &p.choice.Select)
	p.series.add(cmd)
	f.BoolVar(&p.alone, "self-contained", false, "turn revisits whose originals are outside into responses")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// run packages the files, or new files with the chosen records.
func (p *packing) run(cmd *cobra.Command, args []string, asJSON bool) error {
	if err := p.period.apply(cmd, &p.choice.Select); err != nil {
		return err
	}
	sources, err := wacz.ReadSources(p.from)
	if err != nil {
		return cli.Usage(err)
	}
	p.From, p.From.CrawlID = sources, p.crawl
	p.Logs.From, p.Logs.To, p.Logs.Select = p.choice.Select.From, p.choice.Select.To, p.choice.Select.Matcher()
	if err := p.readFlags(cmd); err != nil {
		return err
	}
	if p.Leave, err = p.series.choose(args); err != nil {
		return err
	}
	p.Logs.ByHost = len(p.Logs.Files) > 0 && hasSeries(args)
	files, _ := warc.FilesAndPackages(args) // who reads the files reports the faults
	say := rightsOf(warc.Without(files, p.Leave))
	p.Title, p.Rights, p.Access, p.Available = cmp.Or(p.Title, say.title), say.rights, say.access, say.available
	p.Now, p.Software, p.Progress = time.Now(), "arcrawl/"+cli.Version(), new(warc.Progress)
	var lost lostOriginals
	see := lost.count(cli.PrintFinding(cmd.ErrOrStderr(), asJSON))
	stop := cli.ShowProgress(cmd.ErrOrStderr(), p.Progress)
	defer stop()
	errs := 0
	if p.alone || !p.choice.Select.IsZero() {
		folder, err := os.MkdirTemp(filepath.Dir(p.Out), ".wacz-*")
		if err != nil {
			return daemon.FolderError{Err: fmt.Errorf("create a folder next to the package: %w", err)}
		}
		defer os.RemoveAll(folder) //nolint:errcheck // the folder is hidden, and its name says what it is
		p.choice.Out, p.choice.From, p.choice.Keep, p.choice.Progress = folder, p.From.Paths, !p.alone, p.Progress
		p.choice.Software, p.choice.Command, p.choice.Now = p.Software, "arcrawl wacz", p.Now
		p.choice.Leave, p.Leave = p.Leave, nil
		made, err := rewrite.Files(cmd.Context(), args, p.choice, see)
		if err != nil {
			return err
		}
		if made.Files == 0 {
			return fmt.Errorf("%w: no record matches the choice", warc.ErrNotFound)
		}
		if !p.alone {
			p.From.Paths = append(p.From.Paths, args...)
		}
		args, errs, p.Rewritten = []string{folder}, made.Errors, true
	}
	sum, err := wacz.Write(cmd.Context(), args, p.Options, see)
	if err != nil {
		return err
	}
	sum.Errors += errs
	if p.MaxSize > 0 {
		p.Out = wacz.ListName(p.Out)
	}
	return printPackaged(cmd, p.Out, sum, asJSON, lost.advice("--from"))
}

// readFlags reads the key and the size of parts.
func (p *packing) readFlags(cmd *cobra.Command) (err error) {
	if p.size != "" {
		if p.MaxSize, err = human.ParseSize(p.size); err == nil && p.MaxSize <= 0 {
			err = errors.New("is not positive; write a size such as 2GB")
		}
		if err != nil {
			return cli.Usage(fmt.Errorf("--max-size %s: %w", p.size, err))
		}
	}
	if p.key == "" {
		return nil
	}
	if err := p.identify(cmd); err != nil {
		return cli.Usage(fmt.Errorf("--sign-key: %w", err))
	}
	return nil
}

func printPackaged(cmd *cobra.Command, name string, sum wacz.Summary, asJSON bool, advice string) error {
	var more strings.Builder
	for _, part := range sum.Parts {
		fmt.Fprintf(&more, "%s (%s, %s)\n", part.Name, human.Bytes(part.Bytes), part.Hash)
	}
	for _, r := range sum.Requires {
		fmt.Fprintf(&more, "requires %s (%s, %s) for %s\n", r.Filename, human.Bytes(r.Size), r.Hash,
			human.Count(r.Revisits, "revisit"))
	}
	err := printResult(cmd.OutOrStdout(), asJSON, sum, "%s: %s of %s with %s, %s\n%s",
		name, human.Count(sum.Files, "file"), human.Bytes(sum.Bytes), human.Count(sum.Captures, "capture"),
		human.Count(sum.Pages, "page"), more.String())
	return damaged(err, sum.Errors, advice)
}
