package crawler

import (
	"errors"
	"fmt"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/crawler/history"
)

// unfetched makes a visit one of a URI for which no exchange could be made, because of a fault that concerns only it.
func (c *Crawler) unfetched(v *aspects.Visit, err error) *aspects.Visit {
	nothing := c.noAnswer(v.Began)
	nothing.URI, nothing.Status = v.URI(), misfortune.Status
	c.take(v, nothing)
	v.Break(fmt.Errorf("fetch %s: %w", v.URI(), err))
	return v
}

// quarantine makes a visit a misfortune of its URI alone, because the document could not be processed, and schedules
// it as such.
func (c *Crawler) quarantine(v *aspects.Visit, err error) {
	v.Break(err)
	v.Next = aspects.Next{Record: history.Add(*v.Record(), historyVisit(v))}
	n := &v.Next
	n.Wait = misfortune.Wait(v.Fault, n.Record.Failures, settingsOf(v).Retry)
	n.Record.Why = n.Wait.Why()
	n.Record.Due = v.Finished.Add(n.Wait.Interval)
	n.Record.Chain = ""
	c.aspects.robots.Quarantine(v)
}

// writeOther archives a visit whose record was refused: the whole answer in place of a revisit, or else nothing. A
// refused revisit is a fault of the original, which the whole answer replaces. An error is ours.
func (c *Crawler) writeOther(v *aspects.Visit, s *settings, a aspects.Kept, refused error) (aspects.Kept, error) {
	if a.Keeping == aspects.KeptRevisit {
		a = aspects.Kept{Keeping: aspects.KeptResponse, Looked: a.Looked, Unsound: true}
		w, err := c.write(v, s, a)
		if err == nil {
			v.Fault = refused
			a.Record, a.Written, a.Origin = w.Origin, w.Bytes, w.Origin
			return a, nil
		}
		refused = errors.Join(refused, err)
	}
	if misfortune.IsOurs(refused) {
		return aspects.Kept{}, refused
	}
	v.Break(refused)
	return aspects.Kept{Keeping: aspects.KeptNothing}, nil
}
