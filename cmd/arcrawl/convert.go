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
)

func newConvert() *cobra.Command {
	var seeds, dir string
	cmd := &cobra.Command{
		Use:   "convert CRAWLER-BEANS.CXML",
		Short: "Make a configuration of a job of Heritrix 3 or CrawlRSS",
		Long: `convert reads the job's crawler-beans.cxml and writes arcrawl.toml, and a file for each host into hosts.d. It converts who answers for
the crawl, politeness, limits, hops, seeds, expressions of URIs that are not wanted, sheets for hosts and domains, and the
sites of CrawlRSS with their feeds and implied pages.

Whatever else the job sets is listed with its line: read that list, it no longer holds. Existing files are never
overwritten. Read what was written, and run arcrawl check over it.`,
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
	cmd.Flags().StringVarP(&dir, "output", "o", ".", "the folder to write to")
	cmd.Flags().StringVar(&seeds, "seeds", "", "the job's file of seeds, one on a line, if they do not stand in the job itself")
	return cmd
}

// writeConverted writes the files, all or none, and lists what was not converted.
func writeConverted(out io.Writer, dir, job string, r *heritrix.Result) error {
	files := map[string][]byte{"arcrawl.toml": r.Main}
	for host, text := range r.Hosts {
		files[filepath.Join("hosts.d", host+".toml")] = text
	}
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return folderError{fmt.Errorf("%s exists, or cannot be looked at; nothing was written. Name another folder with -o", filepath.Join(dir, name))}
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "hosts.d"), 0o755); err != nil {
		return folderError{err}
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o644); err != nil {
			return folderError{fmt.Errorf("write %s: %w", name, err)}
		}
		fmt.Fprintln(out, "wrote", filepath.Join(dir, name))
	}
	if len(r.Left) > 0 {
		fmt.Fprintf(out, "\nnot converted, of %s:\n", job)
	}
	for _, n := range r.Left {
		fmt.Fprintf(out, "  %s\n", n)
	}
	_, err := fmt.Fprintf(out, "\nNext: arcrawl check -c %s\n", filepath.Join(dir, "arcrawl.toml"))
	return err
}
