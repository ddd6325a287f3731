package alarm

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
)

var seven = time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)

func notice(kind, host, text string, raised bool, labels ...string) Notice {
	return Notice{
		Alarm: api.Alarm{Kind: kind, About: host, Host: host, Text: text, Since: seven}, Raised: raised, At: seven,
		Instance: "press", Institution: "National Library", Labels: labels, Link: "https://c.example/#/host/" + host,
	}
}

// TestAlarmMailsSayWhose writes mails about one alarm and about several.
func TestAlarmMailsSayWhose(t *testing.T) {
	t.Parallel()
	down := notice(Host, "a.example", "a.example was unreachable 3 times", true)
	subject, body := AlarmMail([]Notice{down})
	if subject != "arcrawl press: host: a.example was unreachable 3 times" {
		t.Errorf("the subject is %q", subject)
	}
	for _, want := range []string{"RAISED  host  2026-11-22 07:00 UTC", "host: a.example", "https://c.example/#/host/a.example", "\narcrawl press of National Library. "} {
		if !strings.Contains(body, want) {
			t.Errorf("the body does not have %q:\n%s", want, body)
		}
	}
	subject, body = AlarmMail([]Notice{down, notice(Disk, "", "the disk is full", false)})
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
			{Kind: Disk, Text: "the disk is nearly full", Since: seven},
			{Kind: Host, Host: "news.example", Text: "news.example is down", Since: seven, Acknowledged: &api.Acknowledgement{Who: "maria"}},
			{Kind: Host, Host: "other.example", Text: "other.example is down", Since: seven},
		},
	}
	s := Summary{
		Institution: "National Library", Link: "https://c.example/", Status: status,
		Recent: []Notice{notice(Silence, "news.example", "news.example was silent", false, "newspapers"), notice(Uplink, "", "no network", true)},
		Names:  func(host string) []string { return labels[host] },
	}
	digest := func(to config.Recipient) (subject, body string) {
		return DigestMail(s, NewNews(to, time.Time{}, seven.Add(time.Hour), 0))
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
