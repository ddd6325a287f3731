package fleet

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// nodesKey is the name of what is added to the state of a crawl.
const nodesKey = "cluster"

// addedStatus holds the addition of the wing to the state of a crawl, if the answer is about all nodes. The disk of the
// answer is then the one with the least space, and its archive has the files of all nodes.
type addedStatus struct {
	Nodes []nodeStatus `json:"nodes"`
}

// nodeStatus is the state of one node of a cluster.
type nodeStatus struct {
	Node      string        `json:"node"`
	Version   string        `json:"version"`
	Since     time.Time     `json:"since"` // its start
	Condition api.Condition `json:"condition"`
	Disk      api.Disk      `json:"disk"`
	Archive   api.Archive   `json:"archive"`
	Config    string        `json:"config"` // digest of the configuration in force there
	Faults    int           `json:"faults"` // of its last reload
}

// joinNodes lists the nodes, which the wing adds to the state of the crawl.
func joinNodes(_ *joining, all []api.Status, nodes []string) (out api.Status, err error) {
	var added addedStatus
	for i, s := range all {
		added.Nodes = append(added.Nodes, nodeStatus{
			Node: nodes[i], Version: s.Version, Since: s.Started, Condition: s.Condition, Disk: s.Disk, Archive: s.Archive,
			Config: s.Config.Digest, Faults: len(s.Config.Faults),
		})
	}
	text, err := json.Marshal(added)
	out.Wings = map[string]json.RawMessage{}
	maps.Copy(out.Wings, all[0].Wings)
	out.Wings[nodesKey] = text
	return out, err
}

// nodesOf returns the nodes in the state of a crawl; none if it is the state of one node.
func nodesOf(s api.Status) ([]nodeStatus, error) {
	var added addedStatus
	text := s.Wings[nodesKey]
	if text == nil {
		return nil, nil
	}
	err := json.Unmarshal(text, &added)
	return added.Nodes, err
}

// ShowNodes writes the nodes that share a crawl, as a part of the status of the whole crawl.
func ShowNodes(out io.Writer, s api.Status) {
	nodes, err := nodesOf(s)
	if err != nil {
		fmt.Fprintf(out, "nodes     cannot be read; do all nodes have one version? %v\n", err)
	}
	for _, n := range nodes {
		is := strings.TrimSuffix(n.Condition.State+": "+n.Condition.Why, ": ")
		fmt.Fprintf(out, "node      %s: since %s, %s free, %s\n", n.Node, n.Since.Local().Format(time.DateTime),
			free(n.Disk), is)
	}
}
