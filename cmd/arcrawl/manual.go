package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
)

// newManual makes the command that packages are built with. It is hidden, for nobody else needs it.
func newManual() *cobra.Command {
	return &cobra.Command{
		Use:    "manual DIR",
		Short:  "Write the manual pages and the completions for shells",
		Hidden: true,
		Long: `manual writes the pages of all commands and of arcrawl.toml to DIR/man, and completions for bash, zsh and fish to
DIR/completions. The pages bear the date of SOURCE_DATE_EPOCH, if that is set.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			date := time.Now().UTC()
			if epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
				date = time.Unix(epoch, 0).UTC()
			}
			if err := writeMan(filepath.Join(args[0], "man"), date); err != nil {
				return err
			}
			return writeCompletions(filepath.Join(args[0], "completions"))
		},
	}
}

func writeMan(dir string, date time.Time) error {
	for _, section := range []string{"man1", "man5"} {
		if err := os.MkdirAll(filepath.Join(dir, section), 0o755); err != nil {
			return daemon.FolderError{Err: err}
		}
	}
	root := newRoot() // one of its own, for the texts are changed
	root.DisableAutoGenTag = true
	if err := writePages(root, filepath.Join(dir, "man1"), date); err != nil {
		return fmt.Errorf("write the manual: %w", err)
	}
	page := tidy(md2man.Render([]byte(configPage(date))), date)
	return os.WriteFile(filepath.Join(dir, "man5", "arcrawl.toml.5"), page, 0o644)
}

// writePages writes the page of a command and of those below it.
func writePages(cmd *cobra.Command, dir string, date time.Time) error {
	cmd.Long = asMarkdown(cmd.Long)
	var page bytes.Buffer
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: "arcrawl " + programVersion(), Manual: "arcrawl"}
	if err := doc.GenMan(cmd, header, &page); err != nil {
		return err
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	if err := os.WriteFile(filepath.Join(dir, name), tidy(page.Bytes(), date), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			if err := writePages(sub, dir, date); err != nil {
				return err
			}
		}
	}
	return nil
}

// What the generator of the pages writes and mandoc does not like.
var (
	manTitle  = regexp.MustCompile(`(?m)^(\.TH "[^"]*" "[^"]*") "[^"]*"`)
	manOption = regexp.MustCompile(`(?m)^(?:\.PP\n)?(\\fB-.*?)(?:\[=false\])?\n\t(.*)$`)
)

// tidy gives a page its whole date, and makes tagged paragraphs of the options.
func tidy(page []byte, date time.Time) []byte {
	page = manTitle.ReplaceAll(page, []byte(`$1 "`+date.Format(time.DateOnly)+`"`))
	return manOption.ReplaceAll(page, []byte(".TP\n$1\n$2"))
}

// asMarkdown makes the long text of a command fit for Markdown, which the pages are made of: lines that are indented stay
// as they are.
func asMarkdown(text string) string {
	var out []string
	before := ""
	for line := range strings.SplitSeq(text, "\n") {
		if before != "" && line != "" && strings.HasPrefix(line, "  ") != strings.HasPrefix(before, "  ") {
			out = append(out, "")
		}
		before = line
		if strings.HasPrefix(line, "  ") {
			line = "    " + line
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

const configPageHead = `%% "ARCRAWL.TOML" "5" "%s" "arcrawl %s" "arcrawl"

# NAME

arcrawl.toml - configuration of arcrawl

# DESCRIPTION

One main file, arcrawl.toml, and beside it a folder of host files, hosts.d. Both are TOML, in UTF-8. The file
hosts.d/www.news.example.toml speaks for the host www.news.example, and hosts.d/news.example.toml for that host and all below it;
where both set a key the longer name wins. A key that no host file sets has the value of the main file, and a key that the main
file does not set has its default. Over all of them stand the refinements, [[when]], that hold for the visit.

A duration is a text of whole numbers with units, the larger first: "90s", "12h", "28d", "1h30m". The units are y, w, d, h, m, s
and ms. A size is a text of a whole number with a unit: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB. Regular expressions are in RE2
syntax; write them in single quotes.

# KEYS
`

const configPageFoot = `
# FILES

**/etc/arcrawl/arcrawl.toml**
:   the main file of the system's daemon

**/etc/arcrawl/hosts.d**
:   its host files

# SEE ALSO

**arcrawl-check(1)**, **arcrawl-init(1)**, **arcrawl-host-add(1)**, **arcrawl-schema(1)**
`

// configPage is the manual page of the configuration, as Markdown.
func configPage(date time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, configPageHead, date.Format("Jan 2006"), programVersion())
	keys := config.Keys()
	entry := func(k config.Key, name string) {
		where := map[string]string{"main": ", main file only", "host": ", host files only"}[k.Scope]
		fmt.Fprintf(&b, "\n**%s** (%s%s)\n", name, escapeMan(k.Type), where)
		text := k.Doc
		if k.Default != "" {
			text += " Default: " + k.Default
		}
		fmt.Fprintf(&b, ":   %s\n", escapeMan(text))
	}
	for _, k := range keys {
		if !strings.Contains(k.Name, ".") {
			entry(k, k.Name)
		}
	}
	for _, t := range config.Tables() {
		name := "[" + t.Name + "]"
		if t.List {
			name = "[" + name + "]"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", escapeMan(name), escapeMan(t.Doc))
		for _, k := range keys {
			if key, ok := strings.CutPrefix(k.Name, t.Name+"."); ok {
				entry(k, key)
			}
		}
	}
	b.WriteString(configPageFoot)
	return b.String()
}

// escapeMan keeps Markdown from reading marks into a text.
func escapeMan(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "`", "").Replace(s)
}

func writeCompletions(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return daemon.FolderError{Err: err}
	}
	root := newRoot()
	for _, shell := range []struct {
		file  string
		write func(path string) error
	}{
		{"arcrawl.bash", func(path string) error { return root.GenBashCompletionFileV2(path, true) }},
		{"_arcrawl", root.GenZshCompletionFile},
		{"arcrawl.fish", func(path string) error { return root.GenFishCompletionFile(path, true) }},
	} {
		if err := shell.write(filepath.Join(dir, shell.file)); err != nil {
			return fmt.Errorf("write the completion %s: %w", shell.file, err)
		}
	}
	return nil
}
