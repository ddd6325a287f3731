package messages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

var seven = time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)

func aNotice(kind, host, text string, raised bool, labels ...string) notice {
	return notice{
		Alarm: api.Alarm{Kind: kind, About: host, Host: host, Text: text, Since: seven}, Raised: raised, At: seven,
		Instance: "press", Institution: "National Library", Labels: labels, Link: "https://c.example/#/host/" + host,
	}
}

// TestAlarmMailsSayWhose writes mails about one alarm and about several.
func TestAlarmMailsSayWhose(t *testing.T) {
	t.Parallel()
	down := aNotice(alarm.Host, "a.example", "a.example was unreachable 3 times", true)
	subject, body := alarmMail([]notice{down})
	if subject != "arcrawl press: host: a.example was unreachable 3 times" {
		t.Errorf("the subject is %q", subject)
	}
	for _, want := range []string{"RAISED  host  2026-11-22 07:00 UTC", "host: a.example", "https://c.example/#/host/a.example", "\narcrawl press of National Library. "} {
		if !strings.Contains(body, want) {
			t.Errorf("the body does not have %q:\n%s", want, body)
		}
	}
	subject, body = alarmMail([]notice{down, aNotice(alarm.Disk, "", "the disk is full", false)})
	if subject != "arcrawl press: 1 alarm raised, 1 cleared" || strings.Count(body, "CLEARED  disk") != 1 {
		t.Errorf("the subject is %q, the body\n%s", subject, body)
	}
}

// TestDigestHasWhatConcernsTheRecipient writes digests for the operator and for a curator of newspapers.
func TestDigestHasWhatConcernsTheRecipient(t *testing.T) {
	t.Parallel()
	labels := map[string][]string{"news.example": {"newspapers"}}
	status := api.Status{
		Now: seven, Instance: "National Library", Condition: api.Condition{State: api.Crawling}, LastDay: api.Counts{Visits: 1234},
		Alarms: []api.Alarm{
			{Kind: alarm.Disk, Text: "the disk is nearly full", Since: seven},
			{Kind: alarm.Host, Host: "news.example", Text: "news.example is down", Since: seven, Acknowledged: &api.Acknowledgement{Who: "maria"}},
			{Kind: alarm.Host, Host: "other.example", Text: "other.example is down", Since: seven},
		},
	}
	s := summary{
		Institution: "National Library", Link: "https://c.example/", Status: status,
		Recent: []notice{aNotice(alarm.Silence, "news.example", "news.example was silent", false, "newspapers"), aNotice(alarm.Uplink, "", "no network", true)},
		Names:  func(host string) []string { return labels[host] },
	}
	digest := func(to config.Recipient) (subject, body string) {
		return digestMail(s, newNews(to, time.Time{}, seven.Add(time.Hour), 0))
	}
	subject, body := digest(config.Recipient{Address: "operator@library.example"})
	if subject != "arcrawl National Library: crawling, 3 alarms, 0 new versions" {
		t.Errorf("the operator's subject is %q", subject)
	}
	for _, want := range []string{"1234 visits", "disk is nearly full", "other.example is down", "acknowledged by maria", "cleared: news.example was silent", "no network", "https://c.example/", "\narcrawl of National Library. "} {
		if !strings.Contains(body, want) {
			t.Errorf("the operator's digest does not have %q:\n%s", want, body)
		}
	}
	for due, want := range map[int64]string{12: "of which 12 are due.", -1: "the due ones are not counted yet."} {
		s.Status.URIs.Due = due
		if _, body := digest(config.Recipient{Address: "operator@library.example"}); !strings.Contains(body, "URIs: 0, "+want) {
			t.Errorf("with %d due URIs the digest does not have %q:\n%s", due, want, body)
		}
	}
	subject, body = digest(config.Recipient{Label: "newspapers", Address: "press@library.example"})
	if subject != "arcrawl National Library, newspapers: crawling, 1 alarm, 0 new versions" || strings.Contains(body, "other.example") || strings.Contains(body, "disk") ||
		strings.Contains(body, "no network") || !strings.Contains(body, "news.example is down") || !strings.Contains(body, "news.example was silent") {
		t.Errorf("the curator's digest is %q\n%s", subject, body)
	}
}

