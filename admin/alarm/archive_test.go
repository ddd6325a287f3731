package alarm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
)

func TestFilesThatCannotBeMovedAreATrouble(t *testing.T) {
	t.Parallel()
	var a api.Archive
	if got := alarm.ArchiveTroubles(a); len(got) > 0 {
		t.Errorf("an archive in order has the troubles %+v", got)
	}
	a.Offload = api.Offload{Since: api.Moment(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)), Error: "no room"}
	got := alarm.ArchiveTroubles(a)
	if len(got) != 1 || got[0].Kind != alarm.Folders || !strings.Contains(got[0].Text, "2026-11-22 12:00:00 UTC") ||
		!strings.HasSuffix(got[0].Text, "no room") {
		t.Errorf("the troubles are %+v", got)
	}
}
