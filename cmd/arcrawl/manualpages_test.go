package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

// manual writes the manual pages and shell completions of a command line from its cobra commands. Packages are built
// with it (scripts/package). The program itself does not contain it.
type manual struct {
	Root    func() *cobra.Command // returns a new command tree; its texts are changed
	Version string                // of the program
	Date    time.Time             // of the pages
}

// Write writes the pages of all commands and of arcrawl.toml to dir/man, and completions for bash, zsh and fish to
// dir/completions.
func (m manual) Write(dir string) error {
	if err := m.writeMan(filepath.Join(dir, "man")); err != nil {
		return fmt.Errorf("write the manual: %w", err)
	}
	return m.writeCompletions(filepath.Join(dir, "completions"))
}

func (m manual) writeMan(dir string) error {
	for _, section := range []string{"man1", "man5"} {
		if err := os.MkdirAll(filepath.Join(dir, section), 0o755); err != nil {
			return err
		}
	}
	root := m.Root()
	root.DisableAutoGenTag = true
	if err := m.writePages(root, filepath.Join(dir, "man1")); err != nil {
		return err
	}
	page := tidy(md2man.Render([]byte(m.configPage())), m.Date)
	return os.WriteFile(filepath.Join(dir, "man5", "arcrawl.toml.5"), page, 0o644)
}

// writePages writes the pages of a command and its subcommands.
func (m manual) writePages(cmd *cobra.Command, dir string) error {
	cmd.Long = asMarkdown(cmd.Long)
	cli.HideOthers(cmd)
	var page bytes.Buffer
	header := &doc.GenManHeader{Section: "1", Date: &m.Date, Source: "arcrawl " + m.Version, Manual: "arcrawl"}
	if err := doc.GenMan(cmd, header, &page); err != nil {
		return err
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	if err := os.WriteFile(filepath.Join(dir, name), tidy(page.Bytes(), m.Date), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			if err := m.writePages(sub, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// Patterns of generated text that mandoc warns of.
var (
	manTitle  = regexp.MustCompile(`(?m)^(\.TH "[^"]*" "[^"]*") "[^"]*"`)
	manOption = regexp.MustCompile(`(?m)^(?:\.PP\n)?(\\fB-.*?)(?:\[=false\])?\n\t(.*)$`)
)

// tidy sets the complete date of a page and turns options into tagged paragraphs.
func tidy(page []byte, date time.Time) []byte {
	page = manTitle.ReplaceAll(page, []byte(`$1 "`+date.Format(time.DateOnly)+`"`))
	return manOption.ReplaceAll(page, []byte(".TP\n$1\n$2"))
}

// asMarkdown turns the long text of a command into Markdown. Indented lines become code.
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

The configuration is one main file, arcrawl.toml, and a folder of host files, hosts.d. All are TOML in UTF-8. The file
hosts.d/www.news.example.toml applies to the host www.news.example, and hosts.d/news.example.toml to news.example and all hosts
below it. If both set a key, the longer name wins. A key that no host file sets has the value of the main file, or else its default.
Refinements, [[when]], override all of them for the visits to which they apply.

A duration is whole numbers with units, the larger unit first: "90s", "12h", "28d", "1h30m". The units are y, w, d, h, m, s and ms. A size
is a whole number with a unit: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB. Regular expressions use RE2 syntax; write them in single
quotes.

# KEYS
`

const configPageFoot = `
# FILES

**/etc/arcrawl/arcrawl.toml**
:   the main file of the system's daemon

**/etc/arcrawl/hosts.d**
:   its host files

# SEE ALSO

**arcrawl(1)**, **arcrawl-check(1)**, **arcrawl-init(1)**
`

// configPage returns the manual page of the configuration as Markdown.
func (m manual) configPage() string {
	var b strings.Builder
	fmt.Fprintf(&b, configPageHead, m.Date.Format("Jan 2006"), m.Version)
	keys := config.Keys()
	entry := func(k config.Key, name string) {
		where := map[string]string{"main": ", main file only", "host": ", host files only"}[k.Scope]
		fmt.Fprintf(&b, "\n**%s** (%s%s)\n", name, escapeMan(k.Type.String()), where)
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

// escapeMan escapes the characters that have a meaning in Markdown.
func escapeMan(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "`", "").Replace(s)
}

func (m manual) writeCompletions(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root := m.Root()
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