// newspapers is the weekly digest of a curator, of whose hosts one has hostile titles.
func newspapers(link string) string {
	names := func(host string) []string {
		if host == "other.example" {
			return nil
		}
		return []string{"newspapers"}
	}
	n := newNews(config.Recipient{Label: "newspapers", Address: "a@b.example", Weekly: true}, time.Time{}, seven, 0)
	add := func(hours int, host, path, title, kind string) {
		n.Add(api.Capture{
			At: seven.Add(-time.Duration(hours) * time.Hour), Host: host, URI: "http://" + host + path, Title: title, Kind: kind,
		}, names(host))
	}
	add(1, "news.example", "/", "Council\r\nBcc: x@evil.example\u202e\x00\x1b[31m "+strings.Repeat("ä", 500), "changed")
	add(2, "news.example", "/style.css", "", "changed")
	add(3, "news.example", "/", "Council rejects", "changed")
	add(4, "news.example", "/boat", "Boat found", "first")
	add(5, "news.example", "/checked", "Nothing new", "checked")
	add(6, "other.example", "/", "Not of a newspaper", "changed")
	add(7, "files.example", "/a.pdf", "", "changed")
	add(200, "news.example", "/old", "Last week", "changed")
	s := summary{
		Institution: "National Library", Link: link, Names: names,
		Title: func(host string) string { return map[string]string{"news.example": "The news"}[host] },
		Status: api.Status{Now: seven, Condition: api.Condition{State: api.Crawling}, Alarms: []api.Alarm{
			{Kind: alarm.Silence, Host: "silent.example", Text: "nothing new from silent.example for 3 days", Since: seven},
			{Kind: alarm.Silence, Host: "other.example", Text: "nothing new from other.example for 3 days", Since: seven},
		}},
		Short: []api.HostPace{{Host: "news.example", Promise: "captures 80 % of 95 %"}, {Host: "other.example", Promise: "captures 1 %"}},
	}
	_, body := digestMail(s, n)
	return body
}

// TestTheDigestOfALabelHasItsParts writes the digest of one label with and without a dashboard.
func TestTheDigestOfALabelHasItsParts(t *testing.T) {
	t.Parallel()
	body := newspapers("https://c.example")
	for _, want := range []string{
		"\nNew versions since 2026-11-15 07:00 UTC: 5, on 2 sites; first captures among them: 1\n",
		"\n- The news (news.example): 4 versions\n  2026-11-22 06:00 UTC  Council Bcc: x@evil.example[31m ää",
		"ä…\n    https://c.example/view/20261122060000/http://news.example/\n",
		"\n  2026-11-22 03:00 UTC  Boat found\n    https://c.example/view/20261122030000/http://news.example/boat\n",
		"\n- files.example: 1 version\n  2026-11-22 00:00 UTC  (no title)\n    https://c.example/view/20261122000000/http://files.example/a.pdf\n",
		"\nSilent sites: 1\n- since 2026-11-22 07:00 UTC: nothing new from silent.example for 3 days\n",
		"\nMissed capture targets: 1\n- The news (news.example): captures 80 % of 95 %\n",
		"\nOther raised alarms: 0\n",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the digest does not have %q:\n%s", want, body)
		}
	}
	for _, bad := range []string{"other.example", "Last week", "Nothing new", "style.css", "Council rejects", "\u202e", "\x1b", "\x00", "\r"} {
		if strings.Contains(body, bad) {
			t.Errorf("the digest has %q:\n%s", bad, body)
		}
	}
	if body := newspapers(""); !strings.Contains(body, "Boat found\n    http://news.example/boat\n") {
		t.Errorf("without a dashboard the digest does not have the URI:\n%s", body)
	}
}

