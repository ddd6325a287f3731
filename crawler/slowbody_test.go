package crawler_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/town"
)

const everyMinute = `[crawl]
workers = 4
[[wait]]
mime = ".*"
rule = "fixed"
every = "1m"
[retry]
first = "1m"
max = "1m"
[robots]
wait = "30d"
[seeds]
uris = [%s]
`

// Forty hosts send their pages at 150 bytes a second, which is more than fetch.min_rate, and are due all the time. A
// healthy site is visited as often as without them.
func TestSlowBodiesDoNotKeepAHealthySiteWaiting(t *testing.T) {
	without := visitsBesideDrippingHosts(t, 0, 0)
	for _, c := range []struct {
		name          string
		hosts, honest int
	}{
		{"hosts that always drip", 40, 0},
		{"hosts that first answer ten times", 40, 10},
	} {
		if with := visitsBesideDrippingHosts(t, c.hosts, c.honest); 10*with < 9*without {
			t.Errorf("%s: the healthy site had %d visits in three hours, and %d without the attack", c.name, with, without)
		}
	}
}

// visitsBesideDrippingHosts crawls for three hours, and returns the number of visits of a healthy site. Dripping hosts
// answer the first honest requests at once.
func visitsBesideDrippingHosts(t *testing.T, hosts, honest int) (visits int) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		seeds := []string{`"http://healthy.example/"`}
		for n := range hosts {
			seeds = append(seeds, fmt.Sprintf(`"http://drip%d.example/"`, n))
		}
		w := newWorld(t, dir, fmt.Sprintf(everyMinute, strings.Join(seeds, ", ")))
		w.set("http://healthy.example/", town.Page{})
		d := &drippingHosts{honest: honest, answered: map[string]int{}}
		defer d.serving.Wait()
		parts, shut := w.openOptions(func(ctx context.Context, network, address string) (net.Conn, error) {
			if !strings.HasPrefix(address, "drip") {
				return w.town.Dial(ctx, network, address)
			}
			ours, theirs := net.Pipe()
			d.serving.Go(func() { d.serve(theirs, address) })
			return ours, nil
		}, func(o *frontier.Options) { o.MaxDoubtful = frontier.MaxDoubtful(4) })
		defer shut()
		c := crawler.New(parts)
		w.crawlWith(c, 3*time.Hour)
		visits = len(w.visits("healthy.example/"))
	})
	return visits
}

// drippingHosts are hosts that answer their first requests, and then send a body of 150 bytes a second.
type drippingHosts struct {
	honest  int // requests of each host that are answered at once
	serving sync.WaitGroup

	mu       sync.Mutex // guards answered
	answered map[string]int
}

func (d *drippingHosts) serve(c net.Conn, host string) {
	defer c.Close()
	for r := bufio.NewReader(c); ; {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		d.mu.Lock()
		n := d.answered[host]
		d.answered[host]++
		d.mu.Unlock()
		switch {
		case req.URL.Path == "/robots.txt":
			_, err = io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
		case n <= d.honest:
			_, err = io.WriteString(c, good+"Content-Length: 2\r\n\r\nhi")
		default:
			_, err = io.WriteString(c, good+"\r\n")
			for err == nil {
				time.Sleep(time.Second)
				_, err = io.WriteString(c, strings.Repeat("x", 150))
			}
		}
		if err != nil {
			return
		}
	}
}
