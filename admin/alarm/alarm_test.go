package alarm

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// TestAnAlarmIsRaisedAndClearedOnce plays different courses of a trouble. Each character is a minute: "x" with
// the trouble, "." without it.
func TestAnAlarmIsRaisedAndClearedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, kind, course, want string }{
		{"a host is down for too short a time", Host, strings.Repeat("x", 59) + "....................", ""},
		{"a host is down for two hours", Host, strings.Repeat("x", 120) + "...................", "raised at 60, cleared at 129"},
		{"a host flickers after its alarm", Host, strings.Repeat("x", 70) + ".....xxxx.....xxx.............", "raised at 60, cleared at 96"},
		{"a host flickers before its alarm", Host, strings.Repeat("xxxxxxxxx.", 12), ""},
		{"the uplink is down", Uplink, "..xx...", "raised at 2, cleared at 4"},
		{"the disk is short for a moment", Disk, "x......", ""},
		{"the disk is short", Disk, "xxx............", "raised at 1, cleared at 12"},
		{"a gap in a feed", FeedGap, "x.....", "raised at 0, cleared at 1"},
	} {
		var a Set
		var got []string
		for i, letter := range c.course {
			var list []Trouble
			if letter == 'x' {
				list = []Trouble{{c.kind, "a.example", "something"}}
			}
			for _, change := range a.Update(noon.Add(time.Duration(i)*time.Minute), list) {
				word := "cleared"
				if change.Raised {
					word = "raised"
				}
				got = append(got, fmt.Sprintf("%s at %d", word, i))
			}
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

func TestTheAlarmsOfAKindAreBounded(t *testing.T) {
	t.Parallel()
	var a Set
	var list []Trouble
	for i := range 10_000 {
		list = append(list, Trouble{FeedGap, fmt.Sprint(i), "turned over"})
	}
	a.Update(noon, append(list, Trouble{Uplink, "", "down"}))
	if n := len(a.Raised()); n != maxOfKind+1 {
		t.Errorf("%d alarms of 10,001 troubles, want %d of one kind and one of the other", n, maxOfKind)
	}
	if changes := a.Update(noon.Add(48*time.Hour), nil); len(changes) != maxOfKind+1 || len(a.known) != 0 {
		t.Errorf("%d alarms are cleared and %d are left", len(changes), len(a.known))
	}
}

// TestSilenceIsComparedWithUsualActivity compares the present silence of hosts with their histories.
func TestSilenceIsComparedWithUsualActivity(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, c := range []struct {
		what           string
		changes        int64
		history, since time.Duration
		longest        time.Duration // longest silence so far
		quiet          int
		want           bool
	}{
		{"twenty a day, silent for a day", 600, 30 * day, day, 6 * time.Hour, 20, true},
		{"twenty a day, silent for an evening", 600, 30 * day, 12 * time.Hour, 6 * time.Hour, 20, false},
		{"twenty a day, silent over a weekend as usual", 600, 30 * day, 60 * time.Hour, 62 * time.Hour, 40, false},
		{"twenty a day, silent for twice a weekend", 600, 30 * day, 125 * time.Hour, 62 * time.Hour, 80, true},
		{"one a day, silent for three days", 30, 30 * day, 3 * day, 2 * day, 10, false},
		{"one a day, silent for two weeks", 30, 30 * day, 15 * day, 2 * day, 10, true},
		{"no visits during the silence", 600, 30 * day, 5 * day, 6 * time.Hour, 0, false},
		{"a short history", 600, 2 * day, 5 * day, 6 * time.Hour, 20, false},
		{"hardly any changes", 3, 300 * day, 300 * day, day, 20, false},
	} {
		l := Life{c.changes, noon.Add(-c.history - c.since), noon.Add(-c.since)}
		if chance, got := l.Silent(Activity{Longest: api.Seconds(c.longest), Quiet: c.quiet}, noon); got != c.want {
			t.Errorf("%s: Silent reports %t (chance %.0e), want %t", c.what, got, chance, c.want)
		}
	}
}

// The page about alarms says of every kind when it is raised and what to do.
func TestEachKindIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/alarms.md")
	archivetest.Must(t, err)
	_, table, _ := strings.Cut(string(page), "\n## Kinds\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, kind := range Kinds() {
		if !strings.Contains(table, "`"+kind+"`") {
			t.Errorf("docs/alarms.md does not explain the kind %s", kind)
		}
	}
}

func TestFilesThatCannotBeMovedOrUploadedAreATrouble(t *testing.T) {
	t.Parallel()
	var a api.Archive
	if got := ArchiveTroubles(a); len(got) > 0 {
		t.Errorf("an archive in order has the troubles %+v", got)
	}
	a.Database = "no replica"
	if got := ArchiveTroubles(a); len(got) != 1 || got[0] != (Trouble{Kind: Database, Text: "no replica"}) {
		t.Errorf("a database without replica has the troubles %+v", got)
	}
	a.Database = ""
	a.Offload = api.Offload{Since: api.Moment(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)), Error: "no room"}
	a.Offload.Upload = &api.Upload{Bucket: "https://s3.example/x", Waiting: 2, Since: a.Offload.Since, Error: "busy"}
	got := ArchiveTroubles(a)
	const want = "2 finished WARC files not uploaded to https://s3.example/x since 2026-11-22"
	if len(got) == 2 && (got[1].Kind != Upload || !strings.HasPrefix(got[1].Text, want)) {
		t.Errorf("the upload is the trouble %+v", got[1])
	}
	if len(got) != 2 || got[0].Kind != Folders || !strings.Contains(got[0].Text, "2026-11-22 12:00:00 UTC") ||
		!strings.HasSuffix(got[0].Text, "no room") {
		t.Errorf("the troubles are %+v", got)
	}
}

func TestDocumentsAreATroubleForADay(t *testing.T) {
	t.Parallel()
	var d Documents
	for n := range 3 * maxDocumentHosts {
		d.Add(fmt.Sprintf("h%d.example", n), "http://h.example/"+strings.Repeat("é", 5000), "error", "why", noon)
	}
	d.Add("h1.example", "http://h1.example/b", "panic", "index out of range", noon.Add(time.Hour))
	list := d.Troubles(noon.Add(time.Hour))
	if len(list) != maxDocumentHosts {
		t.Errorf("%d troubles, want one for each of %d hosts", len(list), maxDocumentHosts)
	}
	for _, x := range list {
		if len(x.Text) > 1000 || !strings.Contains(x.Text, "could not be processed") {
			t.Errorf("%d bytes of text: %.100s", len(x.Text), x.Text)
		}
		if x.About == "h1.example" && !strings.Contains(x.Text, "2 visits of h1.example") {
			t.Errorf("the text is %q", x.Text)
		}
	}
	if d.Totals()["error"] != 3*maxDocumentHosts || d.Totals()["panic"] != 1 {
		t.Errorf("counted %d errors and %d panics", d.Totals()["error"], d.Totals()["panic"])
	}
	if list := d.Troubles(noon.Add(24*time.Hour + time.Minute)); len(list) != 1 {
		t.Errorf("%d troubles after a day, want the one that is younger", len(list))
	}
}

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
