package admin

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/town"
)

// TestFinishedFilesThatNobodyTakesRaiseAnAlarm lets the program that takes finished files fail for five minutes, and
// later for an hour.
func TestFinishedFilesThatNobodyTakesRaiseAnAlarm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var h api.Handover
		w := newWorld(t, dir, everyHour, func(o *Options) { o.Stored = func(a *api.Archive) { a.Handover = h } })
		defer w.Close()
		w.Set("http://news.example/", town.Page{})
		check := func(when string, want int) {
			t.Helper()
			list := get[api.Alarms](w, "/api/v1/alarms").Alarms
			if len(list) != want {
				t.Fatalf("%s the alarms are %+v, want %d", when, list, want)
			}
			if want > 0 && (list[0].Kind != alarm.Sealed || !strings.Contains(list[0].Text, "2 finished WARC files not taken") ||
				!strings.Contains(list[0].Text, "no space on the tape")) {
				t.Errorf("%s the alarm is %+v", when, list[0])
			}
		}
		fail := func() { h = api.Handover{Waiting: 2, Since: api.Moment(time.Now()), Error: "no space on the tape"} }
		fail()
		w.Run(5 * time.Minute)
		h = api.Handover{}
		w.Run(5 * time.Minute)
		check("after five minutes", 0)
		fail()
		w.Run(time.Hour)
		check("after an hour", 1)
		if text := w.scrape(); !strings.Contains(text, "\narcrawl_sealed_waiting 2\n") || !strings.Contains(text, `arcrawl_alarms{kind="sealed"} 1`) {
			t.Error("the metrics do not have the files and the alarm")
		}
		h = api.Handover{}
		w.Run(10 * time.Minute)
		check("after the files were taken", 0)
	})
}
