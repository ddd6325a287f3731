package admin

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
)

// TestACrawlSaysWhichOneItIs opens a crawl with and without a name of its own. Status and notices always have a name;
// metrics have the label only with admin.instance.
func TestACrawlSaysWhichOneItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ setting, want, label string }{
		{"", "Test Library", ""},
		{"[admin]\ninstance = \"press \\\"2\\\"\"\n", `press "2"`, `crawl="press \"2\""`},
	} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, dir, c.setting+everyHour)
			defer w.Close()
			if got := w.window.Status().Instance; got != c.want {
				t.Errorf("the status is of %q, want %q", got, c.want)
			}
			n := w.window.notice(alarm.Change{}, time.Now())
			if n.Instance != c.want || n.Institution != "Test Library" || n.Source() != "arcrawl "+c.want {
				t.Errorf("the notice is of %q, %q; want %q", n.Instance, n.Institution, c.want)
			}
			text := w.scrape()
			series := regexp.MustCompile(`(?m)^[a-z].*$`).FindAllString(text, -1)
			with := 0
			for _, s := range series {
				if c.label != "" && strings.Contains(s, c.label) {
					with++
				}
			}
			if len(series) < 60 || with != len(series) && c.label != "" || c.label == "" && strings.Contains(text, "crawl=") {
				t.Errorf("%q: %d of %d series have the label %q", c.setting, with, len(series), c.label)
			}
		})
	}
}
