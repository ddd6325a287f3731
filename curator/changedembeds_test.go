package curator

import (
	"net/http"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// TestAComparisonNamesWhatAPageShowsIfThatChanged compares two versions of a page whose text stays the same, while one
// of its two pictures changes under its old name.
func TestAComparisonNamesWhatAPageShowsIfThatChanged(t *testing.T) {
	t.Parallel()
	const site = "http://www.a.example"
	a := newArchived(t)
	picture := func(name, content string) {
		head := "HTTP/1.1 200 OK\r\nContent-Type: image/png"
		a.add(a.Page(site+name, head, content), "image/png", http.StatusOK)
	}
	text := func(day string) {
		body := "<p>the same</p><img src=/logo.png><img src=/chart.png><!-- " + day + " -->"
		a.add(a.Page(site+"/", archivetest.HTMLHead, body), "text/html", http.StatusOK)
	}
	text("Monday")
	picture("/logo.png", "a logo")
	picture("/chart.png", "a chart of Monday")
	picture("/chart.png", "a chart of Tuesday")
	picture("/logo.png", "a logo")
	text("Tuesday")
	u, err := uri.Parse(site + "/")
	archivetest.Must(t, err)
	inForce := testcrawl.Load(t, t.TempDir(), testcrawl.EveryHour)
	c := catalog{Archive: a.reader, Config: func() *config.Config { return inForce }}
	got, err := c.Compare(t.Context(), access.Curate, u, "", "", "text", a.Now)
	if err != nil || got.Changed != 0 || got.Problem != "" {
		t.Fatalf("%+v, %v; want the same text", got, err)
	}
	if len(got.Embeds) != 1 || got.Embeds[0].URI != site+"/chart.png" || got.Embeds[0].Type != "image/png" ||
		!strings.HasPrefix(got.Embeds[0].Compare, "/#/compare?u=http%3A%2F%2Fwww.a.example%2Fchart.png&before=") {
		t.Errorf("what the page shows and has changed: %+v, want the chart", got.Embeds)
	}
	if got, err = c.Compare(t.Context(), access.Curate, u, "", "", "source", a.Now); err != nil || got.Embeds != nil {
		t.Errorf("the source is compared alone, not %+v, %v", got.Embeds, err)
	}
}
