package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/frontier"
)

// askFrom asks one node about all hosts, of which other nodes crawl some, and orders something for all.
func (f *crew) askFrom(node string) {
	f.Helper()
	var missing string
	c := api.NewClient(filepath.Join(filepath.Dir(f.config[node]), "state", "admin.sock")).
		Missing(func(what string) { missing = what })
	defer c.Close()
	ctx := f.Context()
	f.running[node].waitFor(f.T, "an answer for all hosts", func() bool { // nodes know each other after two beats
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
	if matched, _, err := c.RestHosts(ctx, "*", time.Now().Add(time.Second)); err != nil || matched < int64(len(f.site.hosts)) {
		f.Errorf("node %s let %d hosts rest: %v", node, matched, err)
	}
	if _, err := c.Status(ctx); err != nil || !strings.Contains(missing, "node a crawls") || !strings.Contains(missing, "node b crawls") {
		f.Errorf("node %s does not say what its status leaves out: %q, %v", node, missing, err)
	}
	for shard := range f.shards {
		if _, err := c.Shard(shard + 1).Status(ctx); err != nil {
			f.Errorf("node %s about shard %d: %v", node, shard+1, err)
		}
	}
	out, err := exec.Command(f.binary, "status", "--config", f.config[node]).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "note: this is for shard ") {
		f.Errorf("%s: %v", out, err)
	}
}
