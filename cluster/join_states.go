package cluster

import "github.com/arcrawl/arcrawl/admin/api"

// joinStates makes one state from the states of shards, which a node crawls.
func joinStates(node string, numbers []int, states []api.Status) api.Status {
	j := joining{shards: numbers}
	for range states {
		j.nodes = append(j.nodes, node)
	}
	out, _ := join(&j, states) // a test makes sure that all fields have tags
	for _, s := range states {
		if s.Condition.Why != "" {
			out.Condition = s.Condition // of a shard that has trouble, if one has
			break
		}
	}
	return out
}
