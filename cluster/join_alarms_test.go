package cluster

import (
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// TestJoinedAlarmsNameTheirNode joins the alarms of three shards on two nodes. The database concerns both.
func TestJoinedAlarmsNameTheirNode(t *testing.T) {
	t.Parallel()
	raised := func(text string) api.Alarm {
		return api.Alarm{Kind: "disk", Text: text, Since: time.Unix(int64(len(text)), 0)}
	}
	j := &joining{shards: []int{1, 2, 3}, nodes: []string{"a", "b", "b"}}
	got := joinAlarms(j, [][]api.Alarm{
		{raised("no replica")},
		{raised("no replica"), raised("full")},
		{raised("no replica"), raised("full"), raised("bad")},
	}, []int{0, 1, 2})
	var texts []string
	for _, a := range got {
		texts = append(texts, a.Text)
	}
	if want := []string{"no replica", "node b: full", "node b: bad"}; !slices.Equal(texts, want) {
		t.Errorf("%q, want %q", texts, want)
	}
}
