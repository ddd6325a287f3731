package cluster

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cluster/shared"
)

// TestAClusterIsSummedAndItsAbsentNodesAreNamed shows two nodes that crawl next to one for each reason why a state is
// missing. A node that was drained and stopped is not missed.
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
	page := func(f fleetStatus) string {
		var page strings.Builder
		f.Database = nil
		if err := writeFleet(&page, f); err != nil {
			t.Fatal(err)
		}
		return page.String()
	}
	for _, want := range []string{
		"8 instances: 2 crawling, 6 no answer; 140 visits in the last hour", "\na         crawling   10     0     300",
		"\nall                  20     0     600   –        140", "\nc: no answer: it does not answer: another one takes over",
		"\nd: no answer: it does not answer", "\ne: no answer: it has not reported", "\nf: no answer: it has not reported",
		"\ng: no answer: its report cannot be read", "\ni: no answer: it does not answer",
	} {
		if !strings.Contains(page(all), want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if t.Failed() {
		t.Log(page(all))
	}
	for _, row := range []struct {
		nodes, orphans int
		want           string
	}{
		{9, 0, "no arcrawl answers for 6 of 8 instances: c, d, e, f, g, i"},
		{3, 7, "no arcrawl answers for 1 of 3 instances: c; 7 of 1,024 parts of the hosts are crawled by no node now"},
		{2, shared.Parts, "no arcrawl answers: no node crawls any hosts now"},
		{2, 7, "no arcrawl answers: 7 of 1,024 parts of the hosts are crawled by no node now"},
	} {
		f := fleetOfReports(shared.Report{Nodes: state.Nodes[:row.nodes], Orphans: row.orphans}, map[string]shared.Told{"a": {Text: text}, "b": {Text: text}})
		if row.nodes == 9 {
			f = all
		}
		if err := f.Missing(); err == nil || err.Error() != row.want {
			t.Errorf("who is missing: %v, want %s", err, row.want)
		}
	}
	if one := fleetOfReports(shared.Report{Nodes: state.Nodes[:1]}, map[string]shared.Told{"a": {Text: text}}); one.Missing() != nil {
		t.Errorf("a crawl of one node: %v", one.Missing())
	}
}
