package misfortune

import (
	"fmt"

	"github.com/arcrawl/arcrawl/evaluators"
)

// GoneWait returns the wait of a URI that was found gone n times in a row: a ladder until that is confirmed, a long
// wait from then on.
func GoneWait(n int, s Options) evaluators.Wait {
	if n < s.GoneAfter {
		ladder := evaluators.Ladder{First: s.GoneFirst, Factor: 4, Max: max(s.GoneFirst, s.GoneWait)}
		return evaluators.Wait{
			Interval: ladder.Wait(n), Evaluator: WaitGone,
			Reason: fmt.Sprintf("gone, %d of %d visits that confirm it", n, s.GoneAfter),
		}
	}
	return evaluators.Wait{
		Interval: s.GoneWait, Evaluator: WaitGone, Reason: fmt.Sprintf("gone, %d visits in a row", n),
	}
}
