package admin

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/internal/town"
)

// TestLostFilesRaiseAnAlarm lets two files be gone, until one is back and the operator declares the other one lost.
func TestLostFilesRaiseAnAlarm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var losses []dedup.Loss
		w := newWorld(t, dir, everyHour, func(o *Options) {
			o.Stored = func(a *api.Archive) { a.Lost = api.CountLosses(losses) }
		})
		defer w.Close()
		w.Set("http://news.example/", town.Page{})
		check := func(when string, alarms int, metrics ...string) {
			t.Helper()
			list := get[api.Alarms](w, "/api/v1/alarms").Alarms
			if len(list) != alarms || alarms > 0 && (list[0].Kind != alarm.Lost || !strings.Contains(list[0].Text, "2 finished WARC files gone, such as a.warc.gz")) {
				t.Errorf("%s the alarms are %+v, want %d", when, list, alarms)
			}
			text := w.scrape()
			for _, m := range metrics {
				if !strings.Contains(text, "\narcrawl_lost_files"+m+"\n") {
					t.Errorf("%s the metrics do not have %s", when, m)
				}
			}
		}
		losses = []dedup.Loss{
			{File: "cut.warc.gz", From: 12, Cause: dedup.CutOff},
			{File: "purged.warc.gz", Cause: dedup.CutOff},
			{File: "moved.warc.gz", Cause: dedup.Moved},
		}
		w.Run(10 * time.Minute)
		check("after the end of a file was lost", 0, `{cause="absent"} 0`, `{cause="cut"} 1`, `{cause="declared"} 0`)
		losses = append(losses, dedup.Loss{File: "a.warc.gz", Cause: dedup.Absent}, dedup.Loss{File: "b.warc.gz", Cause: dedup.Absent})
		w.Run(10 * time.Minute)
		check("after files were gone", 1, `{cause="absent"} 2`)
		losses = append(losses[:3], dedup.Loss{File: "b.warc.gz", Cause: dedup.Declared})
		w.Run(10 * time.Minute)
		check("after the operator acted", 0, `{cause="absent"} 0`, `{cause="declared"} 1`)
	})
}
