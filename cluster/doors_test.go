package cluster

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/uri"
)

// TestWhoCrawlsAHost asks a node for the owners of hosts, for the nodes to ask, and for the bearers of certificates.
func TestWhoCrawlsAHost(t *testing.T) {
	t.Parallel()
	n := &thisNode{
		o: nodeOptions{Node: "b", Group: func(uri.Host) string { return "" }}, seen: make(chan sighting, 1),
		silent: map[string]bool{"gone": true},
	}
	st := shared.States{Parts: make([]shared.Part, shared.Parts), Nodes: []shared.Member{
		{Name: "a"},
		{Name: "b", Door: shared.Door{Address: "10.0.0.5:1", Print: []byte("b")}},
		{Name: "c", Fenced: true, Door: shared.Door{Address: "10.0.0.6:1", Print: []byte("c")}},
		{Name: "gone", Door: shared.Door{Address: "10.0.0.7:1"}},
		{Name: "idle", Door: shared.Door{Address: "10.0.0.8:1"}},
		{Name: "old"},
	}}
	hosts := []uri.Host{"free.example", "a.example", "b.example", "fenced.example"}
	for part := range st.Parts {
		st.Parts[part].Owner = "a"
	}
	for i, owner := range []string{"", "a", "b", "c"} {
		st.Parts[partOf(hosts[i], "")].Owner = owner
	}
	n.tell(st, time.Now())
	for i, want := range []string{"", "a", "b", ""} {
		if got := n.Crawler(hosts[i]); got != want {
			t.Errorf("%s is crawled by %q, want %q", hosts[i], got, want)
		}
	}
	if got := n.Uncrawled(); !strings.HasPrefix(got, "2 of 1,024 parts") {
		t.Errorf("nobody crawls: %s; want 2 parts", got)
	}
	if got := n.Names(); !slices.Equal(got, []string{"a", "b", "idle"}) || n.Name() != "b" {
		t.Errorf("the nodes to ask are %v", got)
	}
	for name, want := range map[string]string{"a": "", "b": "10.0.0.5:1", "c": "", "x": ""} {
		if got, _ := n.Door(name); got != want {
			t.Errorf("node %s answers at %q, want %q", name, got, want)
		}
	}
	for print, want := range map[string]string{"b": "b", "c": "", "": "", "x": ""} {
		if got := n.Bearer([]byte(print)); got != want {
			t.Errorf("the certificate %q is of %q, want %q", print, got, want)
		}
	}
	n = &thisNode{o: nodeOptions{Node: "b"}, seen: make(chan sighting, 1)}
	n.tell(shared.States{Parts: make([]shared.Part, shared.Parts)}, time.Now())
	if got := n.Names(); !slices.Equal(got, []string{"b"}) || n.Uncrawled() != "no node crawls any hosts now" {
		t.Errorf("with an empty crawl the nodes to ask are %v, and %s", got, n.Uncrawled())
	}
}
