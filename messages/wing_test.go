package messages

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin"
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
