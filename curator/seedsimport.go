package curator

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/human"
)

// bulkEdit holds the flags of commands that write many host files.
type bulkEdit struct {
	now       func() time.Time
	path      string // of the main file
	dry, sure bool
	skip      bool // lines with faults
	show      int  // new and changed seeds that are listed
}

func (b *bulkEdit) add(cmd *cobra.Command) {
	cli.ConfigFlag(cmd, &b.path)
	cmd.Flags().BoolVar(&b.dry, "dry-run", false, "show what would change, write nothing")
	cmd.Flags().BoolVarP(&b.sure, "yes", "y", false, "write without asking")
}

// importList imports a list.
func (b *bulkEdit) importList(cmd *cobra.Command, name string) error {
	in, done, err := cli.Input(cmd, name)
	if err != nil {
		return daemon.FolderError{Err: err}
	}
	defer done()
	text, err := io.ReadAll(io.LimitReader(in, maxListSize+1))
	if err != nil {
		return daemon.FolderError{Err: err}
	}
	s, err := openHostFiles(b.path)
	if err != nil {
		return err
	}
	p, err := s.Plan(text)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	b.preview(out, name, p)
	if p.Faulty > 0 && !b.skip {
		return cli.Usage(fmt.Errorf("%s in %s; nothing was written; correct them, or use --skip-faulty", human.Count(p.Faulty, "faulty line"), name))
	}
	return b.write(cmd, s, p.Texts, "import of "+filepath.Base(name))
}

// preview prints what a list would change.
func (b *bulkEdit) preview(out io.Writer, name string, p SeedPlan) {
	fmt.Fprintf(out, "%s: %s new, %d changed, %d known, %d faulty; %s to write, %d of them new\n", name,
		human.Count(p.New, "seed"), p.Changed, p.Known, p.Faulty, human.Count(p.Files, "host file"), p.NewFiles)
	list := func(what string, seeds []PlannedSeed) {
		for i, s := range seeds {
			if i == b.show {
				fmt.Fprintf(out, "… and %d more\n", len(seeds)-i)
				return
			}
			fmt.Fprintf(out, "%s  %s\n", what, human.URI(s.URI))
		}
	}
	list("new    ", p.Seeds[:p.New])
	list("changed", p.Seeds[p.New:])
	for i, f := range p.Faults {
		if i == b.show {
			fmt.Fprintf(out, "… and %d more faults\n", p.Faulty-i)
			return
		}
		fmt.Fprintf(out, "%s:%s\n", name, f)
	}
}

// maxEffect is the maximum number of host files whose effect on the crawl is shown.
const maxEffect = 100

// write shows the effect of new texts of host files, asks, and writes them.
func (b *bulkEdit) write(cmd *cobra.Command, s configFiles, texts map[string][]byte, what string) error {
	out := cmd.OutOrStdout()
	if len(texts) == 0 {
		_, err := fmt.Fprintln(out, "nothing to write")
		return err
	}
	if len(texts) <= maxEffect {
		var staged []api.StagedHost
		for name, text := range texts {
			staged = append(staged, api.StagedHost{Name: name, Text: string(text)})
		}
		if err := showEffect(cmd, b.path, staged...); err != nil {
			return err
		}
	}
	if b.dry {
		_, err := fmt.Fprintln(out, "nothing was written")
		return err
	}
	if !b.sure && !cli.Confirmed(cmd.InOrStdin(), out) {
		return nil
	}
	if err := s.Write(texts, what, b.now()); err != nil {
		return daemon.FolderError{Err: err}
	}
	_, err := fmt.Fprintf(out, "wrote %s in %s; arcrawl seeds add --undo restores what was there\n", human.Count(len(texts), "file"), s.Dir)
	return err
}

// undoImport restores the host files as they were before the last import.
func (b *bulkEdit) undoImport(cmd *cobra.Command) error {
	s, err := openHostFiles(b.path)
	if err != nil {
		return err
	}
	u, err := s.last()
	if err != nil {
		return daemon.FolderError{Err: err}
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s, %s: %s\n", u.What, u.At.Format(time.RFC3339), human.Count(len(u.Files), "host file"))
	if b.dry || !b.sure && !cli.Confirmed(cmd.InOrStdin(), out) {
		return nil
	}
	if _, err := s.Undo(); err != nil {
		return daemon.FolderError{Err: err}
	}
	_, err = fmt.Fprintln(out, "restored")
	return err
}

// setKeys sets keys in the files of the hosts that a filter selects.
func (b *bulkEdit) setKeys(cmd *cobra.Command, only config.Filter, keys []string) error {
	s, err := openHostFiles(b.path)
	if err != nil {
		return err
	}
	texts, err := s.set(only, keys)
	if err != nil {
		return cli.Usage(err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s to write\n", human.Count(len(texts), "host file"))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintln(cmd.OutOrStdout(), name)
	}
	return b.write(cmd, s, texts, "host edit "+keys[0])
}
