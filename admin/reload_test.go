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

// TestReloadReportsItsChanges checks a configuration, reloads it, and then tries a faulty one.
func TestReloadReportsItsChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.close()
		w.set("http://news.example/", town.Page{})
		w.run(time.Minute)
		write := func(toml string) { w.must(os.WriteFile(w.path("arcrawl.toml"), []byte(toml), 0o600)) }
		write(strings.Replace(everyHour, "/\"]", "/\", \"http://more.example/\"]", 1) + "[politeness]\nmin_delay = \"9s\"\n")
		dry := post[api.Reloaded](w, "/api/v1/reload", api.ReloadOrder{DryRun: true})
		if dry.Taken || dry.Plan.DueNow != 1 || len(dry.Plan.SeedsAdded) != 1 || len(dry.Plan.Changes) == 0 {
			t.Errorf("a dry run returns %+v; want one new seed, due now, and a changed key", dry)
		}
		if w.parts.Config.Current().SeedHost("more.example") {
			t.Error("a dry run has put the configuration in force")
		}
		if done := post[api.Reloaded](w, "/api/v1/reload", nil); !done.Taken || !w.parts.Config.Current().SeedHost("more.example") {
			t.Errorf("a reload returns %+v; want the configuration in force", done)
		}
		write(everyHour + "[politeness]\nmin_delay = 5\n")
		if bad := post[api.Reloaded](w, "/api/v1/reload", nil); bad.Taken || len(bad.Faults) != 1 || bad.Faults[0].Key != "politeness.min_delay" {
			t.Errorf("a faulty configuration returns %+v; want its fault, and the previous one in force", bad)
		}
	})
}
