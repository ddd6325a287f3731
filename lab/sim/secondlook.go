package sim

import (
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// lookDelay is the time between a visit and the second look: the rest of a host.
const lookDelay = 10 * time.Second

// looker looks twice at one page, as the crawler does.
type looker struct {
	evaluators.Look
	second evaluators.SecondLook
	entry  evaluators.WaitEvaluator
	on     bool
	perDay float64 // changes per day expected at the last visit that the rule learned from
}

func newLooker(second evaluators.SecondLook, entry evaluators.WaitEvaluator) *looker {
	l := &looker{second: second, entry: entry}
	l.on = l.second.Applies(entry)
	return l
}

// state returns the state of a visit by the comparison that decides about the wait.
func (l *looker) state(v Visit) evaluators.State {
	if l.Noisy() {
		return v.Seen
	}
	return v.State
}

// plan returns the plan after a visit from which the wait rule learns nothing. It returns false for all other visits.
func (l *looker) plan(v Visit, in *evaluators.WaitInput, family families) (Plan, bool) {
	switch {
	case !l.on:
		return Plan{}, false
	case l.Open > 0:
		return l.look(v, in, family), true
	case l.Finding != evaluators.Restless:
		return Plan{}, false
	}
	w := l.second.RestlessWait(l.entry, v.Stretch)
	var again bool
	l.Look, again = l.second.Due(l.Look, l.state(v), w, v.At)
	switch {
	case again:
		return Plan{Wait: lookDelay, Look: true}, true
	case l.Finding != evaluators.Restless:
		return Plan{}, false
	}
	return Plan{Wait: w.Interval}, true
}

// look returns the plan after a second look.
func (l *looker) look(v Visit, in *evaluators.WaitInput, family families) Plan {
	outcome := evaluators.LookDiffers
	switch {
	case l.state(v) == evaluators.Unchanged:
		outcome = evaluators.LookSame
	case v.Seen == evaluators.Unchanged:
		outcome = evaluators.LookNoisy
	}
	var again bool
	if l.Look, again = l.second.Closed(l.Look, outcome, v.At); again {
		return Plan{Wait: lookDelay, Look: true}
	}
	if outcome != evaluators.LookSame {
		if kind, lesson := in.Memory.Leave(); kind != 0 && family != nil {
			family[kind] = family[kind].Plus(lesson)
		}
		in.Memory, in.Previous = nil, 0
	}
	if outcome == evaluators.LookNoisy {
		l.View, in.Previous = evaluators.SeenExact, evaluators.NoisyBegin
	}
	if l.Finding == evaluators.Restless {
		return Plan{Wait: l.second.RestlessWait(l.entry, v.Stretch).Interval}
	}
	return Plan{Wait: l.UntilPlanned(v.At), PerDay: l.perDay}
}

// then returns the plan after a visit from which the rule learned: a second look, or the given plan.
func (l *looker) then(plan Plan, v Visit, w evaluators.Wait) Plan {
	l.perDay = plan.PerDay
	if !l.on || v.First {
		return plan
	}
	var look bool
	if l.Look, look = l.second.Due(l.Look, l.state(v), w, v.At); look {
		plan.Wait, plan.Look = lookDelay, true
	}
	return plan
}
