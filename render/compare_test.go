package render_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/render/chromium"
	"github.com/arcrawl/arcrawl/uri"
)

// TestTheRenderedTextDecidesAboutTheNextVisit visits a page whose source differs each time, and renders it.
func TestTheRenderedTextDecidesAboutTheNextVisit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, changed+`[change]
of = "rendered"
mode = "scrubbed"
scrub = ['\d\d:\d\d']
scrub_css = [".ad"]
[[wait]]
rule = "classic"
mime = ".*"
initial = "12h"
`)
		defer w.close()
		visit := func(shows chromium.Result) (wait time.Duration, why string) {
			t.Helper()
			w.player.shows = shows
			began := w.now()
			w.visit(nil)
			<-w.player.done
			synctest.Wait()
			r, _, err := w.frontier.Get(uri.FromCanonical(front))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(r.Due.Sub(w.now()))
			return r.Due.Sub(began), r.Why
		}
		for _, c := range []struct {
			name  string
			shows chromium.Result
			wait  time.Duration // by the source it is 2/3 of the wait before
			text  bool          // the text decided
		}{
			{"the first rendering says nothing", chromium.Result{Compared: "News at 10:00"}, 12 * time.Hour, false},
			{"the same except for a clock and spaces", chromium.Result{Compared: "News  at\n11:30"}, 18 * time.Hour, true},
			{"another text", chromium.Result{Compared: "Other news at 11:30"}, 12 * time.Hour, false},
			{"not complete in time", chromium.Result{Compared: "Other", Late: true}, 8 * time.Hour, false},
			{"without text", chromium.Result{}, 5*time.Hour + 20*time.Minute, false},
			{"the same as when it was complete", chromium.Result{Compared: "Other news at 12:00"}, 8 * time.Hour, true},
		} {
			wait, why := visit(c.shows)
			if wait.Round(time.Minute) != c.wait || strings.HasSuffix(why, "the rendered text decided") != c.text {
				t.Errorf("%s: wait %v, want %v (%s)", c.name, wait, c.wait, why)
			}
		}
		if !slices.Equal(w.player.without, []string{".ad"}) {
			t.Errorf("the browser was to leave out %q", w.player.without)
		}
	})
}

// TestAPageThatWaitsIsRenderedForItsLastVisit visits a page twice before it is rendered.
func TestAPageThatWaitsIsRenderedForItsLastVisit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, changed+"[change]\nof = \"rendered\"\n[[wait]]\nrule = \"classic\"\nmime = \".*\"\n")
		defer w.close()
		w.player.shows, w.player.hold = chromium.Result{Compared: "text"}, make(chan struct{})
		for range 4 { // the first is rendered for long; the others wait
			w.visit(nil)
			synctest.Wait()
			time.Sleep(24 * time.Hour)
		}
		for range 2 {
			w.player.hold <- struct{}{}
			<-w.player.done
			synctest.Wait()
		}
		r, _, err := w.frontier.Get(uri.FromCanonical(front))
		if err != nil || !strings.HasSuffix(r.Why, "the rendered text decided") {
			t.Errorf("after the last rendering: %s, %v", r.Why, err)
		}
		if s := w.pool.Status(); s.Done != 2 || s.Dropped != 0 {
			t.Errorf("the status is %+v", s)
		}
	})
}
