package aspects

import (
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
)

// Next holds when a URI is visited next, as the deciders have made it so far, and what else the settlement stores.
type Next struct {
	Record frontier.Record // of the URI after the visit
	Wait   evaluators.Wait
	Input  evaluators.WaitInput // what the stack decided from; zero if it was not asked

	// Because says why a decider has changed the due time. A decider of waits may leave it empty: the reason of the wait
	// says it.
	Because string

	Asked  time.Time            // the server wants no request before
	Rest   time.Time            // the whole host rests until then
	Robots *frontier.RobotsCopy // the copy of robots.txt in force from now on; nil = as before
	Reopen bool                 // the rules of robots.txt have changed

	chain  []Signature
	first  [4]Signature // of chain
	reason string       // of the wait, at the last signature
	due    time.Time    // at the last signature
}

// Signature says what one decider made of the next visit.
type Signature struct {
	By   string        // the name of the decider in order.go
	Was  time.Duration // from the visit to the next one before it was asked; 0 = nobody had decided
	Made time.Duration // and afterwards; 0 = it is visited on demand only
	Why  string
}

// Sign adds a signature of a decider, if it has changed the wait or the due time. The crawler calls it after each
// decider, so that no change is without a signature.
func (n *Next) Sign(by string, finished time.Time) {
	made := n.Wait.Interval
	if n.due != n.Record.Due || !n.due.IsZero() {
		made = max(n.Record.Due.Sub(finished), 0)
	}
	was := time.Duration(0)
	if len(n.chain) > 0 {
		was = n.chain[len(n.chain)-1].Made
	}
	why := n.Because
	n.Because = ""
	if why == "" {
		why = strings.TrimPrefix(strings.TrimPrefix(n.Wait.Reason, n.reason), "; ")
	}
	changed := made != was || n.Wait.Reason != n.reason
	n.reason, n.due = n.Wait.Reason, n.Record.Due
	if !changed || why == "" {
		return
	}
	if n.chain == nil {
		n.chain = n.first[:0]
	}
	n.chain = append(n.chain, Signature{By: by, Was: was, Made: made, Why: why})
}

// Text returns the chain as it is stored with the URI, such as "stack: unchanged: 12h × 1.5 = 18h; articles: young
// article: again when it is 3h old, so in 2h". It is empty if nobody overruled the first decider: then the reason of
// the wait says all.
func (n *Next) Text() string {
	if len(n.chain) < 2 {
		return ""
	}
	var b strings.Builder
	for i, s := range n.chain {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(s.By + ": " + s.Why)
		if i > 0 && s.Made != s.Was && s.Made > 0 {
			b.WriteString(", so in " + evaluators.Interval(s.Made))
		}
	}
	return b.String()
}
