package main

import (
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/lab"
	"github.com/arcrawl/arcrawl/render/rendering"
)

// wing is a part of the program that plugs into the core from outside. A function that is nil plugs in nothing.
type wing struct {
	daemon   func() daemon.Wing      // what it adds to a running crawl
	commands func() []*cobra.Command // what it adds to the command line
}

// wings returns what is linked into the program in addition to the core. To remove a wing, delete its folder and its
// lines in this file.
func wings() []wing {
	return []wing{
		{daemon: rendering.Wing},
		{commands: lab.Commands},
	}
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
