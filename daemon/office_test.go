package daemon

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
)

// startOffice opens an office that sends to nobody.
func startOffice(t *testing.T) *office {
	t.Helper()
	c := &config.Config{}
	c.Storage.State = t.TempDir()
	o := openOffice(func() *config.Config { return c }, addHosts, time.Now, zerolog.Nop())
	t.Cleanup(o.Close)
	return o
}

// TestAnAlarmOfTheProcessIsSentOnceForAllDaemons raises the same alarm in two daemons, and clears it.
func TestAnAlarmOfTheProcessIsSentOnceForAllDaemons(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	leave := o.Join(2, digestSource{})
	for _, step := range []struct {
		number     int
		kind, host string
		raised     bool
		sent       int
	}{
		{1, alarm.Disk, "", true, 1},
		{2, alarm.Disk, "", true, 0},
		{1, alarm.Disk, "", false, 0},
		{2, alarm.Disk, "", false, 1},
		{1, alarm.Disk, "", true, 1}, // again
		{1, alarm.Host, "a.example", true, 1},
		{2, alarm.Host, "b.example", true, 1},
		{1, alarm.Host, "a.example", false, 1},
		{1, alarm.Uplink, "", false, 1}, // was raised before a restart
		{2, alarm.Uplink, "", false, 0},
		{2, alarm.Database, "", true, 1},
	} {
		n := alarm.Notice{Alarm: api.Alarm{Kind: step.kind, Host: step.host}, Raised: step.raised}
		if got := o.news(step.number, []alarm.Notice{n}); len(got) != step.sent {
			t.Errorf("%+v: %d notices", step, len(got))
		}
	}
	leave()
	n := alarm.Notice{Alarm: api.Alarm{Kind: alarm.Database}}
	if got := o.news(1, []alarm.Notice{n}); len(got) != 1 {
		t.Errorf("a daemon that has left keeps an alarm raised: %d notices", len(got))
	}
}

// addHosts makes one summary of several.
func addHosts(numbers []int, list []alarm.Summary) (all alarm.Summary) {
	for i, summary := range list {
		all.Status.Hosts.Known += summary.Status.Hosts.Known
		all.Institution += fmt.Sprint(numbers[i])
	}
	return all
}

// TestADigestIsOfAllDaemons joins two daemons, and lets one of them leave.
func TestADigestIsOfAllDaemons(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	if _, ok := o.summary(); ok {
		t.Error("there is a digest without a daemon")
	}
	source := func(hosts int64, host string) digestSource {
		return digestSource{
			Summary: func() (s alarm.Summary) { s.Status.Hosts.Known = hosts; return s },
			Each: func(since time.Time, use func(api.Capture)) time.Time {
				use(api.Capture{Host: host})
				return since.Add(time.Duration(hosts) * time.Second)
			},
		}
	}
	o.Join(1, source(3, "a.example"))
	leave := o.Join(2, source(4, "b.example"))
	if s, ok := o.summary(); !ok || s.Status.Hosts.Known != 7 || s.Institution != "12" {
		t.Errorf("the digest of both: %t, %+v", ok, s)
	}
	var hosts []string
	from := o.each(time.Unix(0, 0), func(c api.Capture) { hosts = append(hosts, c.Host) })
	if got := strings.Join(hosts, " "); len(got) != len("a.example b.example") || from.Unix() != 4 {
		t.Errorf("captures of %s since %s", got, from)
	}
	leave()
	if s, _ := o.summary(); s.Status.Hosts.Known != 3 {
		t.Errorf("the digest has %d hosts after a daemon has left, want 3", s.Status.Hosts.Known)
	}
}
