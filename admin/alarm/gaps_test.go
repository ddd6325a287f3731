package alarm

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// TestFeedGapsAreOneAlarmForEachHost loses entries of fifty feeds on two hosts. The alarms end a day later.
func TestFeedGapsAreOneAlarmForEachHost(t *testing.T) {
	t.Parallel()
	var g Gaps
	var a Set
	for i := range 50 {
		g.Add("http://a.example/feed/"+strings.Repeat("x", i), noon.Add(time.Duration(i)*time.Second))
	}
	g.Add("http://b.example/feed", noon)
	a.Update(noon, g.Troubles(noon))
	raised := a.Raised()
	if len(raised) != 2 || raised[0].Host != "a.example" || !strings.HasPrefix(raised[0].Text, "50 feeds of a.example may") ||
		!strings.Contains(raised[0].Text, "/feed/"+strings.Repeat("x", 49)+" at 2026-11-22 12:00:49 UTC") {
		t.Errorf("raised %+v; want one alarm for each host", raised)
	}
	later := noon.Add(gapLasts + 2*time.Minute)
	if changes := a.Update(later, g.Troubles(later)); len(changes) != 2 || len(a.Raised()) != 0 {
		t.Errorf("a day later %+v are raised", a.Raised())
	}
}

// TestAcknowledgementsEndWithTheAlarm acknowledges alarms, restarts, clears one and raises it again.
func TestAcknowledgementsEndWithTheAlarm(t *testing.T) {
	t.Parallel()
	down := []Trouble{{Host, "a.example", "down"}, {Host, "b.example", "down"}, {Silence, "c.example", "silent"}}
	var a Set
	a.Update(noon, down)
	now := noon.Add(2 * time.Hour)
	a.Update(now, down)
	if n := a.Acknowledge(api.Acknowledge{Kind: Host, About: "a.example", Note: "moves on Monday"}, "maria", now); n != 1 {
		t.Errorf("acknowledged %d alarms, want 1", n)
	}
	if n := a.Acknowledge(api.Acknowledge{Kind: Host}, "jan", now); n != 1 {
		t.Errorf("acknowledged %d alarms of the kind, want the other one", n)
	}
	if n := a.Acknowledge(api.Acknowledge{Kind: Host, About: "b.example", Undo: true}, "jan", now); n != 1 {
		t.Errorf("took %d acknowledgements back, want 1", n)
	}
	var restarted Set
	restarted.Restore(a.Raised(), now)
	if changes := restarted.Update(now.Add(time.Second), down); len(changes) != 0 {
		t.Errorf("after a restart the alarms are announced again: %+v", changes)
	}
	for _, x := range restarted.Raised() {
		if by := x.Acknowledged; (by != nil) != (x.About == "a.example") || by != nil && (by.Who != "maria" || by.Note != "moves on Monday") {
			t.Errorf("%s is acknowledged by %+v", x.About, by)
		}
	}
	if n := Acknowledged(restarted.Raised()); n != 1 {
		t.Errorf("%d alarms are acknowledged, want 1", n)
	}
	restarted.Update(now.Add(time.Hour), nil)
	restarted.Update(now.Add(2*time.Hour), down)
	restarted.Update(now.Add(4*time.Hour), down)
	if n, raised := Acknowledged(restarted.Raised()), restarted.Raised(); n != 0 || len(raised) != 3 {
		t.Errorf("%d of %d alarms that were raised again are acknowledged, want none of 3", n, len(raised))
	}
}
