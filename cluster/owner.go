package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Dialer returns a dialer whose connections can be used only while this node may visit sites.
func (n *thisNode) Dialer(dial fetch.Dialer) fetch.Dialer { return n.lease.dialer(dial) }

// Void returns why a visit that began at a time teaches nothing; nil if the node had its lease all the time.
func (n *thisNode) Void(began time.Time) error { return n.lease.voids(began) }

// MayClaim returns why nothing may be claimed now; nil if it may.
func (n *thisNode) MayClaim() error {
	if err := n.lease.err(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.behind.IsZero() && time.Since(n.behind) > maxBehind {
		return fmt.Errorf("the database of the cluster has not taken the last %s of the crawl; "+
			"the crawl resumes when it does", time.Since(n.behind).Round(time.Second))
	}
	return nil
}

// Accept returns why a new configuration must not be put in force.
func (n *thisNode) Accept(next *config.Config) error {
	if err := n.acceptGroups(next); err != nil {
		return err
	}
	return n.pushed.Accept(next)
}

// Elsewhere returns which hosts other nodes crawl, and takes URIs for them.
func (n *thisNode) Elsewhere() frontier.Elsewhere { return n.box }

// crowd holds what a daemon knows of hosts besides the store.
type crowd interface {
	AddSeeds() error                    // of hosts that are here
	Wake()                              // looks for what is due
	FlushHosts() error                  // writes what is only in memory to the store
	ForgetHosts(is func(uri.Host) bool) // drops what is in memory
}

// Started lets the daemon read the configuration that the cluster puts in force, and takes parts of the crawl.
func (n *thisNode) Started(d *daemon.Daemon) (stopped func()) {
	left, stop := n.pushed.Crawl(n.acceptGroups, d.Reload), n.begin(d)
	return func() { left(); stop() }
}

// begin takes and releases parts of the crawl until stop is called.
func (n *thisNode) begin(c crowd) (stop func()) {
	n.crowd = c
	stops := []func(){
		inBackground(n.Run), inBackground(n.receiveParts), inBackground(n.releaseParts), inBackground(n.dropParts),
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// Lose lets all nodes know what an operator says of WARC files.
func (n *thisNode) Lose(files []string, are string) error {
	ask, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	return n.shared.Lose(ask, files, are)
}

// watchEvery is how often a node reports its state to the database.
const watchEvery = 15 * time.Second

// Watch reports the state of the node to the database, and takes over what operators say of WARC files on other nodes.
func (n *thisNode) Watch(ctx context.Context, d *daemon.Daemon) {
	n.mu.Lock()
	n.fault = d.Fault
	n.mu.Unlock()
	var words losses
	for wait := time.Duration(0); cli.Wait(ctx, wait) == nil; wait = watchEvery {
		n.report(ctx, d)
		words.take(ctx, n, d)
	}
}

// report reports the state of the node.
func (n *thisNode) report(ctx context.Context, d *daemon.Daemon) {
	text, err := reportState(d.Window().Status())
	if err == nil {
		ask, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		err = n.shared.Tell(ask, text)
	}
	if err != nil && ctx.Err() == nil {
		n.o.Log.Debug().Err(err).Msg("could not report the state of this node to the cluster; the next report follows in 15 s")
	}
}

// losses follows what operators say of WARC files on other nodes.
type losses struct {
	taken int64 // up to this number
}

// take takes over what was said since the last time.
func (l *losses) take(ctx context.Context, n *thisNode, d *daemon.Daemon) {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	all, err := n.shared.Losses(ask, l.taken)
	if err != nil && ctx.Err() == nil {
		n.o.Log.Debug().Err(err).Msg("could not ask the cluster for lost WARC files; asking again in 15 s")
	}
	changed := 0
	for _, loss := range all {
		some, refused := d.Declare([]string{loss.File}, loss.Is)
		if refused != nil {
			n.o.Log.Error().Err(refused).Str("file", loss.File).
				Msg("could not note what another node knows of a WARC file: say it again on this node")
		}
		changed, l.taken = changed+some, loss.Order
	}
	if changed > 0 {
		n.o.Log.Warn().Int("files", changed).Msg("WARC files are lost, moved or found, says an operator of another node")
	}
}

// examine finds out whether this node can crawl, and lets the others know with the next beat.
func (n *thisNode) examine(now time.Time) {
	n.mu.Lock()
	faults := []faultOf{n.fault, n.full}
	n.mu.Unlock()
	why, since := "", now
	for _, fault := range faults {
		if fault == nil {
			continue
		}
		if text, from := fault(); text != "" && from.Before(since) {
			why, since = text, from
		}
	}
	switch changed := n.fit.look(now, len(n.parts.mine(time.Time{})), why, since); {
	case !changed:
	case n.fit.isUnfit():
		n.shared.Unfit(why)
		n.o.Log.Error().Str("why", why).Time("until", n.fit.until).
			Msg("this node could not crawl for 5 minutes: other nodes take its hosts, and it tries again later")
	default:
		n.shared.Unfit("")
		n.o.Log.Info().Msg("this node takes hosts again")
	}
}

// errOthersFirst says that two nodes began a crawl at once, each with a store.
var errOthersFirst = errors.New("another node has begun to ship its store to the database, and this one has a store too: " +
	"there can be only one; start this node with an empty storage.state")