// TestADigestIsBounded writes a digest of far more sites, alarms and targets than anybody reads.
func TestADigestIsBounded(t *testing.T) {
	t.Parallel()
	n := newNews(config.Recipient{Address: "a@b.example"}, time.Time{}, seven, 0)
	n.From = seven.Add(-time.Hour)
	s := summary{Names: func(string) []string { return nil }, Status: api.Status{Now: seven}}
	for i := range 10_000 {
		host := fmt.Sprintf("h%d.example", i%500)
		n.Add(api.Capture{At: seven.Add(-time.Duration(i) * time.Millisecond), Host: host, URI: fmt.Sprintf("http://%s/%d", host, i), Title: strings.Repeat("t", 5000)}, nil)
		a := api.Alarm{Kind: alarm.Host, Host: host, Text: host + " is down"}
		s.Status.Alarms = append(s.Status.Alarms, a)
		s.Short = append(s.Short, api.HostPace{Host: host, Promise: "captures little"})
		s.Recent = append(s.Recent, notice{Alarm: a, At: seven})
	}
	_, body := digestMail(s, n)
	if len(body) > 60_000 {
		t.Errorf("the digest has %d bytes", len(body))
	}
	for _, want := range []string{": 10000, on 500 sites", "(Versions before 2026-11-22 06:00 UTC are not counted", "- and 480 more sites\n", "- and 9900 more\n"} {
		if !strings.Contains(body, want) {
			t.Errorf("the digest does not have %q", want)
		}
	}
}

// TestADigestBeginsWhereTheLastOneEnded checks the beginning of the period, also after digests that were lost.
func TestADigestBeginsWhereTheLastOneEnded(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, c := range []struct {
		weekly bool
		last   time.Duration // before now; 0 = none
		want   time.Duration
	}{
		{false, 0, day},
		{true, 0, 7 * day},
		{false, 25 * time.Hour, 25 * time.Hour},
		{false, time.Hour, time.Hour},
		{false, 90 * day, 4 * day},
		{true, 90 * day, 10 * day},
	} {
		last := seven.Add(-c.last)
		if c.last == 0 {
			last = time.Time{}
		}
		n := newNews(config.Recipient{Weekly: c.weekly}, last, seven, 3*day)
		if got := seven.Sub(n.Since); got != c.want {
			t.Errorf("weekly %v, %s after the last digest, it begins %s ago; want %s", c.weekly, c.last, got, c.want)
		}
	}
}

func TestADamagedFileDoesNotStopNewAlarms(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "outbox.json")
	archivetest.Must(t, os.WriteFile(file, []byte(`{"seq": 7, "wai`), 0o600))
	o, err := openOutbox(file)
	if err == nil || o == nil {
		t.Fatalf("a damaged file opens as %v, %v; want an empty outbox and an error", o, err)
	}
	now := time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)
	n := notice{Alarm: api.Alarm{Kind: alarm.Disk, Text: "full"}, At: now}
	archivetest.Must(t, o.Add([]notice{n}, func(notice) []string { return []string{"hook"} }, true))
	o, err = openOutbox(file)
	archivetest.Must(t, err)
	if list, outdated := o.For("hook", now); len(list) != 1 || outdated != 0 || list[0].Notice.Text != "full" {
		t.Errorf("%+v waits, %d outdated; want the alarm", list, outdated)
	}
}

// A folder that cannot be written, as on a full disk, must not lose the alarm about it.
func TestAnAlarmIsDeliveredAlthoughItCannotBeStored(t *testing.T) {
	t.Parallel()
	o, err := openOutbox(filepath.Join(t.TempDir(), "absent", "outbox.json"))
	archivetest.Must(t, err)
	now := time.Now()
	err = o.Add([]notice{{At: now}}, func(notice) []string { return []string{"hook"} }, false)
	if err == nil {
		t.Error("no error although the folder does not exist")
	}
	if list, _ := o.For("hook", now); len(list) != 1 {
		t.Errorf("%d alarms wait, want 1", len(list))
	}
}

// Notices that arrive while others are delivered stay, also if the oldest were dropped meanwhile.
func TestTakenRemovesOnlyWhatWasDelivered(t *testing.T) {
	t.Parallel()
	o := &outbox{}
	now := time.Now()
	add := func(n int) {
		for range n {
			archivetest.Must(t, o.Add([]notice{{At: now}}, func(notice) []string { return []string{"hook"} }, false))
		}
	}
	add(maxWaiting)
	list, _ := o.For("hook", now)
	add(5)
	archivetest.Must(t, o.Taken("hook", list[len(list)-1].Seq))
	if list, _ = o.For("hook", now); len(list) != 5 {
		t.Errorf("%d alarms wait, want the 5 that came later", len(list))
	}
}
