package rate_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// TestWhatIsMissedFollowsFromTheTimeOfTheLastChange lets a page change at each visit, once a day. The other versions
// came before the last one: the later that was known, the fewer there can be.
func TestWhatIsMissedFollowsFromTheTimeOfTheLastChange(t *testing.T) {
	t.Parallel()
	versions := func(dated func(at time.Time) (last, silent time.Time)) float64 {
		var e rate.Estimator
		if err := e.Open(nil); err != nil {
			t.Fatal(err)
		}
		var found rate.Finding
		at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
		for day := range 30 {
			o := rate.Observation{At: at.Add(time.Duration(day) * 24 * time.Hour), Changed: true}
			o.ChangedAt, o.Silent = dated(o.At)
			found = e.Observe(o)
		}
		return found.Versions
	}
	undated := versions(func(time.Time) (last, silent time.Time) { return })
	early := versions(func(at time.Time) (last, silent time.Time) { return at.Add(-23 * time.Hour), silent })
	said := versions(func(at time.Time) (last, silent time.Time) { return at.Add(-time.Hour), at.Add(-2 * time.Hour) })
	if !(early < undated) || early > 1.2 || said > 1.2 || undated < 2 {
		t.Errorf("%.2f versions without dates, %.2f if the last change was an hour after the visit before, %.2f if a source said so an hour ago",
			undated, early, said)
	}
}
