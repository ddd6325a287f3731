package admin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/town"
)

// The list, the page of a host, and why say that the file of a host was removed.
func TestAHostWhoseFileWasRemovedIsMarked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		const page = "http://news.example/"
		w.Set(page, town.Page{})
		w.Run(10 * time.Minute)
		marks := func() [3]bool {
			return [3]bool{
				get[api.Hosts](w, "/api/v1/hosts").Hosts[0].Removed, get[api.Host](w, "/api/v1/hosts/news.example").Removed,
				get[api.Why](w, "/api/v1/why?uri="+page).Host.Removed,
			}
		}
		if got := marks(); got != [3]bool{} {
			t.Errorf("before the removal the marks are %v", got)
		}
		if err := os.MkdirAll(w.Path("hosts.d"), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.Path("hosts.d/news.example.toml"+api.RemovedSuffix), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := marks(); got != [3]bool{true, true, true} {
			t.Errorf("after the removal the marks are %v", got)
		}
	})
}

// Hosts with internationalized names are shown in Unicode, and hosts whose file was deleted are marked: in the names
// for reports, in the status and its alarms, and in notices.
func TestHostsAreShownAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		const ascii, unicode = "xn--bcher-kva.example", "bücher.example"
		if err := os.MkdirAll(filepath.Join(dir, "hosts.d"), 0o750); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "hosts.d", "books.toml") // not named after its host
		if err := os.WriteFile(file, []byte("host = \""+ascii+"\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var notices []alarm.Notice
		w := newWorld(t, dir, strings.Replace(everyHour, "news.example", ascii, 1), func(o *Options) {
			o.Notify = func(list []alarm.Notice) { notices = append(notices, list...) }
		})
		defer w.Close()
		w.Set("http://"+ascii+"/", town.Page{Down: true})
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if done := post[api.Reloaded](w, "/api/v1/reload", nil); !done.Taken {
			t.Fatalf("the configuration without the file: %+v", done)
		}
		w.Run(12 * time.Hour)
		want := api.HostName{Unicode: unicode, Removed: true}
		names := get[api.HostNames](w, "/api/v1/names")
		if names.Hosts[ascii] != want || len(names.Hosts) != 1 || names.Label(ascii) != unicode+" ("+ascii+"), removed" {
			t.Errorf("the names are %+v, want %s as %+v", names, ascii, want)
		}
		s := get[api.Status](w, "/api/v1/status")
		if len(s.Down) != 1 || !s.Down[0].Removed || len(s.Alarms) != 1 || s.Alarms[0].Unicode != unicode ||
			!strings.HasPrefix(s.Alarms[0].Text, unicode+" ("+ascii+") was unreachable") {
			t.Errorf("the status has the hosts %+v and the alarms %+v", s.Down, s.Alarms)
		}
		if len(notices) != 1 || notices[0].Unicode != unicode {
			t.Fatalf("the notices are %+v", notices)
		}
		if subject, body := alarm.AlarmMail(notices); !strings.Contains(subject, unicode) || !strings.Contains(body, "host: "+unicode+" ("+ascii+")\n") {
			t.Errorf("the mail is %q\n%s", subject, body)
		}
		if h := get[api.Host](w, "/api/v1/hosts/"+ascii); !h.Removed || h.Unicode != unicode {
			t.Errorf("the host is %+v", h)
		}
	})
}
