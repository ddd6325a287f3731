package curator

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestTitlesOfPagesAreStored crawls a page for a day, most visits of which find it unchanged, and searches its title
// among the known URIs.
func TestTitlesOfPagesAreStored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		w.Set("http://news.example/", testcrawl.Page{Body: "<title>The first  headline</title><p>news</p>"})
		w.Run(5 * time.Hour)
		titled := func(part, want string) {
			t.Helper()
			found := get[Found](w, "/api/v1/search?q="+part)
			if len(found.URIs) != 1 || found.URIs[0].Title != want || found.URIs[0].Visits < 5 {
				t.Errorf("%s finds %+v", part, found.URIs)
			}
		}
		titled("HEADLINE", "The first headline")
		w.Set("http://news.example/", testcrawl.Page{Body: "<title>A later title</title><p>news</p>"})
		w.Run(5 * time.Hour)
		titled("later", "A later title")
		if old := get[Found](w, "/api/v1/search?q=headline"); len(old.URIs) != 0 {
			t.Errorf("the title of before finds %+v", old.URIs)
		}
	})
}
