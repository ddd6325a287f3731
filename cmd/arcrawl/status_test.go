package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

// TestTopUpdatesTheStatus watches pages with the status and the hosts until the end.
func TestTopUpdatesTheStatus(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"version":"1.2","condition":{"state":"crawling"},"config":{"digest":"sha256:0123456789abcdef"}}`
		if strings.HasSuffix(r.URL.Path, "/hosts") {
			answer = `{"total":1,"hosts":[{"host":"news.example","state":"snoozed","uris":12,"overdue_seconds":7200}]}`
			if asked++; asked == 3 {
				cancel()
			}
		}
		_, _ = w.Write([]byte(answer))
	}))
	socket := filepath.Join(t.TempDir(), "admin.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server.Listener = l
	server.Start()
	defer server.Close()
	var out bytes.Buffer
	c := api.NewClient(socket)
	page := func(out io.Writer) error { return topPage(ctx, out, c, 10, config.Filter{}) }
	if err := cli.Watch(ctx, &out, 100*time.Millisecond, page); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "arcrawl 1.2"); n != 2 && n != 3 {
		t.Errorf("the status was shown %d times", n)
	}
	if !strings.Contains(out.String(), "news.example  resting  12    2h") {
		t.Errorf("the hosts are not shown as they should:\n%s", &out)
	}
}

// TestTheStatusOfALabelIsShown prints the state of the hosts that a filter selects, once and watched.
func TestTheStatusOfALabelIsShown(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		_, _ = w.Write([]byte(`{"condition":{"state":"paused","why":"moving"},"hosts":{"known":3,"ready":1,"down":1,"total":1},
			"unreachable":[{"host":"a.example","failures":7,"error":"no route"}],"uris":{"known":12,"due":-1,"overdue_seconds":7200},
			"busy":1,"visits":[{"uri":"http://b.example/1","seconds":3}],"today":{"requests":40,"versions_seen":1},
			"alarms":[{"kind":"host","text":"a.example is down"}]}`))
		cancel()
	}))
	defer server.Close()
	c := api.NewRemote(server.URL, "", time.Minute)
	only := config.Filter{Label: "papers", Owner: "maria"}
	var out bytes.Buffer
	if err := shown(&out, showSites)(c.SitesStatus(t.Context(), only)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"the crawl is paused: moving\n", "a.example is down", "hosts     3: 1 ready", "a.example: no route, the last 7 visits failed",
		"URIs      12: 0 queued, 0 forbidden by robots.txt; the oldest is 2h overdue\n", "today     40 requests, 1 version (UTC)\n", "visiting  1\n", "http://b.example/1 for 3.0s",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
	_ = topPage(ctx, &out, c, 10, only) // ctx has ended
	if len(asked) == 0 || asked[0] != "/api/v1/status/sites?label=papers&owner=maria" {
		t.Errorf("the daemon was asked for %q", asked)
	}
}

// TestErrorsOfHostsAndURIsArePrinted prints answers of a daemon with a host that cannot be reached. No error is cut.
func TestErrorsOfHostsAndURIsArePrinted(t *testing.T) {
	t.Parallel()
	reason := "address is not public: host " + strings.Repeat("a-long-name.", 20) + "example is at 10.0.0.1; to crawl it, add its network to fetch.allow_networks and restart"
	host := api.Host{Host: "news.example", State: "snoozed", Failures: 7, LastError: reason}
	status := api.Status{Config: api.Config{AtRestart: []string{"fetch.allow_networks"}}, Down: []api.Unreachable{{Host: "news.example", Failures: 7, Error: reason}}, Hosts: api.HostCounts{Known: 9, Down: 9}}
	var out [2]bytes.Buffer
	for i, err := range []error{
		showStatus(&out[0], status),
		showWhy(&out[1], api.Why{URI: api.URI{URI: "http://news.example/", LastError: "connection lost"}, Host: host}),
	} {
		if err != nil || strings.Count(out[i].String(), reason) != 1 {
			t.Errorf("output %d does not have the whole reason once, %v:\n%s", i, err, &out[i])
		}
	}
	if !strings.Contains(out[0].String(), "\n          waits for a restart: fetch.allow_networks\n") {
		t.Errorf("the status does not say what waits for a restart:\n%s", &out[0])
	}
	if !strings.Contains(out[0].String(), "and 4 hosts more: arcrawl host list --state down") {
		t.Errorf("the status does not say that there are more hosts:\n%s", &out[0])
	}
	if !strings.Contains(out[1].String(), "\nerror      connection lost\n") {
		t.Errorf("why does not show the error of the URI:\n%s", &out[1])
	}
}

// TestManyAlarmsDoNotHideTheStatus prints a status with eighty alarms of a kind and an acknowledged one.
func TestManyAlarmsDoNotHideTheStatus(t *testing.T) {
	t.Parallel()
	s := api.Status{Alarms: []api.Alarm{{Kind: "disk", Text: "the disk is nearly full"}}}
	for range 80 {
		s.Alarms = append(s.Alarms, api.Alarm{Kind: "host", About: "a.example", Text: "a.example is down"})
	}
	s.Alarms = append(s.Alarms, api.Alarm{
		Kind: "host", About: "b.example", Text: "b.example is down", Acknowledged: &api.Acknowledgement{Who: "maria", Note: "moves"},
	})
	var out, list bytes.Buffer
	if err := errors.Join(showStatus(&out, s), showAlarms(&list, api.Alarms{Alarms: s.Alarms})); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Count(text, "a.example is down") != 3 || !strings.Contains(text, "77 more of kind host: arcrawl alarms") ||
		!strings.Contains(text, "disk is nearly full") || strings.Contains(text, "b.example") || !strings.Contains(text, "1 alarm acknowledged") {
		t.Errorf("the status is\n%s", text)
	}
	if text := list.String(); strings.Count(text, "is down") != 81 || !strings.Contains(text, "acknowledged by maria") {
		t.Errorf("the list of alarms is\n%s", text)
	}
}

func TestTopSaysThatNoDaemonAnswers(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := api.NewClient(filepath.Join(t.TempDir(), "none.sock"))
	page := func(out io.Writer) error { return topPage(t.Context(), out, c, 10, config.Filter{}) }
	err := cli.Watch(t.Context(), &out, time.Second, page)
	if cli.ExitCode(err) != cli.ExitBusy {
		t.Errorf("exit code %d for %v, want %d", cli.ExitCode(err), err, cli.ExitBusy)
	}
}

func TestTheStatusShowsHostsInUnicode(t *testing.T) {
	t.Parallel()
	const name = "xn--bcher-kva.example"
	down := []api.Unreachable{{Host: name, Failures: 7, Error: "no route"}}
	var state bytes.Buffer
	if err := showStatus(&state, api.Status{Down: down, Hosts: api.HostCounts{Known: 9, Down: 1}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(state.String(), "bücher.example ("+name+"): no route") {
		t.Errorf("status:\n%s", &state)
	}
}
