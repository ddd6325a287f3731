package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// addedStatus holds the addition of the wing to the state of a divided crawl, if the answer is about all of it. The
// disk of the answer is then the one with the least space, and its archive has the files of all nodes.
type addedStatus struct {
	Nodes []nodeStatus `json:"nodes"`
}

// nodeStatus is the state of one node of a cluster.
type nodeStatus struct {
	Node      string        `json:"node"`
	Shards    []int         `json:"shards"` // that it crawls
	Version   string        `json:"version"`
	Since     time.Time     `json:"since"` // it crawls all of these shards
	Condition api.Condition `json:"condition"`
	Disk      api.Disk      `json:"disk"`
	Archive   api.Archive   `json:"archive"`
	Config    string        `json:"config"` // digest of the configuration in force there
	Faults    int           `json:"faults"` // of its last reload
}

// joinNodes lists the nodes of the shards, which the wing adds to the state of the crawl. What concerns a node is taken
// from one of its shards.
func joinNodes(j *joining, all []api.Status, at []int) (out api.Status, err error) {
	var added addedStatus
	var order []string
	of := map[string][]int{}
	for i := range all {
		node := j.nodes[at[i]]
		if of[node] == nil {
			order = append(order, node)
		}
		of[node] = append(of[node], i)
	}
	for _, node := range order {
		own := joining{}
		var archives []api.Archive
		var states []api.Condition
		n := nodeStatus{Node: node}
		for k, i := range of[node] {
			s := all[i]
			if k == 0 {
				n.Version, n.Disk, n.Config = s.Version, s.Disk, s.Config.Digest
			}
			own.nodes, own.shards = append(own.nodes, node), append(own.shards, j.shards[at[i]])
			archives, states = append(archives, s.Archive), append(states, s.Condition)
			if s.Started.After(n.Since) {
				n.Since = s.Started
			}
			n.Faults = max(n.Faults, len(s.Config.Faults))
		}
		n.Shards = own.shards
		n.Condition = own.condition(states, places(len(states)))
		if n.Archive, err = join(&own, archives); err != nil {
			return out, err
		}
		added.Nodes = append(added.Nodes, n)
	}
	text, err := json.Marshal(added)
	out.Wings = map[string]json.RawMessage{}
	maps.Copy(out.Wings, all[0].Wings)
	out.Wings[wingName] = text
	return out, err
}

// nodesOf returns the nodes in the state of a crawl; none if it is not the state of a divided one.
func nodesOf(s api.Status) ([]nodeStatus, error) {
	var added addedStatus
	text := s.Wings[wingName]
	if text == nil {
		return nil, nil
	}
	err := json.Unmarshal(text, &added)
	return added.Nodes, err
}

// ShowNodes writes the nodes of a divided crawl, as a part of the status of the whole crawl.
func ShowNodes(out io.Writer, s api.Status) {
	nodes, err := nodesOf(s)
	if err != nil {
		fmt.Fprintf(out, "nodes     cannot be read; do all nodes have one version? %v\n", err)
	}
	for _, n := range nodes {
		shards := make([]string, len(n.Shards))
		for i, shard := range n.Shards {
			shards[i] = strconv.Itoa(shard)
		}
		is := strings.TrimSuffix(n.Condition.State+": "+n.Condition.Why, ": ")
		fmt.Fprintf(out, "node      %s: shard %s since %s, %s free, %s\n", n.Node, strings.Join(shards, ", "),
			n.Since.Local().Format(time.DateTime), free(n.Disk), is)
	}
}
