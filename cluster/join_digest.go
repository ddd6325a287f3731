package cluster

import (
	"cmp"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/messages"
)

// joinDigests makes one digest from the digests of shards, which a node crawls.
func joinDigests(node string, numbers []int, list []messages.Summary) messages.Summary {
	out, j, states := list[0], joining{shards: numbers}, make([]api.Status, len(list))
	out.Short, out.ShortError = nil, ""
	for i, summary := range list {
		j.nodes, states[i] = append(j.nodes, node), summary.Status
		out.Short, out.ShortError = append(out.Short, summary.Short...), cmp.Or(out.ShortError, summary.ShortError)
	}
	out.Status, _ = join(&j, states) // a test makes sure that all fields have tags
	for _, s := range states {
		if s.Condition.Why != "" {
			out.Status.Condition = s.Condition // of a shard that has trouble, if one has
			break
		}
	}
	return out
}
