package clusterdemo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Bounds of the number of nodes.
const (
	minNodes = 2
	maxNodes = 9
)

const (
	sitesPerNode = 4
	patience     = 3 * time.Minute        // for what a node or the database has to do
	watched      = 12 * time.Second       // before a node is killed, and before it is started again
	look         = 250 * time.Millisecond // between two looks at the logs of the nodes
)

// play is a demo that runs.
type play struct {
	Demo
	out    io.Writer
	dir    string   // of everything; absolute
	binary string   // of this program
	names  []string // of the nodes

	sites    *sites
	server   *server
	nodes    []*child
	database string   // address with the password
	owned    []string // by which node, each part of the hosts
	looked   time.Time
	ended    chan *child // nodes that have ended
	tally    tally
}

// nodeColumn is the width of what precedes a line: the name of the node.
const nodeColumn = 3

// run shows the cluster until ctx ends, which is no error. bin has the programs of PostgreSQL.
func (p *play) run(ctx context.Context, bin, version string) (err error) {
	if _, err := os.Stat(filepath.Join(p.dir, "a")); err == nil {
		return daemon.FolderError{Err: fmt.Errorf("%s has a cluster of the demo already: name a new folder with --dir",
			p.dir)}
	}
	p.ended = make(chan *child, len(p.names))
	p.tally = tally{visits: map[string]int{}, last: map[string]time.Time{}}
	p.sites, err = openSites(sitesPerNode*len(p.names), p.partOf)
	if err != nil {
		return err
	}
	defer p.sites.close()
	fmt.Fprintf(p.out, "Showing a cluster of %d nodes in %s. Press Ctrl-C to stop.\n", len(p.names), p.dir)
	fmt.Fprintf(p.out, "Database:  PostgreSQL %s, started for the demo\n", version)
	p.server, err = startServer(ctx, bin, p.dir, p.owners)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.server.stop()) }()
	p.database = p.server.url(p.server.password)
	began := time.Now()
	defer p.killAll() // also after a panic
	err = p.perform(ctx)
	interrupted := ctx.Err() != nil
	if interrupted {
		err = nil
	}
	fmt.Fprintln(p.out, "\nStopping the nodes and the database …")
	err = errors.Join(err, p.stopAll())
	p.printVisits()
	if err == nil {
		p.sumUp(time.Since(began))
	}
	return err
}

// perform starts the nodes, and kills one again and again, until ctx ends.
func (p *play) perform(ctx context.Context) error {
	if err := p.prepare(); err != nil {
		return err
	}
	for _, n := range p.nodes {
		if err := n.start(p.ended); err != nil {
			return err
		}
	}
	if err := p.until(ctx, "each node crawls some hosts", p.isBalanced); err != nil {
		return err
	}
	p.say("each node crawls its part: %s", p.parts())
	for turn := 0; ; turn++ {
		victim := p.nodes[len(p.nodes)-1-turn%(len(p.nodes)-1)] // never the first, which serves the dashboard
		if err := p.hurt(ctx, victim); err != nil {
			return err
		}
	}
}

// prepare writes the configurations of the nodes.
func (p *play) prepare() error {
	var first *config.Config
	for i, name := range p.names {
		n, c, err := p.newNode(name, i == 0)
		if err != nil {
			return err
		}
		if p.nodes = append(p.nodes, n); i == 0 {
			first = c
		}
	}
	token, err := p.Token(first)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "Dashboard: http://%s/?token=%s (of all nodes)\n", first.Admin.Listen, token)
	fmt.Fprintf(p.out, "Terminal:  PGPASSFILE=%s arcrawl status --cluster -c %s\n", p.server.passFile, first.Path)
	fmt.Fprintf(p.out, "Log:       arcrawl report visits --follow -c %s\n\n", first.Path)
	fmt.Fprintf(p.out, "The nodes share the hosts of %d news sites. Each line is a visit: time, node, HTTP status, URI, result,\n"+
		"next visit, and the reason for it.\n\n", len(p.sites.list))
	return nil
}

// hurt kills a node, watches what the others do, and starts it again.
func (p *play) hurt(ctx context.Context, victim *child) error {
	if err := p.watch(ctx, watched); err != nil {
		return err
	}
	hosts := p.hostsOf(victim.name)
	killed := time.Now()
	if err := victim.kill(); err != nil {
		return err
	}
	p.tally.kills++
	p.say("node %s is killed (kill -9). Nobody crawls its %s now", victim.name, human.Count(len(hosts), "site"))
	p.say("the other nodes wait for 20 s, because %s could only be slow", victim.name)
	err := p.until(ctx, "the hosts of node "+victim.name+" are taken over", func() bool {
		return !slices.Contains(p.owned, victim.name)
	})
	if err != nil {
		return err
	}
	p.say("the other nodes have taken them over, %s after the kill", seconds(time.Since(killed)))
	err = p.until(ctx, "the hosts of node "+victim.name+" are visited again", func() bool {
		return !slices.ContainsFunc(hosts, func(h string) bool { return !p.tally.last[h].After(killed) })
	})
	if err != nil {
		return err
	}
	p.say("%s of node %s are visited again, %s after the kill", human.Count(len(hosts), "site"), victim.name,
		seconds(time.Since(killed)))
	if err := p.watch(ctx, watched); err != nil {
		return err
	}
	p.say("node %s is started again. The others hand its part of the hosts over when none has moved for 10 s", victim.name)
	if err := victim.start(p.ended); err != nil {
		return err
	}
	if err := p.until(ctx, "node "+victim.name+" has its part again", p.isBalanced); err != nil {
		return err
	}
	p.say("node %s crawls again: %s", victim.name, p.parts())
	return nil
}

