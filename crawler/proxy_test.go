package crawler_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// TestADeadProxyRestsTheHostsBehindIt lets a proxy be down for five hours. The three hosts behind it rest and lose
// nothing, the three others are visited.
func TestADeadProxyRestsTheHostsBehindIt(t *testing.T) {
	dir := inTown(t, "[network]\nproxies = [{ name = \"office\", address = \"http://10.0.0.1:3128\" }]\n"+sixHosts, func(t *testing.T, w *world) {
		files := map[string]string{}
		for host := range strings.SplitSeq("abcdef", "") {
			w.set("http://"+host+".example/", town.Page{})
			if host < "d" {
				files["hosts.d/"+host+".example.toml"] = "[network]\nproxy = \"office\"\n"
			}
		}
		w.hostFiles(files)
		began := time.Now()
		var tries atomic.Int64 // connections to the proxy while it is down
		parts, shut := w.openWith(func(ctx context.Context, network, address string) (net.Conn, error) {
			host, _, _ := strings.Cut(address, ".")
			if behind := fetch.WayOf(ctx).Proxy() == "office"; behind != (host < "d") {
				t.Errorf("%s: through the proxy: %t", address, behind)
			}
			if d := time.Since(began); host < "d" && d > 3*time.Hour && d < 8*time.Hour {
				tries.Add(1)
				return nil, fmt.Errorf("%w: office at 10.0.0.1:3128: connection refused", fetch.ErrProxy)
			}
			return w.town.Dial(ctx, network, address)
		})
		defer shut()
		c := crawler.New(parts)
		looked := make(chan string, 1)
		time.AfterFunc(5*time.Hour, func() { looked <- fmt.Sprintf("%+v %+v", c.Status(), c.ProxiesDown()) })
		w.crawlWith(c, 10*time.Hour)
		if midway := <-looked; !strings.Contains(midway, "Name:office Why:connect to ") || !strings.Contains(midway, "Uplink:false") {
			t.Errorf("after two hours: %s; want the proxy down and our own network up", midway)
		}
		if n := tries.Load(); n < 50 || n > 100 {
			t.Errorf("%d tries in five hours, want some, each five minutes later", n)
		}
		for host := range strings.SplitSeq("abcdef", "") {
			u := uri.FromCanonical(fmt.Sprintf("http://%s.example/", host))
			r, _, err := parts.Frontier.Get(u)
			must(t, err)
			v, _ := parts.Frontier.Host(u.Host(), time.Now())
			if r.Failures != 0 || v.Failures != 0 || r.Wait != 30*time.Minute {
				t.Errorf("%s has %d failures, its host %d, and waits %s; want no trace of the proxy", u, r.Failures, v.Failures, r.Wait)
			}
			visits, back := 0, 0
			for _, x := range w.visits(host + ".example/") {
				if visits++; x.Finished.Sub(began) > 8*time.Hour {
					back++
				}
			}
			if back < 3 || host >= "d" && visits < 18 || host < "d" && visits > 12 {
				t.Errorf("%s was visited %d times, %d of them at the end", u, visits, back)
			}
		}
		if down := c.ProxiesDown(); len(down) != 0 {
			t.Errorf("at the end %+v", down)
		}
	})
	log, err := os.ReadFile(dir + "/crawl.log")
	must(t, err)
	for line := range strings.Lines(string(log)) {
		uri := strings.Fields(line)[3]
		behind := strings.HasPrefix(uri, "http://a.") || strings.HasPrefix(uri, "http://b.") || strings.HasPrefix(uri, "http://c.")
		if strings.Contains(line, "way:proxy=office") != behind {
			t.Errorf("crawl.log: %s", line)
		}
	}
	noted := 0
	for _, r := range archivetest.CheckDir(t, dir+"/warc") {
		if strings.Contains(string(r.Block), "wayOfConnection: proxy=office\r\n") {
			noted++
		}
	}
	if noted == 0 {
		t.Error("no metadata record says how the connection was made")
	}
	checkArchive(t, dir)
}
