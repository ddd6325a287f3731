package cluster

import (
	"fmt"
	"testing"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/messages"
)

// TestADigestHasTheSumsOfAllShards joins the digests of two shards, of which one is held.
func TestADigestHasTheSumsOfAllShards(t *testing.T) {
	t.Parallel()
	shard := func(hosts, due int64, c api.Condition, host string) (s messages.Summary) {
		s.Status.Condition, s.Status.URIs.Due = c, due
		s.Status.Hosts.Known, s.Status.LastDay.Visits = hosts, 10*hosts
		s.Status.Alarms = []api.Alarm{{Kind: alarm.Disk}, {Kind: alarm.Host, About: host, Host: host}}
		s.Short = []api.HostPace{{Host: host}}
		return s
	}
	crawls, held := api.Condition{State: api.Crawling}, api.Condition{State: api.Held, Why: "disk is full"}
	for _, c := range []struct {
		due  int64
		want string
	}{
		{6, "{held disk is full <nil> <nil>} 7 11 70 3 2"},
		{-1, "{held disk is full <nil> <nil>} 7 -1 70 3 2"}, // one shard has not counted them
	} {
		s := joinDigests("a", []int{1, 2}, []messages.Summary{
			shard(3, 5, crawls, "a.example"), shard(4, c.due, held, "b.example"),
		})
		is := s.Status
		got := fmt.Sprint(is.Condition, is.Hosts.Known, is.URIs.Due, is.LastDay.Visits, len(is.Alarms), len(s.Short))
		if got != c.want {
			t.Errorf("the digest of both: %s, want %s", got, c.want)
		}
	}
}
