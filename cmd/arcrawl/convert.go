package main

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

	"github.com/arcrawl/arcrawl/config/heritrix"
	"github.com/arcrawl/arcrawl/daemon"
)

func newConvert() *cobra.Command {
	var seeds, dir string
	cmd := &cobra.Command{
		Use:   "convert CRAWLER-BEANS.CXML",
		Short: "Convert a job of Heritrix 3 or CrawlRSS to a configuration",
		Long: `convert reads the job's crawler-beans.cxml and writes arcrawl.toml and one file for each host into hosts.d. It converts the
operator, politeness, limits, hops, seeds, URI patterns to reject, sheets for hosts and domains, and the sites of CrawlRSS with
their feeds and implied pages.

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
			r, err := heritrix.Convert(job, string(list))
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
	for _, of := range []struct {
		title    string
		harmless bool
	}{
		{"not converted from %s; check whether the crawl needs it:\n", false},
		{"not converted from %s, without effect on what is crawled and archived:\n", true},
	} {
		title := "\n" + fmt.Sprintf(of.title, job)
		for _, n := range r.Notes {
			if n.Harmless == of.harmless {
				fmt.Fprintf(out, "%s  %s\n", title, n)
				title = ""
			}
		}
	}
	_, err := fmt.Fprintf(out, "\nNext: arcrawl check -c %s\n", filepath.Join(dir, "arcrawl.toml"))
	return err
}
