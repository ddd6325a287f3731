package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
)

// everyone passes an order on to all shards, also if one of them refuses it or cannot be asked, and answers with their
// condition. An error says which shards have the order; it may be repeated.
func everyone(x *exchange, to http.ResponseWriter, from *http.Request, p plan) {
	var have []api.Condition
	var j joining
	var done, failed []string
	for _, shard := range p.shards {
		a, why := x.ask(from, shard, from.URL.Query(), x.body)
		switch {
		case why != "":
		case a.status != http.StatusOK && len(done)+len(failed) == 0:
			a.write(to) // the order is wrong, or the caller may not give it
			return
		case a.status != http.StatusOK:
			why = fmt.Sprintf("shard %d refuses: %s", shard, a.why())
		default:
			var one api.Condition
			if err := json.Unmarshal(a.body.Bytes(), &one); err != nil {
				why = fmt.Sprintf("the answer of shard %d cannot be read; do all nodes have one version? %v", shard, err)
			}
			have, j.shards, j.nodes = append(have, one), append(j.shards, shard), append(j.nodes, x.Node(shard))
		}
		if why != "" {
			failed = append(failed, why)
			continue
		}
		done = append(done, strconv.Itoa(shard))
	}
	if len(failed) > 0 {
		where := "done in no shard"
		if len(done) > 0 {
			where = "done in the shards " + strings.Join(done, ", ")
		}
		problem(to, http.StatusBadGateway, strings.Join(slices.Compact(failed), "; ")+"; "+where+"; repeat it for the others")
		return
	}
	answerWith(to, j.condition(have, places(len(have))))
}
