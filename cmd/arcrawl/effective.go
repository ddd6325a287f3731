package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/uri"
)

// effectiveFlags describe the visit whose settings are shown.
type effectiveFlags struct {
	config, at, mime, hops string
	json, set, permissions bool
}

func newEffective() *cobra.Command {
	var f effectiveFlags
	cmd := &cobra.Command{
		Use:   "effective HOST [URI]|--permissions",
		Short: "Show the settings of a host or URI, with the file and line of each",
		Long: `effective prints each setting in force for a host or URI, with the file and line that set it, or "default". First it lists
the refinements that could apply, and whether they do. Criteria other than the time need a URI; --mime and --hops give the rest.

With --permissions it lists each host, and each part of a host, with robots.obey = false or "html-only": the reason, until when, and the
file and line. Visits that needed the permission have "permission:" in crawl.log, and robotsPermission in their metadata record.

It reads the files as they are now and needs no daemon. A daemon that refused them still uses the last good ones.`,
		Example: `  arcrawl effective www.news.example
  arcrawl effective www.news.example https://www.news.example/live/ --at 2026-12-01T06:30:00Z --mime text/html
  arcrawl effective www.news.example --set
  arcrawl effective --permissions`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.permissions == (len(args) > 0):
				return cli.Usage(errors.New("name a host, or use --permissions"))
			case f.permissions:
				return f.showPermissions(cmd)
			}
			h, about, err := f.about(args)
			if err != nil {
				return cli.Usage(err)
			}
			c, err := cli.ReadConfig(cmd.ErrOrStderr(), f.config)
			if err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), whatif.SettingsOf(c, h, about, f.set))
		},
	}
	cli.ConfigFlag(cmd, &f.config)
	cmd.Flags().StringVar(&f.at, "at", "", "use this time of the visit, for example 2026-12-01T06:30:00Z (default: now)")
	cmd.Flags().StringVar(&f.mime, "mime", "", "use this content type of the last capture")
	cmd.Flags().StringVar(&f.hops, "hops", "", "use this hop path, as in crawl.log, for example LLE (default: a seed)")
	cmd.Flags().BoolVar(&f.set, "set", false, "show only settings that a file sets")
	cmd.Flags().BoolVar(&f.permissions, "permissions", false, "list the hosts whose robots.txt is not obeyed, and why")
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

// about parses the arguments and flags into a host and a visit.
func (f *effectiveFlags) about(args []string) (uri.Host, config.About, error) {
	a := config.About{ContentType: f.mime, Hops: uri.HopPath(f.hops), Now: time.Now()}
	if f.at != "" {
		at, err := time.Parse(time.RFC3339, f.at)
		if err != nil {
			return "", a, fmt.Errorf("--at %q is not a time with offset; write for example 2026-12-01T06:30:00Z", f.at)
		}
		a.Now = at
	}
	host := args[0]
	if strings.Contains(host, "://") {
		if len(args) == 2 {
			return "", a, errors.New("want a host and at most one URI")
		}
		args = append(args, host)
	} else {
		host = "http://" + host + "/"
	}
	u, err := uri.Parse(host)
	if err != nil {
		return "", a, fmt.Errorf("%q: %w; write a host such as www.news.example or www.news.example:8080", args[0], err)
	}
	h := u.Host()
	if len(args) == 1 {
		return h, a, nil
	}
	if a.URI, err = uri.Parse(args[1]); err != nil {
		return "", a, fmt.Errorf("%q: %w; write a complete URI", args[1], err)
	}
	if a.URI.Host() != h {
		return "", a, fmt.Errorf("%s is not on the host %s", a.URI, h)
	}
	return h, a, nil
}

func (f *effectiveFlags) print(out io.Writer, e whatif.Settings) error {
	if f.json {
		return cli.WriteJSON(out, e)
	}
	what := string(e.Host)
	if e.URI != "" {
		what = e.URI
	}
	fmt.Fprintf(out, "settings of %s at %s\n", what, e.At.Format(time.RFC3339))
	if err := printSite(out, e.About); err != nil {
		return err
	}
	fmt.Fprintln(out)
	table := cli.NewTable(out)
	dir := filepath.Dir(f.config) + string(filepath.Separator)
	for _, r := range e.Refinements {
		holds := "does not apply"
		if r.Holds {
			holds = "applies"
		}
		fmt.Fprintf(table, "[[when]] %s\t%s\t%s:%d\n", r.Criteria, holds, strings.TrimPrefix(r.File, dir), r.Line)
	}
	if len(e.Refinements) > 0 {
		fmt.Fprintln(table)
	}
	for _, s := range e.Settings {
		fmt.Fprintf(table, "%s\t= %s\t%s\n", s.Key, s.Value, strings.TrimPrefix(s.Origin(), dir))
	}
	return table.Flush()
}
