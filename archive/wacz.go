package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/rewrite"
	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/human"
)

// packing holds the flags of the wacz command.
type packing struct {
	wacz.Options
	choice rewrite.Options
	period captureFlags
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
manifest with the hash and size of each. Choose hosts, a collection, prefixes or a period as with extract. The list of pages has
their titles and texts, in which replay tools search. With --log, it also holds the lines of crawl.log about the chosen hosts and
period, or else about the period of its captures. With --max-size, FILE.wacz becomes FILE-001.wacz and so on, and FILE.json, a list to open in
ReplayWeb.page. With --sign-key, packages are signed; verify and replay tools check the signature.

Revisits stay revisits. The WARC files and packages with their originals, found by --from, are listed with hash and size in
relation.requires, packages also with their crawl id. With --self-contained revisits become responses, as with extract.

Existing files are never overwritten; the package appears when it is complete. If something is damaged, the exit code is 65.`,
		Example: `  arcrawl wacz -o november.wacz --since 2026-11 --until 2026-11 --self-contained warc/
  arcrawl wacz -o news.wacz --host-list news.txt --since 2026 --until 2026 --max-size 4GB --sign-key library.pem --title News warc/
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
	f.StringVar(&p.Title, "title", "", "set the title of the package")
	f.StringVar(&p.Description, "description", "", "set the description of the package")
	f.StringArrayVar(&p.from, "from", nil, "look for originals in this file, folder, WACZ package or list of packages (.json); repeatable")
	f.StringVar(&p.crawl, "crawl", "", "set the crawl id of packages named by --from, unless their list has one")
	f.BoolVar(&p.NoText, "no-text", false, "leave the titles and texts of pages out, in which replay tools search")
	f.StringVar(&p.key, "sign-key", "", "sign the package with the ECDSA key (P-384, PEM) in this file")
	f.StringVar(&p.size, "max-size", "", "make packages with at most this size of WARC files, such as 2GB, and a list of them")
	f.StringArrayVar(&p.Logs.Files, "log", nil, "add the lines of this crawl.log about the chosen visits, as logs/NAME; repeatable, also for rotated logs (.gz)")
	p.period.add(cmd, &p.choice.Select)
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
	if err := p.readFlags(); err != nil {
		return err
	}
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
func (p *packing) readFlags() (err error) {
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
	if p.Key, err = wacz.ReadKey(p.key); err != nil {
		return cli.Usage(fmt.Errorf("--sign-key: %w", err))
	}
	return nil
}

func printPackaged(cmd *cobra.Command, name string, sum wacz.Summary, asJSON bool, advice string) error {
	var err error
	if asJSON {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(sum)
	} else {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s of %s with %s, %s\n", name, human.Count(sum.Files, "file"),
			human.Bytes(sum.Bytes), human.Count(sum.Captures, "capture"), human.Count(sum.Pages, "page"))
		for _, part := range sum.Parts {
			fmt.Fprintf(cmd.OutOrStdout(), "%s (%s, %s)\n", part.Name, human.Bytes(part.Bytes), part.Hash)
		}
		for _, r := range sum.Requires {
			fmt.Fprintf(cmd.OutOrStdout(), "requires %s (%s, %s) for %s\n", r.Filename, human.Bytes(r.Size), r.Hash,
				human.Count(r.Revisits, "revisit"))
		}
	}
	if err == nil && sum.Errors > 0 {
		err = fmt.Errorf("%w: %s%s", warc.ErrDamaged, human.Count(sum.Errors, "error"), advice)
	}
	return err
}