// watch prints visits for some time.
func (p *play) watch(ctx context.Context, d time.Duration) error {
	end := time.Now().Add(d)
	for time.Now().Before(end) {
		if err := p.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// until prints visits until something is done.
func (p *play) until(ctx context.Context, what string, done func() bool) error {
	end := time.Now().Add(patience)
	for !done() {
		if time.Now().After(end) {
			return fmt.Errorf("wait until %s: it takes longer than %s; the files named journal in %s say why",
				what, patience, p.dir)
		}
		if err := p.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// step waits a moment, and then prints what was visited meanwhile.
func (p *play) step(ctx context.Context) error {
	wait := time.NewTimer(look)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case n := <-p.ended:
		if err := p.explain(n); err != nil {
			return err
		}
	case <-p.server.gone:
		return p.server.died()
	case <-wait.C:
	}
	p.printVisits()
	if time.Since(p.looked) < time.Second {
		return nil
	}
	p.looked = time.Now()
	owned, err := p.owners(ctx, p.database)
	if err != nil {
		return p.cause(ctx, err)
	}
	p.owned = owned
	return nil
}

// cause returns why the database did not answer: perhaps it has just ended, and its process is not gone yet.
func (p *play) cause(ctx context.Context, err error) error {
	select {
	case <-p.server.gone:
		return p.server.died()
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(3 * time.Second):
		return err
	}
}

// explain says why a node has ended. One that lost its hosts, as after a machine was asleep, is started again.
func (p *play) explain(n *child) error {
	if n.stopped || n.runs() { // another process may have taken its place
		return nil
	}
	if n.exitCode() == lostHosts {
		p.say("node %s has lost its hosts, ended and is started again, as systemd would do it", n.name)
		return n.start(p.ended)
	}
	return fmt.Errorf("node %s has ended by itself (%s); its last words:\n%s", n.name, n.state(), n.lastWords())
}

// isBalanced reports whether each node owns its part of the crawl.
func (p *play) isBalanced() bool {
	owned := map[string]int{}
	for _, owner := range p.owned {
		owned[owner]++
	}
	for _, n := range p.nodes {
		if owned[n.name] < len(p.owned)/(len(p.nodes)+1) {
			return false
		}
	}
	return len(p.owned) > 0
}

// hostsOf returns the hosts that a node crawls.
func (p *play) hostsOf(node string) (hosts []string) {
	for _, s := range p.sites.list {
		if p.owned[s.part] == node {
			hosts = append(hosts, s.host)
		}
	}
	return hosts
}

// parts says which node crawls how many sites.
func (p *play) parts() string {
	var all []string
	for _, n := range p.nodes {
		all = append(all, n.name+" crawls "+human.Count(len(p.hostsOf(n.name)), "site"))
	}
	return strings.Join(all, ", ")
}

// say prints what happens to the cluster, after the visits that were made before.
func (p *play) say(format string, args ...any) {
	p.printVisits()
	fmt.Fprintf(p.out, "%s  → "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}

// seconds returns a duration in whole seconds.
func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// sumUp prints what the demo has shown.
func (p *play) sumUp(took time.Duration) {
	var by []string
	for _, n := range p.nodes {
		by = append(by, fmt.Sprintf("%d by %s", p.tally.visits[n.name], n.name))
	}
	changes, shortest := p.sites.changes()
	fmt.Fprintf(p.out, "\n%s in %s: %s\n", human.Count(p.tally.all, "visit"), took.Round(time.Second),
		strings.Join(by, ", "))
	fmt.Fprintf(p.out, "  nodes were killed %s\n", times(p.tally.kills))
	fmt.Fprintf(p.out, "  sites went to another node %s\n", times(changes))
	if changes > 0 {
		fmt.Fprintf(p.out, "  no site was asked by two nodes within %.1f s; a site must rest for %.0f s\n",
			shortest.Seconds(), rest.Seconds())
	}
	var archives []string
	for _, n := range p.nodes {
		archives = append(archives, filepath.Join(n.dir, "warc"))
	}
	fmt.Fprintf(p.out, "the archives  %s\n", strings.Join(archives, " "))
	fmt.Fprintln(p.out, "              (arcrawl verify examines them together)")
	fmt.Fprintf(p.out, "the logs      %s\n", filepath.Join(p.dir, "*", "crawl.log"))
	fmt.Fprintf(p.out, "the journals  %s\n", filepath.Join(p.dir, "*", "journal"))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
