package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cluster/shared"
)

// TestTheStatesOfAllNodesAreRead shows two nodes that crawl next to one for each reason why a state is missing. A node
// that was drained and stopped is not missed.
func TestTheStatesOfAllNodesAreRead(t *testing.T) {
	t.Parallel()
	s := api.Status{Condition: api.Condition{State: api.Crawling}, Disk: api.Disk{Free: -1}}
	for range 500 {
		s.Alarms = append(s.Alarms, api.Alarm{Kind: "host", Text: strings.Repeat("down ", 50)})
	}
	text, err := reportState(s)
	if err != nil || len(text) > 100<<10 {
		t.Fatalf("a report has %d bytes: %v", len(text), err)
	}
	state := shared.Report{
		Orphans: 7,
		Nodes: []shared.NodeReport{
			{Name: "a", Alive: true, Parts: 512},
			{Name: "b", Alive: true},
			{Name: "c", Alive: true, Fenced: true},
			{Name: "d"},
			{Name: "e", Alive: true},
			{Name: "f", Alive: true},
			{Name: "g", Alive: true},
			{Name: "h", Draining: true},
			{Name: "i", Draining: true, Parts: 2},
		},
	}
	all := fleetOfReports(state, map[string]shared.Told{
		"a": {Text: text}, "b": {Beats: 9, Text: text}, "c": {Text: text}, "d": {Text: text}, "e": {Beats: 300, Text: text},
		"g": {Text: []byte("{")},
	})
	var got []string
	for _, i := range all.Instances {
		if i.Status == nil != (i.Error != "") {
			t.Errorf("node %s has the state %v and the error %q", i.Name, i.Status, i.Error)
		}
		words := strings.Fields(i.Error)
		got = append(got, strings.TrimSpace(fmt.Sprintln(i.Name, strings.Join(words[:min(len(words), 4)], " "))))
	}
	want := []string{
		"a", "b", "c it does not answer:", "d it does not answer:", "e it has not reported", "f it has not reported",
		"g its report cannot be", "i it does not answer:",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the nodes are %q, want %q", got, want)
	}
	if what := all.Database.Uncrawled(); what != "7 of 1,024 parts of the hosts are crawled by no node now" {
		t.Errorf("nobody crawls: %s", what)
	}
}
