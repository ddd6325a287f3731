package crawler_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
)

// Two hosts have the same pages. One of them sends correct Last-Modified times, and is believed after some of them were
// verified. From then on the estimate for its page is closer to the truth. A host that always sends the same time, or
// is not believed yet, is treated like a host that sends none.
func TestBelievedLastModifiedIsTheTimeOfTheChange(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, longPlay)
	rates := func(modified, settings string) []float64 {
		dir := t.TempDir()
		var list []float64
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, dir, settings+"[[wait]]\nmime = \".*\"\nrule = \"learned\"\n[seeds]\nuris = [\"http://a.example/\"]\n")
			w.set("http://a.example/", town.Page{Every: 5 * time.Hour, Modified: modified})
			w.run(4 * 24 * time.Hour)
			for _, r := range w.reports {
				if r.Wait.PerDay > 0 {
					list = append(list, r.Wait.PerDay)
				}
			}
		})
		return list
	}
	silent, honest, lying, off := rates("", ""), rates("honest", ""), rates("lie", ""), rates("honest", "[midfetch]\ndecide_by = \"off\"\n")
	same := func(a, b []float64) bool {
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if a[i] != b[i] {
				return false
			}
		}
		return true
	}
	if same(honest, silent) {
		t.Error("a believed Last-Modified does not change the estimate")
	}
	if !same(lying, silent) {
		t.Errorf("a Last-Modified that never changes has an effect: %.1f, %.1f", lying, silent)
	}
	if !same(off, silent) {
		t.Errorf("a Last-Modified that is not believed has an effect: %.1f, %.1f", off, silent)
	}
	t.Logf("4.8 changes a day; estimate at the end %.2f without dates, %.2f with dates", silent[len(silent)-1], honest[len(honest)-1])
}
