package alarm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
)

func TestFilesThatCannotBeMovedOrUploadedAreATrouble(t *testing.T) {
	t.Parallel()
	var a api.Archive
	if got := alarm.ArchiveTroubles(a); len(got) > 0 {
		t.Errorf("an archive in order has the troubles %+v", got)
	}
	a.Database = "no replica"
	if got := alarm.ArchiveTroubles(a); len(got) != 1 || got[0] != (alarm.Trouble{Kind: alarm.Database, Text: "no replica"}) {
		t.Errorf("a database without replica has the troubles %+v", got)
	}
	a.Database = ""
	a.Offload = api.Offload{Since: api.Moment(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)), Error: "no room"}
	a.Offload.Upload = &api.Upload{Bucket: "https://s3.example/x", Waiting: 2, Since: a.Offload.Since, Error: "busy"}
	got := alarm.ArchiveTroubles(a)
	const want = "2 finished WARC files not uploaded to https://s3.example/x since 2026-11-22"
	if len(got) == 2 && (got[1].Kind != alarm.Upload || !strings.HasPrefix(got[1].Text, want)) {
		t.Errorf("the upload is the trouble %+v", got[1])
	}
	if len(got) != 2 || got[0].Kind != alarm.Folders || !strings.Contains(got[0].Text, "2026-11-22 12:00:00 UTC") ||
		!strings.HasSuffix(got[0].Text, "no room") {
		t.Errorf("the troubles are %+v", got)
	}
}
