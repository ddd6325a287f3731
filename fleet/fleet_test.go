package fleet

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

const (
	token  = "JXK4NVQ2TOEUMPZ7ZB3W6LDAFC"
	status = `{"version":"1.2","instance":"x","condition":{"state":"STATE","why":"WHY"},"last_hour":{"visits":40,"versions":7,"failed":1},
		"hosts":{"known":12,"unreachable":1,"down":1},"uris":{"known":3400,"overdue_seconds":7200},"disk":{"free":5000000000},
		"alarms":[{"kind":"disk","text":"the disk is nearly full","since":"2026-11-22T06:04:00Z"},
			{"kind":"host","text":"a.example is down","acknowledged":{"who":"maria"}}]}`
)

// answers returns a daemon that is in a state.
func answers(state, why string) http.HandlerFunc {
	return func(to http.ResponseWriter, from *http.Request) {
		if from.URL.Path != api.Base+"/status" {
			http.NotFound(to, from)
			return
		}
		_, _ = to.Write([]byte(strings.NewReplacer("STATE", state, "WHY", why).Replace(status)))
	}
}

// socket serves a daemon on a unix socket in a folder.
func socket(t *testing.T, path string, h http.Handler) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAFleetIsSeenAtOnce asks healthy daemons next to one that was never started, one that says nothing, one that
// refuses the token, one that redirects, and one that is something else.
func TestAFleetIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	dir, end := t.TempDir(), make(chan struct{})
	socket(t, filepath.Join(dir, "press.sock"), answers("crawling", ""))
	socket(t, filepath.Join(dir, "held.sock"), answers("held", "the disk is full"))
	socket(t, filepath.Join(dir, "silent.sock"), http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	t.Cleanup(func() { close(end) })
	leaked := ""
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, from *http.Request) { leaked += from.Header.Get("Authorization") }))
	t.Cleanup(thief.Close)
	remote := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		switch from.Header.Get("Authorization") {
		case "Bearer " + token:
			answers("paused", "works on the network")(to, from)
		case "Bearer redirected":
			http.Redirect(to, from, thief.URL, http.StatusTemporaryRedirect)
		case "Bearer page":
			_, _ = to.Write([]byte("<html>"))
		default:
			to.WriteHeader(http.StatusUnauthorized)
			_, _ = to.Write([]byte(`{"error":"wrong token"}`))
		}
	}))
	t.Cleanup(remote.Close)
	for name, text := range map[string]string{"t": token + "\n", "wrong": "nonsense", "moved": "redirected", "other": "page"} {
		write(t, filepath.Join(dir, name), text)
	}
	write(t, filepath.Join(dir, "web.toml"), "[storage]\nstate = \"s\"\n[admin]\nsocket = \"press.sock\"\n")
	list := filepath.Join(dir, "fleet")
	write(t, list, "# the crawls\npress press.sock\n\nweb\tweb.toml\nheld "+dir+"/held.sock\nlaw "+remote.URL+"/ t\ngone none.sock\n"+
		"silent silent.sock\nwrong "+remote.URL+" wrong\nmoved "+remote.URL+" moved\nother "+remote.URL+" other\nlost "+remote.URL+" no-file\n")
	members, err := readFleet(list)
	if err != nil {
		t.Fatal(err)
	}
	all := askFleet(t.Context(), members, 3*time.Second)
	var page strings.Builder
	if err := writeFleet(&page, all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"10 instances: 2 crawling, 1 paused, 1 held, 6 no answer; 160 visits in the last hour\n",
		"\npress     crawling   12     1     3400   2h       40        7           1         5.0 GB     1\n", "\nall                  48     4     13600  2h       160       28          4                    4\n", "\nweb       crawling",
		"\nlaw       paused ", "\ngone      no answer  –  ", "\nheld: held: the disk is full\n", "\nlaw: paused: works on the network\n",
		"\npress: ALARM since 2026-11-22 06:04 UTC: the disk is nearly full\n",
		"\ngone: no answer: no arcrawl answers: no socket at " + dir + "/none.sock\n", "\nsilent: no answer: ask the daemon at " + dir + "/silent.sock: ",
		"\nwrong: no answer: wrong token\n", "\nmoved: no answer: the daemon answered 307", "\nother: no answer: read the daemon's answer",
		"\nlost: no answer: read the token: ",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if t.Failed() {
		t.Log(page.String())
	}
	if err := missing(all); err == nil || err.Error() != "no arcrawl answers for 6 of 10 instances: gone, silent, wrong, moved, other, lost" {
		t.Errorf("who is missing: %v", err)
	}
	if leaked != "" || strings.Contains(page.String(), token) {
		t.Errorf("a token went elsewhere: %q", leaked)
	}
	if text, err := json.Marshal(all.Instances[4]); err != nil || !strings.Contains(string(text), `"name":"gone"`) || !strings.Contains(string(text), `"status":null`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestAHealthyFleetHasNothingMissing asks one daemon, which has no alarms to show but one.
func TestAHealthyFleetHasNothingMissing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.sock")
	socket(t, path, answers("crawling", ""))
	all := askFleet(t.Context(), []fleetMember{{Name: "a", Where: path}}, time.Minute)
	if err := missing(all); err != nil || all.Instances[0].Status.Instance != "x" {
		t.Errorf("%+v, %v", all, err)
	}
}

// storage is the store that some daemons share.
type storage string

func (s storage) Write(out io.Writer) error {
	_, err := io.WriteString(out, "a database\n")
	return err
}
func (s storage) Uncrawled() string { return string(s) }

// TestAFleetIsSummedAndWhatIsMissingIsNamed shows two daemons next to one that does not answer, and a database.
func TestAFleetIsSummedAndWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	s := api.Status{Condition: api.Condition{State: api.Crawling}, Disk: api.Disk{Free: -1}}
	s.Hosts.Known, s.URIs.Known, s.LastHour.Visits = 10, 300, 70
	is := func(name string) api.Instance { return api.Instance{Name: name, Status: &s} }
	none := api.Instance{Name: "c", Error: "it is away"}
	var page strings.Builder
	if err := writeFleet(&page, api.Fleet{Instances: []api.Instance{is("a"), is("b"), none}, Database: storage("")}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"3 instances: 2 crawling, 1 no answer; 140 visits in the last hour", "\na         crawling   10     0     300",
		"\nall                  20     0     600   –        140", "\nc: no answer: it is away\n", "\na database\n",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not have %q:\n%s", want, &page)
		}
	}
	for _, row := range []struct {
		fleet api.Fleet
		want  string
	}{
		{api.Fleet{Instances: []api.Instance{is("a"), none}}, "no arcrawl answers for 1 of 2 instances: c"},
		{api.Fleet{Instances: []api.Instance{is("a"), none}, Database: storage("7 parts")}, "no arcrawl answers for 1 of 2 instances: c; 7 parts"},
		{api.Fleet{Instances: []api.Instance{is("a")}, Database: storage("7 parts")}, "no arcrawl answers: 7 parts"},
		{api.Fleet{Instances: []api.Instance{is("a")}, Database: storage("")}, "<nil>"},
	} {
		if got := fmt.Sprint(missing(row.fleet)); got != row.want {
			t.Errorf("missing is %s, want %s", got, row.want)
		}
	}
}

