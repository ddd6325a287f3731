package main

import (
	"context"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
)

const (
	planPatience = 20 * time.Second // how long check waits for the plan of the running daemon
	namedSeeds   = 20               // that check names if more vanish
)

// vanishedSeeds returns warnings for seeds that are in force and that a configuration does not list any more. The
// running daemon knows them; without one, the copies of the last good host files have them.
func vanishedSeeds(ctx context.Context, c *config.Config) (warnings []config.Fault) {
	vanished, answered := runningVanished(ctx, c)
	if !answered {
		vanished = daemon.VanishedSeeds(c)
	}
	for i, seed := range vanished {
		w := config.Fault{
			File: c.Path, Key: "seeds", Problem: "is in force but not listed any more",
			Remedy: "what only it brings into scope will not be visited; due times are kept", Value: seed,
		}
		if i == namedSeeds {
			w.Value = fmt.Sprintf("%d more", len(vanished)-i)
			return append(warnings, w)
		}
		warnings = append(warnings, w)
	}
	return warnings
}

// runningVanished asks the running daemon. It reports false if none answers.
func runningVanished(ctx context.Context, c *config.Config) (vanished []string, answered bool) {
	if c.Admin.Socket == "" {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, planPatience)
	defer cancel()
	client := api.NewClient(c.Admin.Socket)
	defer client.Close()
	inForce, err := client.Config(ctx)
	if err != nil {
		return nil, false
	}
	if inForce.Digest == c.Digest {
		return nil, true
	}
	staged, err := stagedTexts(c.Path, nil)
	if err != nil {
		return nil, true
	}
	r, err := client.Plan(ctx, staged)
	if err != nil {
		return nil, true
	}
	return r.Plan.SeedsRemoved, true
}
