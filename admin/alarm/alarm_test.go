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