func TestManyAlarmsOfOneDaemonDoNotHideTheOthers(t *testing.T) {
	t.Parallel()
	s := api.Status{Condition: api.Condition{State: api.Crawling}, Disk: api.Disk{Free: -1}}
	for range 80 {
		s.Alarms = append(s.Alarms, api.Alarm{Kind: "host", Text: "a.example is down"})
	}
	var page strings.Builder
	if err := writeFleet(&page, api.Fleet{Instances: []api.Instance{{Name: "a", Status: &s}}}); err != nil {
		t.Fatal(err)
	}
	if text := page.String(); strings.Count(text, "is down") != shownAlarms || !strings.Contains(text, "a: 75 alarms more\n") || !strings.Contains(text, "–          80") {
		t.Errorf("the page is\n%s", text)
	}
}

func TestListsWithAFaultAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# nothing\n":                      "no line names a daemon",
		"press\n":                          "line 1: it has 1 words",
		"a /a.sock\na /b.sock\n":           "line 2: the name a is used twice",
		"a /a.sock token\n":                "needs no token",
		"a https://a.example\n":            "needs a file with a token",
		"a http://a.example t\n":           "unencrypted",
		"a http://93.184.216.34:8471 t\n":  "unencrypted",
		"a https://u:p@a.example t\n":      "is not the address of a daemon",
		"a https://a.example/dashboard t":  "is not the address of a daemon",
		"a ftp://a.example t":              "not an address with https",
		strings.Repeat("a /a.sock\n", 9e3): "more than 65536 bytes",
	} {
		path := filepath.Join(t.TempDir(), "fleet")
		write(t, path, text)
		if got, err := readFleet(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v; want an error with %q", text, got, err, want)
		}
	}
	for _, line := range []string{"a http://127.0.0.1:8471 t", "a http://localhost:8471/ t", "a http://[::1]:8471 t", "a http://10.0.0.7:8471 t", "a https://a.example t"} {
		if got, err := parseList(line, "/etc"); err != nil || got[0].Token != "/etc/t" {
			t.Errorf("%s: %+v, %v; want a member", line, got, err)
		}
	}
	long := ""
	for i := range maxMembers + 1 {
		long += string(rune('a'+i%26)) + strings.Repeat("x", i/26) + " /s\n"
	}
	if _, err := parseList(long, "/"); err == nil || !strings.Contains(err.Error(), "more than 200") {
		t.Errorf("%d daemons: %v", maxMembers+1, err)
	}
}
