package cluster

import (
	"fmt"
	"testing"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
)

// TestAStateHasTheSumsOfAllShards joins the states of two shards, of which one is held.
func TestAStateHasTheSumsOfAllShards(t *testing.T) {
	t.Parallel()
	shard := func(hosts, due int64, c api.Condition, host string) (s api.Status) {
		s.Condition, s.URIs.Due = c, due
		s.Hosts.Known, s.LastDay.Visits = hosts, 10*hosts
		s.Alarms = []api.Alarm{{Kind: alarm.Disk}, {Kind: alarm.Host, About: host, Host: host}}
		return s
	}
	crawls, held := api.Condition{State: api.Crawling}, api.Condition{State: api.Held, Why: "disk is full"}
	for _, c := range []struct {
		due  int64
		want string
	}{
		{6, "{held disk is full <nil> <nil>} 7 11 70 3"},
		{-1, "{held disk is full <nil> <nil>} 7 -1 70 3"}, // one shard has not counted them
	} {
		is := joinStates("a", []int{1, 2}, []api.Status{
			shard(3, 5, crawls, "a.example"), shard(4, c.due, held, "b.example"),
		})
		got := fmt.Sprint(is.Condition, is.Hosts.Known, is.URIs.Due, is.LastDay.Visits, len(is.Alarms))
		if got != c.want {
			t.Errorf("the state of both: %s, want %s", got, c.want)
		}
	}
}
