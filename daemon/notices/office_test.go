package notices

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/admin/mail"
	"github.com/arcrawl/arcrawl/config"
)

// openOffice opens an office that sends to nobody.
func openOffice(t *testing.T) *Office {
	t.Helper()
	c := &config.Config{}
	c.Storage.State = t.TempDir()
	o := Open(Parts{
		Config: func() *config.Config { return c }, Background: background, Wait: wait, Now: time.Now, Log: zerolog.Nop(),
	})
	t.Cleanup(o.Close)
	return o
}

// TestAnAlarmOfTheProcessIsSentOnceForAllShards raises the same alarm in two shards, and clears it.
func TestAnAlarmOfTheProcessIsSentOnceForAllShards(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	leave := o.Join(2, Source{})
	for _, step := range []struct {
		shard      int
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
		if got := o.news(step.shard, []alarm.Notice{n}); len(got) != step.sent {
			t.Errorf("%+v: %d notices", step, len(got))
		}
	}
	leave()
	n := alarm.Notice{Alarm: api.Alarm{Kind: alarm.Database}}
	if got := o.news(1, []alarm.Notice{n}); len(got) != 1 {
		t.Errorf("a shard that was handed over keeps an alarm raised: %d notices", len(got))
	}
}

// TestADigestHasTheSumsOfAllShards joins two shards, of which one is held, and lets one of them leave.
func TestADigestHasTheSumsOfAllShards(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	if _, ok := o.summary(); ok {
		t.Error("there is a digest without a shard")
	}
	due := map[string]int64{"a.example": 5, "b.example": 6}
	shard := func(hosts int64, why, host string) Source {
		return Source{
			Summary: func() (s mail.Summary) {
				s.Status.Condition = api.Condition{State: api.Crawling}
				if why != "" {
					s.Status.Condition = api.Condition{State: api.Held, Why: why}
				}
				s.Status.Hosts.Known, s.Status.LastDay.Visits = hosts, 10*hosts
				s.Status.URIs.Due = due[host]
				s.Status.Alarms = []api.Alarm{{Kind: alarm.Disk}, {Kind: alarm.Host, Host: host}}
				s.Short = []api.HostPace{{Host: host}}
				return s
			},
			Each: func(since time.Time, use func(api.Capture)) time.Time {
				use(api.Capture{Host: host})
				return since.Add(time.Duration(hosts) * time.Second)
			},
		}
	}
	o.Join(1, shard(3, "", "a.example"))
	leave := o.Join(2, shard(4, "disk is full", "b.example"))
	s, ok := o.summary()
	is := s.Status
	text := fmt.Sprint(ok, is.Condition, is.Hosts.Known, is.URIs.Due, is.LastDay.Visits, len(is.Alarms), len(s.Short))
	if want := "true {held disk is full <nil> <nil>} 7 11 70 3 2"; text != want {
		t.Errorf("the digest of both: %s, want %s", text, want)
	}
	due["b.example"] = -1
	if s, _ := o.summary(); s.Status.URIs.Due != -1 {
		t.Errorf("%d URIs are due, though one shard has not counted them", s.Status.URIs.Due)
	}
	var hosts []string
	from := o.each(time.Unix(0, 0), func(c api.Capture) { hosts = append(hosts, c.Host) })
	if got := strings.Join(hosts, " "); len(got) != len("a.example b.example") || from.Unix() != 4 {
		t.Errorf("captures of %s since %s", got, from)
	}
	leave()
	if s, _ := o.summary(); s.Status.Hosts.Known != 3 {
		t.Errorf("the digest has %d hosts after a shard has left, want 3", s.Status.Hosts.Known)
	}
}
