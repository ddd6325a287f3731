package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/about"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// siteFlags adds the flags that choose hosts by what curators wrote about them.
func siteFlags(cmd *cobra.Command, f *about.Filter) {
	cmd.Flags().StringVar(&f.Label, "label", "", "choose hosts with this label")
	cmd.Flags().StringVar(&f.Collection, "collection", "", "choose hosts of this collection")
	cmd.Flags().StringVar(&f.Owner, "owner", "", "choose hosts of this owner")
}

// chosenHosts returns the hosts that a filter selects, as patterns. An unknown label, collection or owner is an error.
func chosenHosts(errs io.Writer, path string, f about.Filter) ([]string, error) {
	c, err := readConfig(errs, path)
	if err != nil {
		return nil, err
	}
	patterns, err := c.Sites().Choose(f)
	if err != nil {
		return nil, usageError{err}
	}
	return patterns, nil
}

// archiveHosts returns the hosts that a filter selects, as commands about archives name them.
func archiveHosts(errs io.Writer, path string, f about.Filter) ([]string, error) {
	patterns, err := chosenHosts(errs, path, f)
	for i, p := range patterns {
		patterns[i] = strings.TrimPrefix(p, "*")
	}
	return patterns, err
}

// chooses returns a function that reports whether a filter selects a host; nil if it selects all.
func chooses(c *config.Config, f about.Filter) func(uri.Host) bool {
	if f.IsZero() {
		return nil
	}
	return func(h uri.Host) bool { return f.Matches(c.Site(h)) }
}

// printSite prints what curators wrote about a host.
func printSite(out io.Writer, s about.Site) error {
	table := newTable(out)
	for _, line := range []struct{ what, text string }{
		{"title", s.Title},
		{"labels", strings.Join(s.Labels, ", ")},
		{"collections", strings.Join(s.Collections, ", ")},
		{"owner", strings.Join(s.Owners, ", ")},
		{"note", strings.Join(strings.Fields(s.Note), " ")},
	} {
		if line.text != "" {
			fmt.Fprintf(table, "%s\t%s\n", line.what, line.text)
		}
	}
	return table.Flush()
}

// showSites prints the state of the hosts that a filter selects.
func showSites(out io.Writer, s api.SitesStatus) error {
	fmt.Fprintln(out, "the crawl is "+standLine(s.Condition, s.Now))
	showOpenAlarms(out, s.Alarms)
	showHostCounts(out, api.Status{Hosts: s.Hosts, Down: s.Down, URIs: s.URIs}, oldestText(s.URIs))
	fmt.Fprintf(out, "today     %s, %s (UTC)\n",
		human.Count(s.Today.Requests, "request"), human.Count(s.Today.Seen, "version"))
	_, err := fmt.Fprintf(out, "visiting  %d\n", s.Busy)
	showVisits(out, s.Visits)
	return err
}
