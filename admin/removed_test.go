package admin

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// Hosts with internationalized names are shown in Unicode, and hosts whose file was deleted are marked: in the names
// for reports, in the list and the page of a host, in the status and its alarms, and in changes of alarms.
func TestHostsAreShownAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		const ascii, unicode = "xn--bcher-kva.example", "bücher.example"
		archivetest.Must(t, os.MkdirAll(filepath.Join(dir, "hosts.d"), 0o750))
		file := filepath.Join(dir, "hosts.d", "books.toml") // not named after its host
		archivetest.Must(t, os.WriteFile(file, []byte("host = \""+ascii+"\"\n"), 0o600))
		var list []alarm.Change
		w := newWorld(t, dir, strings.Replace(everyHour, "news.example", ascii, 1), changes(&list))
		defer w.Close()
		w.Set("http://"+ascii+"/", testcrawl.Page{Down: true})
		w.Must(os.Remove(file))
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
		if len(list) != 1 || list[0].Unicode != unicode {
			t.Fatalf("the changes of alarms are %+v", list)
		}
		for _, h := range []api.Host{
			get[api.Host](w, "/api/v1/hosts/"+ascii), get[api.Hosts](w, "/api/v1/hosts").Hosts[0],
			get[api.Why](w, "/api/v1/why?uri=http://"+ascii+"/").Host,
		} {
			if !h.Removed || h.Unicode != unicode {
				t.Errorf("the host is %+v", h)
			}
		}
	})
}

// A host whose file is deleted is marked, also after a restart, until it has a file again.
func TestAHostWhoseFileIsDeletedIsMarked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	main := filepath.Join(dir, "arcrawl.toml")
	write := func(name, text string) {
		archivetest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("arcrawl.toml", "[operator]\nname = \"Library\"\ncontact = \"https://library.example/\"\n")
	archivetest.Must(t, os.Mkdir(filepath.Join(dir, "hosts.d"), 0o750))
	const buecher = "xn--bcher-kva.example:8080"
	hosts := []uri.Host{"a.example", buecher, "c.example"}
	names := func() map[string]api.HostName {
		b := openNames(dir) // as after a restart
		c, err := config.Load(main)
		if err == nil {
			err = b.Update(c)
		}
		archivetest.Must(t, err)
		return b.Of(hosts).Hosts
	}
	check := func(when string, want map[string]api.HostName) {
		t.Helper()
		if got := names(); !maps.Equal(got, want) {
			t.Errorf("%s the names are %v, want %v", when, got, want)
		}
	}
	const unicode = "bücher.example:8080"
	write("hosts.d/a.example.toml", "[seeds]\nuris = [\"http://a.example/\"]\n")
	write("hosts.d/books.toml", "host = \""+buecher+"\"\n")
	check("with files", map[string]api.HostName{buecher: {Unicode: unicode}})
	for _, name := range []string{"a.example", "books"} {
		archivetest.Must(t, os.Remove(filepath.Join(dir, "hosts.d", name+".toml")))
	}
	check("without files", map[string]api.HostName{"a.example": {Removed: true}, buecher: {Unicode: unicode, Removed: true}})
	write("hosts.d/a.example.toml", "")
	check("with a new file", map[string]api.HostName{buecher: {Unicode: unicode, Removed: true}})
}
