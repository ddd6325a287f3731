package cluster

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cluster/shared"
)

// TestAClusterIsSummedAndItsAbsentNodesAreNamed shows two shards that crawl next to one for each reason why a state is
// missing.
func TestAClusterIsSummedAndItsAbsentNodesAreNamed(t *testing.T) {
	t.Parallel()
	s := api.Status{Condition: api.Condition{State: api.Crawling}, Disk: api.Disk{Free: -1}}
	s.Hosts.Known, s.URIs.Known, s.LastHour.Visits = 10, 300, 70
	for range 500 {
		s.Alarms = append(s.Alarms, api.Alarm{Kind: "host", Text: strings.Repeat("down ", 50)})
	}
	text, err := reportState(s)
	if err != nil || len(text) > 100<<10 {
		t.Fatalf("a report has %d bytes: %v", len(text), err)
	}
	state := shared.Report{
		Nodes: []shared.NodeReport{{Name: "a", Alive: true}, {Name: "b", Alive: true, Fenced: true}, {Name: "c", Alive: true}},
		Shards: []shared.ShardReport{
			{Owner: "a", Epoch: 1},
			{Owner: "a", Epoch: 2},
			{Owner: ""},
			{Owner: "b", Epoch: 3},
			{Owner: "c", Epoch: 4},
			{Owner: "c", Epoch: 4},
			{Owner: "c", Epoch: 4},
		},
	}
	all := fleetOfReports(state, map[int]shared.Told{
		1: {Node: "a", Epoch: 1, Text: text},
		2: {Node: "a", Epoch: 2, Beats: 9, Text: text},
		4: {Node: "b", Epoch: 3, Text: text},
		5: {Node: "c", Epoch: 4, Beats: 300, Text: text},
		6: {Node: "b", Epoch: 3, Text: text}, // of the owner before
		7: {Node: "c", Epoch: 4, Text: []byte("{")},
	})
	var page strings.Builder
	if err := writeFleet(&page, all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"7 instances: 2 crawling, 5 no answer; 140 visits in the last hour", "\na/1       crawling   10     0     300",
		"\nall                  20     0     600   –        140", "\nshard 3: no answer: no node crawls it",
		"\nb/4: no answer: its node does not answer", "\nc/5: no answer: its node has not reported", "\nc/6: no answer: its node has not",
		"\nc/7: no answer: the report of its node cannot be read",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if t.Failed() {
		t.Log(page.String())
	}
	if err := all.Missing(); err == nil || !strings.Contains(err.Error(), "5 of 7 instances: shard 3, b/4, c/5, c/6, c/7") {
		t.Errorf("who is missing: %v", err)
	}
	one := fleetOfReports(shared.Report{Nodes: state.Nodes, Shards: state.Shards[:1]}, map[int]shared.Told{1: {Node: "a", Epoch: 1, Text: text}})
	if one.Missing() != nil || one.Instances[0].Name != "a" {
		t.Errorf("a crawl that was never divided: %+v", one)
	}
}
