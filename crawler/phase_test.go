package crawler_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
)

// The daemon is stopped for some hours three times in 12 days, once while a visit is due. Each day has one capture, and
// the time of day does not drift: all captures except the late one are at the hour of the first.
func TestDailySeedIsCapturedOnceADay(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, "[[wait]]\nmime = \".*\"\nrule = \"fixed\"\nevery = \"24h\"\n[seeds]\nuris = [\"http://daily.example/\"]\n")
		defer w.town.Close()
		w.set("http://daily.example/", town.Page{Every: 5 * time.Hour})
		began := time.Now()
		w.run(11 * time.Hour)
		for day := 3; day <= 9; day += 3 {
			w.run(time.Duration(day)*24*time.Hour - 5*time.Hour - time.Since(began)) // until five hours before a visit
			down := 3 * time.Hour
			if day == 6 {
				down = 7 * time.Hour // including the time of the visit
			}
			time.Sleep(down)
		}
		w.run(12*24*time.Hour - time.Hour - time.Since(began))
		days, off := map[time.Duration]int{}, 0
		for _, r := range w.reports {
			if r.URI.RequestTarget() != "/" {
				continue
			}
			age := r.Finished.Sub(began)
			days[age/(24*time.Hour)]++
			if age%(24*time.Hour) > 5*time.Minute {
				off++
			}
		}
		for day := range time.Duration(12) {
			if days[day] != 1 {
				t.Errorf("day %d has %d captures, want one", day+1, days[day])
			}
		}
		if len(days) != 12 || off != 1 {
			t.Errorf("%d days have captures, %d of them at another hour than the first; want 12 days, 1 at another hour", len(days), off)
		}
	})
}
