package render_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/render/chromium"
	"github.com/arcrawl/arcrawl/uri"
)

// byText lets the rendered text decide, by the rule of Heritrix.
const byText = changed + "limit = \"1m\"\n[change]\nof = \"rendered\"\n" +
	"[[wait]]\nrule = \"classic\"\nmime = \".*\"\ninitial = \"12h\"\n"

// TestALateRenderingMakesNoURIOverdue renders a page shortly before its next visit. The text has changed, and the
// source has not: by the text the visit was due hours ago. Visits are not late because of that, nor do they wait for a
// rendering that stands still.
func TestALateRenderingMakesNoURIOverdue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, byText)
		defer w.close()
		w.player.hold = make(chan struct{})
		renders := func(text string) {
			w.player.shows = chromium.Result{Compared: text}
			w.player.hold <- struct{}{}
			<-w.player.done
			synctest.Wait()
		}
		due := func() frontier.Record {
			r, _, err := w.frontier.Get(uri.FromCanonical(front))
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		w.visit(nil)
		renders("text")
		w.unchanged = true
		time.Sleep(due().Due.Sub(w.now()))
		w.visit(nil) // the source has not changed: the next visit is 18 hours later, by the text 8
		time.Sleep(17 * time.Hour)
		renders("other text")
		r := due()
		if late := w.now().Sub(r.Due); late > 0 || !strings.HasSuffix(r.Why, "the rendered text decided") {
			t.Errorf("the page is overdue for %v (%s)", late, r.Why)
		}
		w.visit(nil) // and the next rendering waits
		time.Sleep(due().Due.Sub(w.now()))
		claim, ok, err := w.frontier.Claim(w.now())
		if err != nil || !ok || claim.Overdue > time.Second {
			t.Errorf("during a rendering the next visit is %v late, %t, %v", claim.Overdue, ok, err)
		}
		if err := w.frontier.Release(claim, w.now()); err != nil {
			t.Error(err)
		}
		close(w.player.hold)
	})
}

// TestTheTextOfAPageWithARefusedRequestDecides renders a page with a script that robots.txt forbids, or whose
// robots.txt cannot be fetched.
func TestTheTextOfAPageWithARefusedRequestDecides(t *testing.T) {
	t.Parallel()
	for why, decides := range map[string]bool{"robotsExcluded": true, aspects.Unreached: false} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := open(t, byText, chromium.Request{URI: front + "count.js", Kind: chromium.Script})
				defer w.close()
				w.player.shows = chromium.Result{Compared: "text"}
				w.why = why
				w.visit(nil)
				synctest.Wait()
				time.Sleep(10 * time.Second) // the host rests
				w.visit(func(r *frontier.Record) {
					r.LastStatus, r.Origin, r.LastVisit = aspects.StatusForbidden, digest.Origin{}, time.Time{}
					r.ContentType = "text/javascript"
				})
				<-w.player.done
				synctest.Wait()
				r, _, err := w.frontier.Get(uri.FromCanonical(front))
				if err != nil || (r.Rendered != "") != decides {
					t.Errorf("the text was compared: %t, want %t (%v)", r.Rendered != "", decides, err)
				}
			})
		})
	}
}
