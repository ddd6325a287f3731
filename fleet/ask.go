package fleet

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

// fleetPatience is how long a daemon may take to answer. A status takes milliseconds.
const fleetPatience = 10 * time.Second

// askFleet asks all daemons at once for their state, and waits for all of them, each at most for a time.
func askFleet(ctx context.Context, members []fleetMember, within time.Duration) api.Fleet {
	all := make([]api.Instance, len(members))
	var group sync.WaitGroup
	for i, m := range members {
		group.Go(func() { all[i] = m.ask(ctx, within) })
	}
	group.Wait()
	return api.Fleet{Instances: all}
}

// ask asks one daemon for its state.
func (m fleetMember) ask(ctx context.Context, within time.Duration) api.Instance {
	answer := api.Instance{Name: m.Name, Where: m.Where}
	c, err := m.client(within)
	if err == nil {
		defer c.Close()
		var s api.Status
		if s, err = c.Status(ctx); err == nil {
			answer.Status = &s
		}
	}
	if err != nil {
		answer.Error = err.Error()
	}
	return answer
}

// missing returns an error that names the daemons without an answer, and says which hosts nobody crawls; nil if all is
// well.
func missing(f api.Fleet) error {
	var names []string
	for _, i := range f.Instances {
		if i.Status == nil {
			names = append(names, i.Name)
		}
	}
	text, sep := "", ": "
	if len(names) > 0 {
		text, sep = fmt.Sprintf(" for %d of %d instances: %s", len(names), len(f.Instances), strings.Join(names, ", ")), "; "
	}
	if f.Database != nil {
		if what := f.Database.Uncrawled(); what != "" {
			text += sep + what
		}
	}
	if text == "" {
		return nil
	}
	return fmt.Errorf("%w%s", api.ErrNoDaemon, text)
}
