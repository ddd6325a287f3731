package cluster

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cluster/shared"
)

// fleetPatience is how long a daemon may take to answer. A status takes milliseconds.
const fleetPatience = 10 * time.Second

// fleetStatus holds the answers of all daemons of a list.
type fleetStatus struct {
	Instances []instance     `json:"instances"`          // in the order of the list
	Database  *shared.Report `json:"database,omitempty"` // what the database of a cluster says of its nodes
}

// instance is the answer of one daemon.
type instance struct {
	Name   string      `json:"name"` // in the list
	Where  string      `json:"where"`
	Error  string      `json:"error,omitempty"` // why there is no status
	Status *api.Status `json:"status"`          // null if the daemon did not answer
}

// askFleet asks all daemons at once for their state, and waits for all of them, each at most for a time.
func askFleet(ctx context.Context, members []fleetMember, within time.Duration) fleetStatus {
	all := make([]instance, len(members))
	var group sync.WaitGroup
	for i, m := range members {
		group.Go(func() { all[i] = m.ask(ctx, within) })
	}
	group.Wait()
	return fleetStatus{Instances: all}
}

// ask asks one daemon for its state.
func (m fleetMember) ask(ctx context.Context, within time.Duration) instance {
	answer := instance{Name: m.Name, Where: m.Where}
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

// Missing returns an error that names the daemons without an answer, and says which hosts nobody crawls; nil if all is
// well.
func (f fleetStatus) Missing() error {
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
	if f.Database != nil && f.Database.Orphans > 0 {
		text += sep + orphans(f.Database.Orphans)
	}
	if text == "" {
		return nil
	}
	return fmt.Errorf("%w%s", api.ErrNoDaemon, text)
}
