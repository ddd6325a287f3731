package fleet

import (
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// TestJoinedAlarmsNameTheirNode joins the alarms of three nodes. The database concerns all.
func TestJoinedAlarmsNameTheirNode(t *testing.T) {
	t.Parallel()
	raised := func(text string) api.Alarm {
		return api.Alarm{Kind: "disk", Text: text, Since: time.Unix(int64(len(text)), 0)}
	}
	got := joinAlarms(nil, [][]api.Alarm{
		{raised("no replica")},
		{raised("no replica"), raised("full")},
		{raised("no replica"), raised("full"), raised("bad")},
	}, []string{"a", "b", "c"})
	var texts []string
	for _, a := range got {
		texts = append(texts, a.Text)
	}
	if want := []string{"no replica", "node b, c: full", "node c: bad"}; !slices.Equal(texts, want) {
		t.Errorf("%q, want %q", texts, want)
	}
}
