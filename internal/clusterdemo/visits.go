package clusterdemo

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
)

// tally counts visits.
type tally struct {
	visits map[string]int       // by node
	last   map[string]time.Time // visit of each host
	all    int
	kills  int
}

// visit is a line of the crawl.log of a node.
type visit struct {
	node string
	crawllog.Entry
}

// printVisits prints the visits that were logged since the last call, in the order of their times.
func (p *play) printVisits() {
	var all []visit
	for _, n := range p.nodes {
		for _, e := range n.logged() {
			all = append(all, visit{n.name, e})
		}
	}
	slices.SortStableFunc(all, func(a, b visit) int { return a.Logged.Compare(b.Logged) })
	for _, v := range all {
		p.print(v)
	}
}

func (p *play) print(v visit) {
	u, err := url.Parse(v.URI)
	if err != nil || v.Schedule == nil {
		return // robots.txt, or a URI that was not visited
	}
	p.tally.all++
	p.tally.visits[v.node]++
	p.tally.last[u.Host] = v.Logged
	result, reason := "unknown", ""
	switch {
	case v.Status < 0:
		result = "failed"
	case slices.Contains(v.Annotations, crawllog.Unchanged):
		result = "unchanged"
	case v.Schedule.Visits == 1:
		result = "first"
	default:
		result = "CHANGED"
	}
	if v.Extra != nil {
		reason = v.Extra.WaitReason
	}
	clock := v.Logged.Local().Format(time.TimeOnly)
	line := p.Line(p.out, nodeColumn, clock, v.Status, u.Hostname()+u.Path, result, v.Schedule.Wait, reason)
	line, _ = strings.CutPrefix(line, clock)
	fmt.Fprintf(p.out, "%s  %s%s\n", clock, v.node, line)
}

// logged returns the lines that the crawl.log of a node got since the last call.
func (c *child) logged() (entries []crawllog.Entry) {
	f, err := os.Open(filepath.Join(c.dir, "crawl.log"))
	if err != nil {
		return nil // there is none yet
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(c.read, io.SeekStart); err != nil {
		return nil
	}
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return entries // the last line is not complete yet
		}
		c.read += int64(len(line))
		if e, err := crawllog.Parse(string(bytes.TrimSpace(line))); err == nil {
			entries = append(entries, e)
		}
	}
}
