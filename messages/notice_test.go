package messages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// load returns a configuration of the Test Library, with the files of hosts.
func load(t *testing.T, main string, hosts ...string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "arcrawl.toml")
	operator := "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n"
	archivetest.Must(t, os.WriteFile(path, []byte(operator+main), 0o600))
	archivetest.Must(t, os.Mkdir(filepath.Join(dir, "hosts.d"), 0o750))
	for i := 0; i < len(hosts); i += 2 {
		archivetest.Must(t, os.WriteFile(filepath.Join(dir, "hosts.d", hosts[i]), []byte(hosts[i+1]), 0o600))
	}
	c, err := config.Load(path)
	archivetest.Must(t, err)
	return c
}

// TestNoticesSayWhose announces alarms about a host with names, about one of its URIs and about the whole crawl.
func TestNoticesSayWhose(t *testing.T) {
	t.Parallel()
	c := load(t, "[admin]\nurl = \"https://c.example/\"\n", "news.example.toml",
		"labels = [\"newspapers\"]\ncollections = [\"press\"]\nowner = \"anna\"\n")
	var changes []alarm.Change
	for _, a := range []api.Alarm{
		{Kind: alarm.Host, About: "news.example", Host: "news.example", Text: "it is down"},
		{Kind: alarm.Seed, About: "http://news.example/?a=1", Host: "news.example"},
		{Kind: alarm.Disk},
	} {
		changes = append(changes, alarm.Change{Alarm: a, Raised: a.Kind != alarm.Disk})
	}
	of := func(i int, link string) notice {
		return notice{
			Alarm: changes[i].Alarm, Raised: changes[i].Raised, At: noon, Instance: "Test Library", Institution: "Test Library",
			Link: link,
		}
	}
	want := []notice{
		of(0, "https://c.example/#/host/news.example"),
		of(1, "https://c.example/#/uri?u=http%3A%2F%2Fnews.example%2F%3Fa%3D1"),
		of(2, "https://c.example/"),
	}
	for i := range want[:2] {
		want[i].Labels, want[i].Collections, want[i].Owners = []string{"newspapers"}, []string{"press"}, []string{"anna"}
	}
	zone := time.FixedZone("east", 3600)
	if diff := cmp.Diff(want, notices(c, changes, noon.In(zone))); diff != "" {
		t.Errorf("the notices (-want +got):\n%s", diff)
	}
}

// TestNoticesSayWhichCrawl announces an alarm of a crawl with and without a name of its own, and without a dashboard.
func TestNoticesSayWhichCrawl(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{"": "Test Library", "[admin]\ninstance = 'press \"2\"'\n": `press "2"`} {
		n := notices(load(t, setting), []alarm.Change{{}}, noon)[0]
		if n.Instance != want || n.Institution != "Test Library" || n.Source() != "arcrawl "+want || n.Link != "" {
			t.Errorf("the notice is %+v, want one of %q", n, want)
		}
	}
}

// TestNoticesOfAClusterNameTheirNode announces an alarm of a node, by mail and by webhook.
func TestNoticesOfAClusterNameTheirNode(t *testing.T) {
	t.Parallel()
	c := *load(t, "")
	c.Cluster.Database, c.Cluster.Node = "postgres:///arcrawl", "b"
	list := notices(&c, []alarm.Change{{Alarm: api.Alarm{Kind: alarm.Disk, Text: "the disk is full"}, Raised: true}}, noon)
	subject, _ := alarmMail(list)
	if subject != "arcrawl Test Library, node b: disk: the disk is full" || list[0].Node != "b" {
		t.Errorf("the mail is about %q, the notice is %+v", subject, list[0])
	}
}

// TestMailsShowHostsAsPeopleReadThem writes the mail about a host with an internationalized name.
func TestMailsShowHostsAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	const ascii, unicode = "xn--bcher-kva.example", "bücher.example"
	a := api.Alarm{Kind: alarm.Host, Host: ascii, Unicode: unicode, Text: unicode + " (" + ascii + ") was unreachable"}
	subject, body := alarmMail([]notice{{Alarm: a, Raised: true}})
	if !strings.Contains(subject, unicode) || !strings.Contains(body, "host: "+unicode+" ("+ascii+")\n") {
		t.Errorf("the mail is %q\n%s", subject, body)
	}
}
