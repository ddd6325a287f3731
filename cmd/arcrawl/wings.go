package main

import (
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive"
	"github.com/arcrawl/arcrawl/cluster"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/curator"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/fleet"
	"github.com/arcrawl/arcrawl/internal/clusterdemo"
	"github.com/arcrawl/arcrawl/lab"
	"github.com/arcrawl/arcrawl/messages"
	"github.com/arcrawl/arcrawl/noise"
	"github.com/arcrawl/arcrawl/render"
	"github.com/arcrawl/arcrawl/reports"
)

// wing is a part of the program that plugs into the core from outside. A function that is nil plugs in nothing.
type wing struct {
	daemon   func() daemon.Wing        // what it adds to a running crawl
	commands func() []*cobra.Command   // what it adds to the command line
	extend   func(root *cobra.Command) // adds flags to commands of others
	// check returns warnings about a configuration that only the wing can give.
	check func(c *config.Config) []config.Fault
	// nodes returns the states of all nodes of the cluster whose main file is at path.
	nodes func(cmd *cobra.Command, path string) (api.Fleet, error)
	// status writes what it added to the state of a crawl.
	status func(out io.Writer, s api.Status)
	// player reports whether a folder has an engine that shows archived versions as pages.
	player func(folder string) bool
	// browser starts a browser that shows what a page would request.
	browser func(c *config.Config) (b whatif.Browser, end func(), err error)
}

// wings returns what is linked into the program in addition to the core. To remove a wing, delete its folder and its
// lines in this file.
func wings() []wing {
	return []wing{
		{daemon: curator.WithBrowser(openBrowser), player: curator.HasEngine, commands: func() []*cobra.Command {
			return curator.Commands(now)
		}},
		{daemon: noise.Wing, commands: noise.Commands, check: noise.Check},
		{daemon: render.Wing, check: render.Check, browser: render.OpenTrial},
		{daemon: reports.Wing, commands: reports.Commands},
		{daemon: archive.Wing, commands: archive.Commands},
		{commands: lab.Commands},
		{daemon: messages.Wing},
		{daemon: cluster.Wing, commands: cluster.Commands, nodes: cluster.Fleet, extend: func(root *cobra.Command) {
			cluster.Extend(root)
			demoOfCluster.Extend(root, cluster.Owners, cluster.PartOf)
		}},
		{daemon: fleet.Wing, status: fleet.ShowNodes, extend: func(root *cobra.Command) { fleet.Extend(root, nodesOf()) }},
	}
}

// demoOfCluster shows a cluster. The wing that it needs may be deleted.
var demoOfCluster = clusterdemo.Demo{Folder: demoFolder, Token: demoToken, Line: demoLine}

// nodesOf returns what finds out the states of the nodes of a cluster; nil if no wing does.
func nodesOf() func(cmd *cobra.Command, path string) (api.Fleet, error) {
	for _, w := range wings() {
		if w.nodes != nil {
			return w.nodes
		}
	}
	return nil
}

// daemonWings returns what the wings add to a running crawl.
func daemonWings() []func() daemon.Wing {
	var added []func() daemon.Wing
	for _, w := range wings() {
		if w.daemon != nil {
			added = append(added, w.daemon)
		}
	}
	return added
}

// checkWings returns the warnings of the wings about a configuration.
func checkWings(c *config.Config) (warnings []config.Fault) {
	for _, w := range wings() {
		if w.check != nil {
			warnings = append(warnings, w.check(c)...)
		}
	}
	return warnings
}

// showWings writes what wings added to the state of a crawl.
func showWings(out io.Writer, s api.Status) {
	for _, w := range wings() {
		if w.status != nil {
			w.status(out, s)
		}
	}
}

// openBrowser starts a browser that shows what a page would request. The caller calls end when it is done.
func openBrowser(c *config.Config) (b whatif.Browser, end func(), err error) {
	for _, w := range wings() {
		if w.browser != nil {
			return w.browser(c)
		}
	}
	return nil, nil, errors.New("this program was built without the part that renders pages")
}

// hasPlayer reports whether a folder has an engine with which the program shows archived versions as pages.
func hasPlayer(folder string) bool {
	return slices.ContainsFunc(wings(), func(w wing) bool { return w.player != nil && w.player(folder) })
}
