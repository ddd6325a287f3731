package demosite

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serve serves a site that begins now on a free loopback port. It returns the address, and a function that ends it.
func Serve(now time.Time) (address string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("open a loopback port for the demo site: %w", err)
	}
	server := &http.Server{Handler: New(now).Handler(time.Now), ReadHeaderTimeout: 10 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	return l.Addr().String(), func() {
		_ = server.Close()
		serving.Wait()
	}, nil
}

// FreeAddress returns a loopback address that nobody listens at. Its port is below those that Linux chooses for
// connections and for listeners without a port of their own, so it stays free until somebody wants just this one.
func FreeAddress() (address string, err error) {
	for range 100 {
		address = fmt.Sprintf("127.0.0.1:%d", 12_000+rand.IntN(20_000))
		var l net.Listener
		if l, err = net.Listen("tcp", address); err == nil {
			return address, l.Close()
		}
	}
	return "", fmt.Errorf("find a free loopback port: %w", err)
}

// Config returns the configuration of a crawl of the site at an address, with seconds instead of hours. It serves the
// dashboard at a second address, and archived versions at a third one if it is not empty, with the engine in a folder.
func Config(site, dashboard, replay, engine string) []byte {
	shown := ""
	if replay != "" {
		shown = fmt.Sprintf("replay_listen = %q   # shows archived versions\nreplay_assets = %q\n", replay, engine)
	}
	return fmt.Appendf(nil, configTOML, site, dashboard, shown)
}

const configTOML = `# The configuration of the demo. A real crawl uses hours instead of seconds.

[operator]
name = "arcrawl demo"
contact = "https://github.com/arcrawl/arcrawl"

[storage]
state = "state"
warc = "warc"
log = "crawl.log"
min_free = "100MB"

[log]
extra_info = true

[admin]
listen = "%[2]s"          # the dashboard; asks for the token
token_file = "admin.token"
%[3]s
[fetch]
allow_networks = ["127.0.0.0/8"]    # the demo site is on this machine

[politeness]
delay_factor = 5.0
min_delay = "200ms"                 # never use such a short delay on a real server
max_delay = "1s"

[robots]
wait = "30s"
forbidden_wait = "30s"

[retry]
first = "5s"
max = "1m"

[[wait]]
mime = "^text/.*$"
rule = "classic"
initial = "10s"
min = "2s"
max = "2m"

[[wait]]
mime = ".*"
rule = "classic"
initial = "20s"
min = "5s"
max = "5m"

[feeds]
uris = ["http://%[1]s/feed.xml"]    # new entries are visited first,
implied = ["http://%[1]s/"]         # together with the front page
initial = "4s"
min = "2s"
max = "10s"
min_wait = "1s"

[articles]
ladder = ["5s", "15s", "40s"]       # new articles are visited again at these ages

[seeds]
uris = ["http://%[1]s/"]
`
