package admin

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/town"
)

// The list, the page of a host, and why say that the file of a host was removed.
func TestAHostWhoseFileWasRemovedIsMarked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.close()
		const page = "http://news.example/"
		w.set(page, town.Page{})
		w.run(10 * time.Minute)
		marks := func() [3]bool {
			return [3]bool{
				get[api.Hosts](w, "/api/v1/hosts").Hosts[0].Removed, get[api.Host](w, "/api/v1/hosts/news.example").Removed,
				get[api.Why](w, "/api/v1/why?uri="+page).Host.Removed,
			}
		}
		if got := marks(); got != [3]bool{} {
			t.Errorf("before the removal the marks are %v", got)
		}
		if err := os.MkdirAll(w.path("hosts.d"), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.path("hosts.d/news.example.toml"+api.RemovedSuffix), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := marks(); got != [3]bool{true, true, true} {
			t.Errorf("after the removal the marks are %v", got)
		}
	})
}
