package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/uri"
)

// keeping owns a store that has one host at first. Hosts can come to it.
type keeping struct {
	has     atomic.Pointer[string] // the host
	refuses error                  // of Serve
	asked   atomic.Int64           // requests that it has answered
	steps   chan string
}

func (o *keeping) Dialer(d fetch.Dialer) fetch.Dialer   { return d }
func (o *keeping) MayClaim() error                      { return nil }
func (o *keeping) Void(time.Time) error                 { return nil }
func (o *keeping) Accept(*config.Config) error          { return nil }
func (o *keeping) Payloads() dedup.Shared               { return nil }
func (o *keeping) Follow(context.Context, func() error) {}
func (o *keeping) Watch(context.Context, *daemon.Daemon) {
}
func (o *keeping) Lose([]string, string) error { return nil }
func (o *keeping) StandBy() string             { return "" }

func (o *keeping) Elsewhere() frontier.Elsewhere { return o }

func (o *keeping) Has(h uri.Host) bool { return string(h) != *o.has.Load() }

func (o *keeping) Post(*badger.Txn, frontier.Candidate, time.Time) (frontier.Added, func(), error) {
	return frontier.Added{}, nil, nil
}

func (o *keeping) Row(uri.Host, []byte) []byte { return nil }
func (*keeping) Size() int64                   { return 0 }

func (o *keeping) Opened(*frontier.Frontier, func(run func(context.Context))) error {
	o.steps <- "opened"
	return nil
}

func (o *keeping) Closing(*frontier.Frontier) (closed func(error) error) {
	o.steps <- "closing"
	return func(err error) error { o.steps <- "closed"; return err }
}

func (o *keeping) Started(*daemon.Daemon) (stopped func()) {
	o.steps <- "started"
	return func() { o.steps <- "stopped" }
}

// wing returns a wing that answers for the daemon.
func (o *keeping) wing() daemon.Wing { return daemon.Wing{Name: "answers", Serve: o.serve} }

func (o *keeping) serve(
	d *daemon.Daemon, plain func(access.Options) http.Handler,
) (func(access.Options) http.Handler, error) {
	if d.Owner() != daemon.Owner(o) {
		return nil, errors.New("the owner of the store is another one")
	}
	o.steps <- "serve"
	return func(to access.Options) http.Handler {
		h := plain(to)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.asked.Add(1); h.ServeHTTP(w, r) })
	}, o.refuses
}

// said lists the steps so far.
func (o *keeping) said() string {
	var all []string
	for len(o.steps) > 0 {
		all = append(all, <-o.steps)
	}
	return strings.Join(all, " ")
}

// keep returns an owner whose store has a.example, and the folder of its configuration.
func keep(t *testing.T) (o *keeping, dir string) {
	t.Helper()
	o, dir = &keeping{steps: make(chan string, 100)}, t.TempDir()
	o.gets("a.example")
	daemontest.Write(t, filepath.Join(dir, "arcrawl.toml"), strings.ReplaceAll(daemontest.MainFile,
		"[%q]", `["http://a.example/", "http://b.example/"]`))
	return o, dir
}

func (o *keeping) gets(host string) { o.has.Store(&host) }

// nowhere refuses each connection.
func nowhere(context.Context, string, string) (net.Conn, error) { return nil, errors.New("refused") }

// TestAWingServesTheAPI asks for the state of a daemon whose requests a wing answers.
func TestAWingServesTheAPI(t *testing.T) {
	t.Parallel()
	o, dir := keep(t)
	wings := []func() daemon.Wing{o.wing}
	d := openIn(t, dir, new(bytes.Buffer), daemon.Options{Owner: o, Wings: wings, Dial: nowhere})
	_, err := api.NewClient(filepath.Join(dir, "state", "admin.sock")).Status(t.Context())
	if err != nil || o.asked.Load() != 1 {
		t.Errorf("the wing has answered %d requests, want 1; %v", o.asked.Load(), err)
	}
	archivetest.Must(t, d.Close())
	if got := o.said(); got != "opened serve closing closed" {
		t.Errorf("the owner was called: %s", got)
	}
	o.refuses = errors.New("no certificate")
	c, err := daemon.LoadConfig(filepath.Join(dir, "arcrawl.toml"), zerolog.Nop())
	archivetest.Must(t, err)
	_, err = daemon.Open(c, daemon.Options{Log: zerolog.Nop(), SharedProcess: true, Owner: o, Wings: wings})
	if !errors.Is(err, o.refuses) {
		t.Errorf("a daemon whose wing cannot serve: %v", err)
	}
	if got := o.said(); got != "opened serve closing closed" {
		t.Errorf("with a wing that cannot serve the owner was called: %s", got)
	}
}

// TestAHostComesToARunningCrawl lets a host go and another one come while the crawl runs.
func TestAHostComesToARunningCrawl(t *testing.T) {
	t.Parallel()
	o, dir := keep(t)
	d := openIn(t, dir, new(bytes.Buffer), daemon.Options{Owner: o, Dial: nowhere})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Run(ctx), d.Close()) }()
	if got := <-o.steps + " " + <-o.steps; got != "opened started" {
		t.Errorf("the owner was called: %s", got)
	}
	knows := func(h uri.Host) bool { return d.Parts().Frontier.KnowsHost(string(h)) }
	if !knows("a.example") || knows("b.example") {
		t.Errorf("a.example is known: %t; b.example: %t; want only the first one", knows("a.example"), knows("b.example"))
	}
	day := evaluators.Day{Requests: 7}
	archivetest.Must(t, d.Parts().Daily.Add("b.example", time.Now(), day))
	d.ForgetHosts(func(h uri.Host) bool { return h == "b.example" })
	archivetest.Must(t, d.Parts().Daily.Add("c.example", time.Now(), day))
	o.gets("b.example")
	archivetest.Must(t, errors.Join(d.FlushHosts(), d.AddSeeds()))
	if !knows("b.example") {
		t.Error("the seed on the host that came is not known")
	}
	stored := map[string]bool{}
	archivetest.Must(t, d.Store().View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte("a")})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			host, _, _ := strings.Cut(string(it.Item().Key()[1:]), "\x00")
			stored[host] = true
		}
		return nil
	}))
	if stored["b.example"] || !stored["c.example"] {
		t.Errorf("days are stored of %v; want c.example, and not b.example", stored)
	}
	stop()
	archivetest.Must(t, <-done)
	if got := o.said(); got != "stopped closing closed" {
		t.Errorf("the owner was called: %s", got)
	}
}
