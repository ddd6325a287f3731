package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/revision"
)

const (
	// lookEvery is the time between two looks for a revision.
	lookEvery = 2 * time.Second
	// askRevisionTime is the maximum duration of one exchange about revisions with the database.
	askRevisionTime = 20 * time.Second
	// answerTime is how long the live nodes may take to examine a revision, and to put it in force.
	answerTime = 60 * time.Second
)

// pushResult says how a push ended.
type pushResult struct {
	Revision int64    `json:"revision"`
	Nodes    []string `json:"nodes"`   // that have it in force; of a dry run, that accept it
	Away     []string `json:"away"`    // that do not answer; they take it before they crawl
	Lagging  []string `json:"lagging"` // that accepted it, and do not have it in force yet
}

// push puts the files of a configuration in force on all nodes, or on none if a live one refuses it or does not answer.
// A dry run only has them examined. wait waits for a time.
func push(
	ctx context.Context, c *config.Config, dryRun bool, wait func(time.Duration) error,
) (r pushResult, err error) {
	files, err := revision.SharedFiles(c)
	if err != nil {
		return r, err
	}
	db, err := shared.OpenRevisions(ctx, c.Cluster.Database, "")
	if err != nil {
		return r, err
	}
	defer db.Close()
	if r.Revision, err = db.Propose(ctx, files); err != nil {
		return r, err
	}
	live, err := r.examined(ctx, c, db, wait)
	if err != nil || dryRun {
		refuse, cancel := context.WithTimeout(context.WithoutCancel(ctx), askRevisionTime)
		defer cancel()
		r.Nodes = live
		return r, errors.Join(err, db.Decide(refuse, r.Revision, false))
	}
	if err := db.Decide(ctx, r.Revision, true); err != nil {
		return r, err
	}
	return r, r.awaitForce(ctx, db, live, wait)
}

// followRevisions examines revisions that are proposed and takes what is in force, until ctx ends.
func followRevisions(ctx context.Context, f *revision.Follower, log zerolog.Logger) {
	ill := false
	for wait := time.Duration(0); cli.Wait(ctx, wait) == nil; wait = lookEvery {
		ask, cancel := context.WithTimeout(ctx, askRevisionTime)
		err := f.Look(ask, time.Now())
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err != nil && !ill {
			log.Warn().Err(err).Msg("could not look for a new configuration of the cluster: keeping the one in force, and trying again")
		}
		ill = err != nil
	}
}

// examined waits until all live nodes accept a revision, and returns them. The error names those that do not.
func (r *pushResult) examined(
	ctx context.Context, c *config.Config, db *shared.Revisions, wait func(time.Duration) error,
) (live []string, err error) {
	state, err := shared.Look(ctx, c.Cluster.Database, func() error { return wait(lookTime) })
	if err != nil {
		return nil, err
	}
	for _, n := range state.Nodes {
		if n.Alive && !n.Fenced {
			live = append(live, n.Name)
		} else {
			r.Away = append(r.Away, n.Name)
		}
	}
	if len(live) == 0 {
		return nil, errors.New("no node runs that could examine the configuration: start one first")
	}
	for waited := time.Duration(0); ; waited += lookEvery / 2 {
		answers, err := db.Answers(ctx, r.Revision)
		if err != nil {
			return nil, err
		}
		silent := slices.Clone(live)
		var faults []string
		for _, a := range answers {
			silent = slices.DeleteFunc(silent, func(name string) bool { return name == a.Node })
			if a.Faults != "" {
				text := strings.ReplaceAll(a.Faults, "\n", "\n  ")
				faults = append(faults, fmt.Sprintf("node %s refuses it:\n  %s", a.Node, text))
			}
		}
		switch {
		case len(faults) > 0:
			return nil, fmt.Errorf("the configuration is in force nowhere: %s", strings.Join(faults, "\n"))
		case len(silent) == 0:
			return live, nil
		case waited >= answerTime:
			return nil, fmt.Errorf("the configuration is in force nowhere: it was not examined within %s by %s; all nodes need this "+
				"version of arcrawl", answerTime, strings.Join(silent, ", "))
		}
		if err := wait(lookEvery / 2); err != nil {
			return nil, err
		}
	}
}

// awaitForce waits until live nodes have a revision in force.
func (r *pushResult) awaitForce(
	ctx context.Context, db *shared.Revisions, live []string, wait func(time.Duration) error,
) error {
	for waited := time.Duration(0); ; waited += lookEvery / 2 {
		all, err := db.Followers(ctx)
		if err != nil {
			return err
		}
		r.Nodes, r.Lagging = nil, nil
		var why []string
		for _, name := range live {
			if all[name].Revision >= r.Revision {
				r.Nodes = append(r.Nodes, name)
				continue
			}
			r.Lagging = append(r.Lagging, name)
			why = append(why, strings.TrimSuffix("node "+name+": "+all[name].Trouble, ": "))
		}
		switch {
		case len(r.Lagging) == 0:
			return nil
		case waited >= answerTime:
			return fmt.Errorf("revision %d is in force, but nodes lag behind and try again: %s", r.Revision, strings.Join(why, "; "))
		}
		if err := wait(lookEvery / 2); err != nil {
			return err
		}
	}
}
