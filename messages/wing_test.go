package messages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/uri"
)

// hook serves a webhook, which sends what it receives to the channel.
func hook(t *testing.T) (url string, received <-chan notice) {
	t.Helper()
	c := make(chan notice, 100)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n notice
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		c <- n
	}))
	t.Cleanup(s.Close)
	return s.URL, c
}

// next returns the next notice.
func next(t *testing.T, received <-chan notice) notice {
	t.Helper()
	select {
	case n := <-received:
		return n
	case <-time.After(daemontest.Patience):
		t.Fatal("the webhook received nothing")
		return notice{}
	}
}

// lose makes a window raise an alarm at once: a feed of a host lost entries.
func lose(t *testing.T, w *admin.Window, host string) {
	t.Helper()
	now := time.Now()
	feed := uri.FromCanonical("http://" + host + "/feed")
	w.Observe(crawler.Report{URI: feed, Finished: now, Source: feeds.Result{Gap: true}})
	archivetest.Must(t, w.Tick(now))
}

// TestADaemonSendsWhatItOwesAndWhatComes starts a daemon that has an alarm of an earlier run to send, and raises one.
func TestADaemonSendsWhatItOwesAndWhatComes(t *testing.T) {
	t.Parallel()
	url, received := hook(t)
	windows := make(chan *admin.Window, 1)
	probe := func() daemon.Wing {
		return daemon.Wing{Name: "probe", Window: func(d *daemon.Daemon) error { windows <- d.Window(); return nil }}
	}
	var file string
	l := daemontest.StartIn(t, t.TempDir(), []func() daemon.Wing{Wing, probe}, func(dir, main string) string {
		daemontest.Write(t, filepath.Join(dir, "hosts.d", "press.example.toml"), "labels = [\"press\"]\n")
		state := filepath.Join(dir, "state")
		archivetest.Must(t, os.MkdirAll(state, 0o750))
		file = filepath.Join(state, outboxFile)
		o, err := openOutbox(file)
		archivetest.Must(t, err)
		n := notice{Alarm: api.Alarm{Kind: alarm.Disk, Text: "the disk is full"}, Raised: true, At: time.Now()}
		archivetest.Must(t, o.Add([]notice{n}, func(notice) []string { return []string{webhookName} }, false))
		main = strings.Replace(main, "[storage]\n", "[storage]\nstate = \"state\"\n", 1)
		return strings.Replace(main, "[admin]\n", "[admin]\nwebhook = \""+url+"\"\n", 1)
	})
	if n := next(t, received); n.Kind != alarm.Disk || n.Text != "the disk is full" {
		t.Errorf("received %+v, want what an earlier run could not deliver", n)
	}
	l.Visited(t)
	lose(t, <-windows, "press.example")
	n := next(t, received)
	if n.Kind != alarm.FeedGap || n.Host != "press.example" || !n.Raised || n.Institution != "Test Library" ||
		len(n.Labels) != 1 || n.Link == "" {
		t.Errorf("received %+v, want the alarm about the feed", n)
	}
	waiting := func() int {
		o, err := openOutbox(file)
		archivetest.Must(t, err)
		list, _ := o.For(webhookName, time.Now())
		return len(list)
	}
	// A daemon that ends before it has the answer sends a notice again later.
	for giveUp := time.Now().Add(daemontest.Patience); waiting() > 0 && time.Now().Before(giveUp); {
		time.Sleep(20 * time.Millisecond)
	}
	archivetest.Must(t, l.End())
	if n := waiting(); n > 0 {
		t.Errorf("%d notices are still to be sent", n)
	}
}

// TestADaemonWithoutTheWingRefusesItsKeys starts a program that could not send what the configuration wants sent.
func TestADaemonWithoutTheWingRefusesItsKeys(t *testing.T) {
	t.Parallel()
	for what, setting := range map[string]string{
		"[mail]":           "[mail]\ndigest = \"07:00\"\n",
		"[[subscription]]": "[[subscription]]\nname = \"press\"\nwebhook = \"https://press.library.example/\"\n",
		"admin.webhook":    "[admin]\nwebhook = \"https://alarms.library.example/\"\n",
	} {
		o := daemon.Options{Log: zerolog.Nop(), Notify: func(string) {}, SharedProcess: true}
		err := daemon.Run(t.Context(), load(t, setting), o)
		if err == nil || !strings.Contains(err.Error(), " has "+what+", and this program was built without it") {
			t.Errorf("a daemon with %s: %v", what, err)
		}
	}
}

// TestTheDaemonsOfAProcessShareTheOffice opens two daemons of a process, raises an alarm of the process and one of a
// host in each, and closes one.
func TestTheDaemonsOfAProcessShareTheOffice(t *testing.T) {
	t.Parallel()
	url, received := hook(t)
	c := load(t, "[admin]\nsocket = \"off\"\nwebhook = \""+url+"\"\n[storage]\nmin_free = \"1MB\"\n")
	archivetest.Must(t, os.MkdirAll(c.Storage.State, 0o750))
	all := new(office)
	o := daemon.Options{
		Version: "test", Log: zerolog.Nop(), Hangup: make(chan os.Signal), Notify: func(string) {}, SharedProcess: true,
		Wings: []func() daemon.Wing{all.wing},
	}
	p, err := daemon.OpenProcess(c, o, daemon.Several{
		Most: 2, Open: func(*daemon.Process) error { return nil }, Join: addHosts,
		Handler: func(access.Options) http.Handler { return http.NotFoundHandler() },
	})
	archivetest.Must(t, err)
	t.Cleanup(func() { archivetest.Must(t, p.Close()) })
	open := func(number int) *daemon.Daemon {
		o.Member = &daemon.Member{
			Process: p, Number: number, Publish: func(*admin.Window) (withdraw func()) { return func() {} },
		}
		d, err := daemon.Open(daemon.MemberConfig(c, filepath.Join(t.TempDir(), "state"), 2), o)
		archivetest.Must(t, err)
		return d
	}
	first, second := open(1), open(2)
	for number, d := range map[int]*daemon.Daemon{1: first, 2: second} {
		all.Notify(number, []notice{{Alarm: api.Alarm{Kind: alarm.Disk}, Raised: true, At: time.Now()}})
		lose(t, d.Window(), fmt.Sprintf("%d.example", number))
	}
	kinds := map[string]int{}
	for range 3 {
		kinds[next(t, received).Kind]++
	}
	if len(received) > 0 || kinds[alarm.Disk] != 1 || kinds[alarm.FeedGap] != 2 {
		t.Errorf("the webhook received %v, want the alarm of the process once", kinds)
	}
	if s, ok := all.summary(); !ok || s.Status.Instance != "12" || s.Institution != "Test Library" {
		t.Errorf("the digest of both: %t, %+v", ok, s.Status)
	}
	archivetest.Must(t, first.Close())
	if s, ok := all.summary(); !ok || len(s.Status.Alarms) != 1 || s.Status.Alarms[0].Host != "2.example" {
		t.Errorf("after one has closed, the digest is %t, %+v", ok, s.Status)
	}
	archivetest.Must(t, second.Close())
	if _, ok := all.summary(); ok {
		t.Error("there is a digest without a daemon")
	}
}
