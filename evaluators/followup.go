package evaluators

import (
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// rungGap is the minimum ratio of the next age of a ladder to the present age. A closer age is not worth a visit.
const rungGap = 1.2

// FollowUp shortens a wait so that a page is visited no later than when it reaches the next age of a ladder, in
// ascending order. Most versions of a news article appear in its first hours, when nothing has been learned about it
// yet. A shorter wait and a wait after the last age stay unchanged.
func FollowUp(w Wait, ladder []time.Duration, age time.Duration) Wait {
	for _, rung := range ladder {
		if float64(rung) <= rungGap*float64(age) {
			continue
		}
		if left := rung - max(age, 0); left < w.Interval {
			w.Interval = left
			w.Reason += "; young article: again when it is " + human.Interval(rung) + " old"
		}
		return w
	}
	return w
}
