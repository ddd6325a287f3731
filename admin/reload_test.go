package admin

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/town"
)

// A staged configuration is compared with the one in force. Nothing comes into force, and no file is read.
func TestStagedConfigurationsArePlanned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		w.Set("http://news.example/", town.Page{})
		w.Run(time.Minute)
		inForce := w.Parts.Config.Current()
		plan := func(s api.Staged) api.Reloaded {
			r := post[api.Reloaded](w, "/api/v1/reload", api.ReloadOrder{Staged: &s})
			if r.Taken || !r.DryRun || w.Parts.Config.Current() != inForce {
				t.Errorf("staged %+v: %+v; it came into force", s, r)
			}
			return r
		}
		host := func(text string) []api.StagedHost { return []api.StagedHost{{Name: "more.example.toml", Text: text}} }
		one := plan(api.Staged{Only: true, Hosts: host("[seeds]\nuris = [\"http://more.example/\"]\n")})
		if p := one.Plan; len(p.SeedsAdded) != 1 || len(p.SeedsRemoved) != 0 || p.DueNow != 1 {
			t.Errorf("one more host file: %+v", p)
		}
		w.Must(os.WriteFile(w.Path("arcrawl.toml"), []byte("[politeness]\nmin_delay = 5\n"), 0o600)) // being edited
		all := plan(api.Staged{Main: strings.Replace(everyHour, "http://news.example/", "http://other.example/", 1)})
		if p := all.Plan; len(p.SeedsAdded) != 1 || len(p.SeedsRemoved) != 1 || p.SeedsRemoved[0] != "http://news.example/" {
			t.Errorf("another main file: %+v, %v", p, all.Faults)
		}
		bad := plan(api.Staged{Only: true, Hosts: host("[politeness]\nmin_delay = 5\n")})
		if len(bad.Faults) != 1 || bad.Faults[0].Key != "politeness.min_delay" || !strings.Contains(bad.Faults[0].File, "more.example.toml") {
			t.Errorf("a faulty host file: %+v", bad)
		}
	})
}

// TestReloadReportsItsChanges checks a configuration, reloads it, and then tries a faulty one.
func TestReloadReportsItsChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		w.Set("http://news.example/", town.Page{})
		w.Run(time.Minute)
		write := func(toml string) { w.Must(os.WriteFile(w.Path("arcrawl.toml"), []byte(toml), 0o600)) }
		write(strings.Replace(everyHour, "/\"]", "/\", \"http://more.example/\"]", 1) + "[politeness]\nmin_delay = \"9s\"\n")
		dry := post[api.Reloaded](w, "/api/v1/reload", api.ReloadOrder{DryRun: true})
		if dry.Taken || dry.Plan.DueNow != 1 || len(dry.Plan.SeedsAdded) != 1 || len(dry.Plan.Changes) == 0 {
			t.Errorf("a dry run returns %+v; want one new seed, due now, and a changed key", dry)
		}
		if w.Parts.Config.Current().SeedHost("more.example") {
			t.Error("a dry run has put the configuration in force")
		}
		if done := post[api.Reloaded](w, "/api/v1/reload", nil); !done.Taken || !w.Parts.Config.Current().SeedHost("more.example") {
			t.Errorf("a reload returns %+v; want the configuration in force", done)
		}
		write(everyHour + "[politeness]\nmin_delay = 5\n")
		if bad := post[api.Reloaded](w, "/api/v1/reload", nil); bad.Taken || len(bad.Faults) != 1 || bad.Faults[0].Key != "politeness.min_delay" {
			t.Errorf("a faulty configuration returns %+v; want its fault, and the previous one in force", bad)
		}
	})
}
