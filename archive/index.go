package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newIndex() *cobra.Command {
	var output, server, done string
	var series seriesFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "index FILE|DIR…",
		Short: "Write a CDXJ index of WARC files",
		Long: `index reads WARC files, compressed or not, and prints one CDXJ line for each response, resource and revisit, sorted as pywb
expects. File names are relative to the named folder. Damaged records are named on standard error and left out, with exit code 65; the
rest is indexed.

With -o the index is written to a file, which appears when it is complete. A second file with the suffix .files lists the covered WARC
files. An index named index.cdxj in the folder of the WARC files makes history, cat and diff fast; newer files are read in addition.
With it, the folder deps is written, an index of which records depend on which, for deps, impact and dedup lost.

If the name ends in .parquet, the file is a table for DuckDB, Spark or pandas, with the columns of Common Crawl's index, and one that
says whether the payload changed.

If the files are of several series, choose with --series.

With --push the lines are sent to an OutbackCDX server instead, 1,000 in a request. Sending a line twice changes nothing. With --done a
file lists the WARC files that the server has; unchanged ones are skipped the next time. So an interrupted push resumes, and a nightly
push sends only new lines.`,
		Example: `  arcrawl index -o warc/index.cdxj warc/
  arcrawl index -o captures.parquet warc/
  arcrawl index foreign.warc.gz | grep text/html
  arcrawl index --push http://localhost:8901/arcrawl --done pushed.list warc/`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case server != "" && output != "":
				return cli.Usage(errors.New("--push and -o cannot be used together"))
			case server == "" && done != "":
				return cli.Usage(errors.New("--done needs --push"))
			case server != "":
				p, err := newPush(cmd, server, done, asJSON)
				if err != nil {
					return err
				}
				if p.Leave, err = series.choose(args); err != nil {
					return errors.Join(err, p.Sent.Close())
				}
				return pushFiles(cmd, p, args)
			}
			leave, err := series.choose(args)
			if err != nil {
				return err
			}
			return makeIndex(cmd, args, output, leave, asJSON)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file (default: standard output)")
	cmd.Flags().StringVar(&server, "push", "", "send the lines to this collection of an OutbackCDX server")
	cmd.Flags().StringVar(&done, "done", "", "with --push: keep the list of sent files here; created if missing")
	series.add(cmd)
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// collectDependencies makes the dependency index of a folder together with its main index. It returns nil if another
// index is made.
func collectDependencies(o *index.Options, args []string, output string) *depend.Batch {
	if len(args) != 1 || filepath.Clean(output) != filepath.Join(args[0], index.FileName) {
		return nil
	}
	batch := depend.NewBatch(args[0])
	o.Collect = func(f warc.File) (func(*warc.Record, string), func() error) {
		c := depend.NewCollector(f)
		return func(rec *warc.Record, digest string) { c.Add(rec.Header, rec.Offset, digest) },
			func() error { return batch.Add(c) }
	}
	return batch
}

func makeIndex(
	cmd *cobra.Command, args []string, output string, leave func(warc.File) bool, asJSON bool,
) error {
	progress := new(warc.Progress)
	stop := cli.ShowProgress(cmd.ErrOrStderr(), progress)
	o := index.Options{Progress: progress, Leave: leave}
	see := cli.PrintFinding(cmd.ErrOrStderr(), asJSON)
	var sum index.Summary
	var err error
	switch {
	case output == "" || output == "-":
		sum, err = index.Build(cmd.Context(), args, o, cmd.OutOrStdout(), see)
	case strings.HasSuffix(output, parquetSuffix):
		sum, err = writeTable(cmd.Context(), args, o, output, see)
	default:
		batch := collectDependencies(&o, args, output)
		sum, err = index.WriteFile(cmd.Context(), args, o, output, see)
		if err == nil && batch != nil {
			err = batch.Flush()
		}
	}
	stop()
	if err != nil {
		return err
	}
	err = printResult(cmd.ErrOrStderr(), asJSON, sum, "%s in %s, %s\n", human.Count(sum.Entries, "capture"),
		human.Count(sum.Files, "file"), human.Count(sum.Errors, "error"))
	return damaged(err, sum.Errors, "")
}

// newPush returns a push to a server that prints to the standard error of cmd. sentPath names the list of sent files.
// The caller closes the list.
func newPush(cmd *cobra.Command, server, sentPath string, asJSON bool) (*push, error) {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") == "" {
		return nil, cli.Usage(fmt.Errorf("--push %q: want the address of a collection, such as http://localhost:8901/arcrawl", server))
	}
	out := cmd.ErrOrStderr()
	p := &push{
		Server: u.Redacted(), Finding: cli.PrintFinding(out, asJSON), Wait: cli.Wait,
		Open: func(path string) { fmt.Fprintf(out, "%s: skipped, because the daemon still writes to it\n", path) },
		Collection: &cdxCollection{
			Post: func(ctx context.Context, lines []byte) (int, string, error) {
				return postLines(ctx, server, "arcrawl/"+cli.Version(), lines)
			},
			Refused: func(e index.Entry, why error) {
				fmt.Fprintf(out, "%s:%d: skipped %s: %v\n", e.Filename, e.Offset, e.URL, why)
			},
		},
	}
	var noFile *fs.PathError
	switch p.Sent, err = openSentFiles(sentPath, p.Server); {
	case errors.Is(err, errOtherServer):
		return nil, cli.Usage(fmt.Errorf("--done: %w; name another file", err))
	case errors.As(err, &noFile):
		return nil, daemon.FolderError{Err: fmt.Errorf("--done: %w", err)}
	}
	return p, err
}

// pushFiles sends the captures of all files in paths and prints what was sent.
func pushFiles(cmd *cobra.Command, p *push, paths []string) (err error) {
	defer func() { err = errors.Join(err, p.Sent.Close()) }()
	stop := cli.ShowLine(cmd.ErrOrStderr(), func() string {
		files, total, captures := p.Progress()
		return fmt.Sprintf("%d of %s, %s sent", files, human.Count(total, "file"), human.Count(captures, "capture"))
	})
	r, err := p.Run(cmd.Context(), paths)
	stop()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s of %s sent to %s; %s sent before, %d still open; %s refused, %s\n",
		human.Count(r.Captures, "capture"), human.Count(r.Files, "file"), p.Server, human.Count(r.Known, "file"), r.Open,
		human.Count(r.Refused, "capture"), human.Count(r.Damaged, "error"))
	switch {
	case err != nil:
		return err
	case r.Damaged > 0:
		return damaged(nil, r.Damaged, ", listed above; everything else was sent")
	case r.Refused > 0:
		return fmt.Errorf("%s refused %s, listed above; it has all others", p.Server, human.Count(r.Refused, "capture"))
	}
	return nil
}
