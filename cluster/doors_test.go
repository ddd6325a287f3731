package cluster

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
)

// TestWhoCrawlsAShard asks a node for the owners of shards and for the bearers of certificates.
func TestWhoCrawlsAShard(t *testing.T) {
	t.Parallel()
	n := &thisNode{seen: make(chan sighting, 1)}
	if name, _ := n.Crawler(1); name != "" || n.Bearer([]byte("b")) != "" {
		t.Errorf("before the first beat: %q", name)
	}
	n.tell(shared.States{
		Shards: []shared.State{{Owner: "a"}, {Owner: "b"}, {}, {Owner: "c", Fenced: true}, {Owner: "d"}},
		Nodes: []shared.Member{
			{Name: "a"}, {Name: "b", Door: shared.Door{Address: "10.0.0.5:1", Print: []byte("b")}},
		},
	}, time.Now())
	for shard, want := range map[int][2]string{
		0: {}, 1: {"a", ""}, 2: {"b", "10.0.0.5:1"}, 3: {}, 4: {}, 5: {"d", ""}, 6: {},
	} {
		if name, door := n.Crawler(shard); name != want[0] || door.Address != want[1] {
			t.Errorf("shard %d: node %q at %q, want %q", shard, name, door.Address, want)
		}
	}
	for print, want := range map[string]string{"b": "b", "": "", "x": ""} {
		if got := n.Bearer([]byte(print)); got != want {
			t.Errorf("the certificate %q is of %q, want %q", print, got, want)
		}
	}
}
