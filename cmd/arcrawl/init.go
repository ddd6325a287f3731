package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
)

func newInit() *cobra.Command {
	var set []string
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a configuration to start from",
		Long: `init writes arcrawl.toml into DIR, or into the current folder, and beside it the empty folder hosts.d. Every key there is
stands in the file with its meaning and its default, as a comment. operator.name and operator.contact have to be filled in,
by hand or with --set. One [[wait]] entry is no comment: a crawl that begins anew goes by the rule "learned", which captures
most on recorded histories of change (docs/scheduling.md). Without it the waits are Heritrix's. A file that is there already is left as it is.`,
		Example: `  arcrawl init
  arcrawl init crawl --set operator.name="National Library" --set operator.contact=https://library.example/crawler
  arcrawl init /etc/arcrawl --set storage.warc=/srv/warc --set crawl.workers=200`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			values, err := parseSet(set)
			if err != nil {
				return usageError{fmt.Errorf("--set %w", err)}
			}
			path := filepath.Join(dir, "arcrawl.toml")
			if err := create(path, mainFile(values)); err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Join(dir, "hosts.d"), 0o755); err != nil {
				return folderError{err}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), `wrote %[1]s
next:
  fill in operator.name and operator.contact, if that is not done
  arcrawl host add --config %[1]s https://www.news.example/
  arcrawl check --config %[1]s
`, path)
			return err
		},
	}
	cmd.Flags().StringArrayVar(&set, "set", nil, "KEY=VALUE to write into the file, as in storage.warc=/srv/warc; may be repeated")
	return cmd
}

// mainFile is the text of a main file.
func mainFile(set map[string]string) string {
	values := map[string]string{"operator.name": `""`, "operator.contact": `""`, "wait.mime": `'.*'`, "wait.rule": `"learned"`}
	for name, value := range set {
		values[name] = value
	}
	t := newTemplate("main", values)
	t.hint["wait.min"], t.hint["wait.max"] = `"5m"`, `"90d"` // those of the rule
	t.comment("The main file of arcrawl. A line such as #key = value shows a default: take the # away and write what you want.")
	t.comment("Then: arcrawl check --config FILE; a running daemon takes it by itself. Settings of one host: arcrawl host add URI.")
	for _, table := range config.Tables() {
		t.table(table)
	}
	return t.out.String()
}

// create writes a new file, and leaves one that is there already as it is.
func create(path, text string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return folderError{err}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return folderError{fmt.Errorf("%s is there already and stays as it is; remove it first if it is not needed", path)}
	case err != nil:
		return folderError{err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.WriteString(text)
	return err
}
