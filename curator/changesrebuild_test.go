package curator

import (
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestAWallThatACuratorNamedIsAWallAfterARebuild plays a day with a wall that only the configuration knows. What the
// visit took it for is in the archive, so a rebuild says the same, even after the setting has gone.
func TestAWallThatACuratorNamedIsAWallAfterARebuild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		toml := dayOfNews + "[trouble]\nblocked = [\"Subscribe to read\"]\n"
		w := newWorld(t, dir, toml, func(o *admin.Options) { o.Dir = o.Config().Config.Storage.State })
		w.Set(story, paper("Harbour closes", first, second, third))
		w.Set(story, from(3, testcrawl.Page{Body: "<title>The Courier</title><h1>Subscribe to read this story</h1>"}))
		w.Set(story, from(6, paper("Harbour closes", first, third)))
		w.Run(12*time.Hour - time.Minute)
		synctest.Wait()
		told := get[api.New](w, "/api/v1/new?change=any&limit=500&uri="+story).Captures
		if got := strings.Join(kindsOf(told), ", "); got != "wall, returned, text" && got != "wall, returned+text" {
			t.Fatalf("the day was %s", got)
		}
		w.Must(w.curation.close(time.Now()))
		w.Close()
		config := w.Path("arcrawl.toml")
		rules, err := os.ReadFile(config)
		w.Must(err)
		w.Must(os.WriteFile(config, []byte(strings.Replace(string(rules), "Subscribe", "Never", 1)), 0o640))
		run := func(do func(c *changesCommand, out *strings.Builder) error) string {
			c := changesCommand{now: time.Now, since: "1999-12"}
			c.Config = config
			var out strings.Builder
			w.Must(do(&c, &out))
			return out.String()
		}
		list := func(c *changesCommand, out *strings.Builder) error { return c.run(t.Context(), out, io.Discard) }
		before := run(list)
		w.Must(os.RemoveAll(w.curation.changes.store.dir))
		run(func(c *changesCommand, out *strings.Builder) error { return c.rebuild(t.Context(), out, io.Discard) })
		if after := run(list); after != before || !strings.Contains(after, "wall (challenge:configured)") {
			t.Errorf("after the rebuild the changes are\n%s\nwant\n%s", after, before)
		}
	})
}
