package archive

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/rewrite"
	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newExtract() *cobra.Command {
	var o rewrite.Options
	var asJSON, all bool
	var choice captureFlags
	cmd := &cobra.Command{
		Use:   "extract -o DIR FILE|DIR…",
		Short: "Copy the records of a host, prefix or period, or all, to WARC files that need no others",
		Long: `extract copies the chosen records, with their requests and metadata, to new files of the same names in another folder. The
new files are compressed and depend on no others: a revisit whose original was not chosen becomes a response with its own headers, the
original's payload and a new record id. Later revisits of the same original then refer to that response. A metadata record says what the
response was made from. Other records are copied byte for byte. With --keep-revisits a revisit stays a revisit, and the files that it
depends on are listed.

Originals are taken from the files and from the folders named by --from, after a check of their digests. Existing files are never
changed or overwritten; a file appears when it is complete. Damaged records are not copied; a revisit without original is copied as it is.
Both give exit code 65.`,
		Example: `  arcrawl extract -o news/ --host www.news.example --since 2026-11 --until 2026-11 warc/
  arcrawl extract -o elections/ --collection elections-2026 --since 2026-11 warc/
  arcrawl extract -o live/ --prefix https://www.news.example/live/ --keep-revisits warc/
  arcrawl extract --all --from warc/ -o alone/ warc/arcrawl-20261121090000000-00002-c1.warc.gz`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := choice.apply(cmd, &o.Select); err != nil {
				return err
			}
			if o.Select.IsZero() != all {
				return cli.Usage(errors.New(
					"choose what to extract with --host, --collection, --prefix, --since or --until, or use --all"))
			}
			return runRewrite(cmd, args, o, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.Out, "output", "o", "", "write the new files to this folder (required)")
	f.StringArrayVar(&o.From, "from", nil, "look for originals in this file, folder, WACZ package or list of packages (.json); repeatable")
	f.BoolVar(&all, "all", false, "copy all records")
	choice.add(cmd, &o.Select)
	f.BoolVar(&o.Keep, "keep-revisits", false, "keep revisits, and list the files that they depend on")
	f.BoolVar(&o.All, "no-revisits", false, "turn every revisit into a response, even if its original is among the files")
	cmd.MarkFlagsMutuallyExclusive("keep-revisits", "no-revisits")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// captureFlags are the flags that choose captures, besides those that are in the selection itself.
type captureFlags struct {
	since, until string
	config       string
	only         config.Filter
}

// add adds the flags to a command.
func (c *captureFlags) add(cmd *cobra.Command, s *rewrite.Selection) {
	f := cmd.Flags()
	cli.ConfigFlag(cmd, &c.config)
	cli.SiteFlags(cmd, &c.only)
	f.StringArrayVar(&s.Hosts, "host", nil,
		"choose this host, with its port if not the default; a leading dot includes hosts below it; repeatable")
	f.Var(hostList{&s.Hosts}, "host-list", "choose the hosts in this file, one on a line; # starts a comment; repeatable")
	f.StringArrayVar(&s.Prefixes, "prefix", nil, "choose URIs that start with this; repeatable")
	f.StringVar(&c.since, "since", "", "choose captures from this date on: 2026, 2026-11, 2026-11-21 or 2026-11-21T09:00:00Z")
	f.StringVar(&c.until, "until", "", "choose captures up to the end of this date")
}

// hostList is a flag that reads hosts from a file.
type hostList struct{ hosts *[]string }

// String returns nothing: the flag has no default.
func (hostList) String() string { return "" }

// Type returns the word for a value in the help.
func (hostList) Type() string { return "FILE" }

// Set reads a file and adds its hosts.
func (l hostList) Set(file string) (err error) {
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
	if o.Out == "" {
		return cli.Usage(fmt.Errorf("missing -o; name the folder of the new files"))
	}
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
	if asJSON {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(sum)
	} else {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s of %s with %s in %s; %s became responses, %d refer to such a response\n",
			human.Count(sum.Files, "file"), human.Bytes(sum.Bytes), human.Count(sum.Records, "record"), o.Out,
			human.Count(sum.Filled, "revisit"), sum.Repointed)
		for _, d := range sum.Needs {
			fmt.Fprintf(cmd.OutOrStdout(), "needs %s for %s\n", d.File, human.Count(d.Revisits, "revisit"))
		}
	}
	if err == nil && sum.Errors > 0 {
		err = fmt.Errorf("%w: %s%s", warc.ErrDamaged, human.Count(sum.Errors, "error"), lost.advice("--from"))
	}
	return err
}

// archiveHosts returns the hosts that a filter selects, as commands about archives name them.
func archiveHosts(errs io.Writer, path string, f config.Filter) ([]string, error) {
	patterns, err := cli.ChosenHosts(errs, path, f)
	for i, p := range patterns {
		patterns[i] = strings.TrimPrefix(p, "*")
	}
	return patterns, err
}
