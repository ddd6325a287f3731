package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/human"
)

// printSite prints what curators wrote about a host.
func printSite(out io.Writer, s config.Site) error {
	table := cli.NewTable(out)
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
