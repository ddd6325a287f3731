package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
)

// askFrom asks one node about all hosts, of which other nodes crawl some, and orders something for all.
func (f *processes) askFrom(node string) {
	f.Helper()
	var missing string
	c := api.NewClient(f.socket(node)).Missing(func(what string) { missing = what })
	defer c.Close()
	ctx := f.Context()
	f.running[node].WaitFor(f.T, "an answer for all hosts", func() bool { // nodes know each other after two beats
		missing = ""
		list, err := c.Hosts(ctx, api.HostFilter{})
		return err == nil && missing == "" && list.Total == len(f.site.hosts) && len(list.Hosts) == list.Total
	})
	for _, host := range f.site.hosts {
		if h, err := c.Host(ctx, host); err != nil || h.Host != host {
			f.Errorf("node %s about %s: %+v, %v", node, host, h, err)
		}
		if why, err := c.Why(ctx, "http://"+host+"/0"); err != nil || why.URI.URI != "http://"+host+"/0" {
			f.Errorf("node %s about a URI of %s: %+v, %v", node, host, why, err)
		}
	}
	known := map[string]int{}
	for from, more := frontier.Cursor(""), true; more; {
		list, next, err := c.List(ctx, frontier.Selection{}, from, 100)
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range list {
			known[e.Record.URI.String()]++
		}
		from, more = next, next != ""
	}
	for _, host := range f.site.hosts {
		if n := known["http://"+host+"/0"]; n != 1 {
			f.Errorf("node %s lists a URI of %s %d times", node, host, n)
		}
	}
	if missing != "" {
		f.Errorf("missing in complete answers: %s", missing)
	}
	rest := frontier.HostAction{Verb: frontier.Rest, Until: time.Now().Add(time.Second)}
	if matched, _, err := c.SteerHosts(ctx, "*", rest); err != nil || matched < int64(len(f.site.hosts)) {
		f.Errorf("node %s let %d hosts rest: %v", node, matched, err)
	}
	f.askWhole(node, c, &missing)
	for other := range f.running {
		if s, err := c.With(http.Header{"Arcrawl-Node": {other}}).Status(ctx); err != nil || s.Wings["cluster"] != nil {
			f.Errorf("node %s about node %s: %+v, %v", node, other, s, err)
		}
	}
	out, err := exec.Command(f.binary, "status", "--config", f.config[node]).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "node      a: since ") || !strings.Contains(string(out), "node      b: since ") ||
		strings.Contains(string(out), "note:") {
		f.Errorf("%s: %v", out, err)
	}
}

// askWhole asks one node for what is a sum over all nodes.
func (f *processes) askWhole(node string, c *api.Client, missing *string) {
	f.Helper()
	ctx := f.Context()
	*missing = ""
	s, err := c.Status(ctx)
	var added struct{ Nodes []any }
	fault := json.Unmarshal(s.Wings["cluster"], &added)
	if err != nil || fault != nil || s.Hosts.Known != int64(len(f.site.hosts)) || len(added.Nodes) != 2 ||
		s.Workers.All == 0 || s.LastDay.Visits == 0 {
		f.Errorf("the status of node %s is %+v, %v", node, s, err)
	}
	o, err := c.Overdue(ctx, api.OverdueFilter{By: "host"})
	if err != nil || len(o.Rows) != len(f.site.hosts) || o.All.URIs == 0 || o.All.Late != nil {
		f.Errorf("node %s about overdue URIs: %+v, %v", node, o, err)
	}
	d, err := c.Days(ctx, "", config.Filter{}, 7)
	sum := 0
	for _, row := range d.Hosts {
		sum += row.Requests
	}
	made := 0
	for _, n := range f.site.requests() {
		made += n
	}
	if err != nil || len(d.Hosts) != len(f.site.hosts) || d.All.Requests != sum || sum == 0 || sum > made {
		f.Errorf("node %s about days, after %d requests: %+v, %v", node, made, d, err)
	}
	if h, err := c.Headers(ctx, config.Filter{}); err != nil || *missing != "" {
		f.Errorf("node %s about headers: %+v, %v, missing %q", node, h, err, *missing)
	}
	log, err := c.Log(ctx, url.Values{"limit": {"1000"}, "seconds": {"10"}}, config.Filter{})
	of := map[string]int{}
	for _, l := range log.Lines {
		of[l.Node]++
	}
	inOrder := slices.IsSortedFunc(log.Lines, func(a, b api.LogLine) int { return a.At.Compare(b.At) })
	if err != nil || *missing != "" || of["a"] == 0 || of["b"] == 0 || len(of) != 2 || !inOrder || len(log.Next) != 2 {
		f.Errorf("the log of node %s has lines of %v, %v, missing %q", node, of, err, *missing)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return api.DialSocket(ctx, f.socket(node)) }
	got, err := (&http.Client{Transport: &http.Transport{DialContext: dial}}).Get("http://arcrawl/metrics")
	if err != nil {
		f.Fatal(err)
	}
	text, err := io.ReadAll(got.Body)
	if err = errors.Join(err, got.Body.Close()); err != nil || strings.Count(string(text), "\narcrawl_uris ") != 1 {
		f.Errorf("the metrics of node %s: %v\n%s", node, err, text)
	}
}

// socket returns the socket of a node.
func (f *processes) socket(node string) string {
	return filepath.Join(filepath.Dir(f.config[node]), "state", "admin.sock")
}
