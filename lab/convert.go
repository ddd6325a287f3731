package lab

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/lab/heritrix"
)

func newConvert() *cobra.Command {
	var seeds, dir string
	cmd := &cobra.Command{
		Use:   "convert CRAWLER-BEANS.CXML",
		Short: "Convert a job of Heritrix 3 or CrawlRSS to a configuration",
		Long: `convert reads the job's crawler-beans.cxml and writes arcrawl.toml and one file for each host into hosts.d. It converts the
operator, politeness, limits, hops, seeds, URI patterns to reject, sheets for hosts and domains, and the sites of CrawlRSS with
their feeds and implied pages.

Files that the job names are read if they are in its folder or below: imported beans, seeds, and SURT prefixes. Expressions become
their defaults.

All other settings of the job are listed with their lines: they have no effect any more. Existing files are never overwritten. Read
the new files, then run arcrawl check.`,
		Example: `  arcrawl convert crawler-beans.cxml --seeds seeds.txt -o /etc/arcrawl
  arcrawl check -c /etc/arcrawl/arcrawl.toml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("read the job: %w", err)
			}
			var list []byte
			if seeds != "" {
				if list, err = os.ReadFile(seeds); err != nil {
					return fmt.Errorf("read the seeds: %w", err)
				}
			}
			r, err := heritrix.Convert(heritrix.Job{
				Beans: job, Seeds: string(list), Read: besideJob(args[0]),
				MaxDelay: config.DefaultSettings().Politeness.MaxDelay,
			})
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return writeConverted(cmd.OutOrStdout(), dir, args[0], r)
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", ".", "write to this folder")
	cmd.Flags().StringVar(&seeds, "seeds", "", "read the seeds from this file, one on a line, if the job does not contain them")
	return cmd
}

// maxJobFile bounds a file that a job names.
const maxJobFile = 64 << 20

// besideJob returns a function that reads files in the folder of a job and below it.
func besideJob(job string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if !filepath.IsLocal(name) {
			return nil, errors.New("it is not in the folder of the job; copy it there")
		}
		f, err := os.OpenInRoot(filepath.Dir(job), name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errors.New("it is not in the folder of the job")
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, maxJobFile+1))
		if err == nil && len(text) > maxJobFile {
			err = fmt.Errorf("it is larger than %d MiB", maxJobFile>>20)
		}
		return text, err
	}
}

// writeConverted writes all files or none, and lists the settings that were not converted.
func writeConverted(out io.Writer, dir, job string, r *heritrix.Result) error {
	files := map[string][]byte{"arcrawl.toml": r.Main}
	for host, text := range r.Hosts {
		files[filepath.Join("hosts.d", host+".toml")] = text
	}
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return daemon.FolderError{Err: fmt.Errorf("%s exists or cannot be read; nothing was written; name another folder with -o", filepath.Join(dir, name))}
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "hosts.d"), 0o755); err != nil {
		return daemon.FolderError{Err: err}
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o644); err != nil {
			return daemon.FolderError{Err: fmt.Errorf("write %s: %w", name, err)}
		}
		fmt.Fprintln(out, "wrote", filepath.Join(dir, name))
	}
	listLosses(out, job, r)
	main := filepath.Join(dir, "arcrawl.toml")
	_, err := fmt.Fprintf(out, "\nNext: arcrawl check -c %[1]s\n"+
		"Then: arcrawl prime -c %[1]s --add FILE…   with the crawl logs of the job, to start warm\n", main)
	return err
}

// listLosses lists what was not converted, and what was converted with a default.
func listLosses(out io.Writer, job string, r *heritrix.Result) {
	groups := []struct {
		title string
		has   func(heritrix.Note) bool
		notes []heritrix.Note
	}{
		{title: "not converted from %s; check whether the crawl needs it:\n"},
		{
			title: "converted from %s with the defaults of expressions; write your own values if the job gets others:\n",
			has:   func(n heritrix.Note) bool { return n.Default },
		},
		{
			title: "not converted from %s, without effect on what is crawled and archived:\n",
			has:   func(n heritrix.Note) bool { return n.Harmless },
		},
	}
	for _, n := range r.Notes {
		in := 0
		for i := range groups {
			if groups[i].has != nil && groups[i].has(n) {
				in = i
			}
		}
		groups[in].notes = append(groups[in].notes, n)
	}
	fmt.Fprintf(out, "\nconverted: %d; not converted: %d, and %d without effect on what is crawled and archived\n",
		r.Converted, len(groups[0].notes), len(groups[2].notes))
	for _, g := range groups {
		for i, n := range g.notes {
			if i == 0 {
				fmt.Fprintf(out, "\n"+g.title, job)
			}
			fmt.Fprintf(out, "  %s\n", n)
		}
	}
}
