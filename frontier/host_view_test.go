package frontier_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

func TestHostsReportsTheStateOfEachHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDue(day, "http://busy.example/", day)
	w.addDue(day, "http://busy.example/2", at(time.Millisecond))
	w.claim(at(time.Second), "http://busy.example/")
	w.addDue(day, "http://idle.example/", day)
	c := w.claim(at(time.Second), "http://idle.example/")
	s := visited(c, at(time.Second), time.Hour)
	s.Record.Due, s.Forbidden = time.Time{}, true
	w.settle(c, s)
	w.addDue(day, "http://ready.example/", day)
	w.addDue(day, "http://ready.example/later", at(time.Hour))
	w.addDue(day, "http://snoozed.example/", at(time.Hour))

	want := []struct {
		host  string
		state frontier.HostState
		ready time.Time
	}{
		{"busy.example", frontier.Busy, time.Time{}},
		{"idle.example", frontier.Idle, time.Time{}},
		{"ready.example", frontier.Ready, day},
		{"snoozed.example", frontier.Snoozed, at(time.Hour)},
	}
	same(t, w.Counts(at(time.Second)), frontier.Counts{
		Hosts: 4, URIs: 6, Queued: 5, InProgress: 1, Forbidden: 1, Ready: 1, Snoozed: 1, Busy: 1, Idle: 1,
		Oldest: day, OldestReachable: day,
	})
	got := w.Hosts(at(time.Second))
	if len(got) != len(want) {
		t.Fatalf("%d hosts, want %d", len(got), len(want))
	}
	for i, v := range got {
		if string(v.Host) != want[i].host || v.State != want[i].state || !v.Ready.Equal(want[i].ready) {
			t.Errorf("%s is %s, ready at %s; want %s, %s, %s", v.Host, v.State, v.Ready, want[i].host, want[i].state, want[i].ready)
		}
		one, ok := w.Host(v.Host, at(time.Second))
		if !ok || one != v {
			t.Errorf("Host(%s) = %+v, %v; want %+v", v.Host, one, ok, v)
		}
	}
	if v := got[2]; v.URIs != 2 || v.Queued != 2 || !v.Oldest.Equal(day) {
		t.Errorf("%+v; want two URIs queued, the oldest due at %s", v, day)
	}
	if _, ok := w.Host("never.example", day); ok {
		t.Error("a host that was never seen is known")
	}
}
