package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

func newHost() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "host",
		Short: "Tend the files of single hosts",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newHostAdd())
	return cmd
}

func newHostAdd() *cobra.Command {
	var path, dir string
	cmd := &cobra.Command{
		Use:   "add URI…",
		Short: "Write a host file with these seeds",
		Long: `add writes the file of a host into the folder of host files: the URIs as seeds, and below them the settings that are most
often wanted for a single host, as comments. URIs of several hosts give a file for each. A file that is there already is left
as it is. Afterwards the configuration is checked, as by arcrawl check; a running daemon takes it by itself.`,
		Example: "  arcrawl host add --config /etc/arcrawl/arcrawl.toml https://www.news.example/ https://www.news.example/sport/",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			hosts, seeds, err := byHost(args)
			if err != nil {
				return usageError{err}
			}
			if _, err := os.Stat(path); err != nil {
				return folderError{fmt.Errorf("there is no main file: %w; name it with --config, or write one with arcrawl init", err)}
			}
			if dir == "" {
				dir = filepath.Join(filepath.Dir(path), "hosts.d")
			}
			var files []string
			for _, h := range hosts {
				file := filepath.Join(dir, fileName(h)+".toml")
				if err := create(file, hostFile(h, seeds[h])); err != nil {
					return err
				}
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), "wrote", file); err != nil {
					return err
				}
				files = append(files, file)
			}
			return taken(path, files)
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	cmd.Flags().StringVar(&dir, "dir", "", "the folder of host files, as storage.hosts names it (default: hosts.d beside the main file)")
	return cmd
}

// byHost sorts URIs by their hosts, which come in the order of their first URI.
func byHost(args []string) (hosts []uri.Host, seeds map[uri.Host][]string, err error) {
	seeds = make(map[uri.Host][]string)
	for _, arg := range args {
		u, err := uri.Parse(arg)
		if err == nil && !strings.Contains(arg, "://") {
			err = errors.New("want a whole URI")
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%q: %w; write it as in https://www.news.example/", arg, err)
		}
		h := u.Host()
		if _, known := seeds[h]; !known {
			hosts = append(hosts, h)
		}
		if !slices.Contains(seeds[h], u.String()) {
			seeds[h] = append(seeds[h], u.String())
		}
	}
	return hosts, seeds, nil
}

// taken looks whether the configuration has taken new host files.
func taken(path string, files []string) error {
	c, err := config.Load(path)
	if err != nil {
		return fmt.Errorf("the configuration has still to be mended:\n%w", err)
	}
	for _, file := range files {
		ours := func(name string) bool { return filepath.Base(name) == filepath.Base(file) }
		// A seed that was listed already stands in a warning.
		if !slices.ContainsFunc(c.Seeds, func(s config.Seed) bool { return ours(s.File) }) &&
			!slices.ContainsFunc(c.Warnings, func(w config.Fault) bool { return ours(w.File) }) {
			return folderError{fmt.Errorf("%s is not read: %s names another folder in storage.hosts; move it there, and next time name the folder with --dir", file, path)}
		}
	}
	return nil
}

// plainName is a host that can be the name of a file.
var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// fileName is how the file of a host is called, without .toml.
func fileName(h uri.Host) string {
	return strings.Map(func(r rune) rune {
		if plainName.MatchString("x" + string(r)) {
			return r
		}
		return '_'
	}, strings.Trim(string(h), "[]"))
}

// hostKeys are the keys that are most often set for a single host.
var hostKeys = []string{
	"politeness.min_delay", "politeness.max_delay", "politeness.crawl_delay_up_to",
	"wait.mime", "wait.initial", "wait.min", "wait.max",
	"change.mode", "change.scrub", "change.scrub_css",
	"midfetch.decide_by",
	"fetch.body_timeout", "fetch.max_body",
	"scope.by", "scope.prefixes", "scope.max_hops", "scope.embeds_anywhere",
	"seeds.uris",
	"when.uri", "when.time", "when.weekdays", "when.zone", "when.until",
}

// hostFile is the text of a host file.
func hostFile(h uri.Host, seeds []string) string {
	list := "["
	for i, s := range seeds {
		if i > 0 {
			list += ", "
		}
		list += quoteTOML(s)
	}
	t := newTemplate("host", map[string]string{"seeds.uris": list + "]"})
	t.only = func(name string) bool { return slices.Contains(hostKeys, name) }
	t.hint["wait.mime"] = `'^text/html.*'`
	t.hint["change.scrub_css"] = `["span.clock"]`
	t.hint["scope.prefixes"] = `[` + quoteTOML(seeds[0]) + `]`
	t.comment(fmt.Sprintf("The settings of %s, over those of the main file. A line such as #key = value is only a comment; it shows the default "+
		"or an example: take the # away and write what you want. Further keys: arcrawl schema host.", h))
	if !plainName.MatchString(string(h)) {
		fmt.Fprintf(t.out, "host = %s\n", quoteTOML(string(h)))
	}
	tables := config.Tables()
	slices.SortStableFunc(tables, func(a, b config.Table) int { // the seeds come first
		return boolInt(b.Name == "seeds") - boolInt(a.Name == "seeds")
	})
	for _, table := range tables {
		t.table(table)
	}
	return t.out.String()
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
