package evaluators

import (
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// rungGap is how far the next age of a ladder must lie ahead, in proportion to the present one, for a visit to be
// worth it.
const rungGap = 1.2

// FollowUp shortens a wait so that a page is visited at the latest when it reaches the next age of a ladder. Most
// versions of a news article appear in its first hours, when nothing has been learned of it yet. Ages grow from rung
// to rung; past the last one, and where the wait is shorter anyway, it stays as it is.
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
