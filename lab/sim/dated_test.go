package sim

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestDatesHelpAndWrongDatesDoLittleHarm plays a news site that states when its pages changed. Some of the stated
// dates are true and some are invented.
func TestDatesHelpAndWrongDatesDoLittleHarm(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	const most = 90 * 24 * time.Hour
	all := NewsHost(4)[:300]
	lies := func(name string, of func(Visit) time.Time) Policy {
		p := Learned(most)
		p.Name, p.Host = name, datedBy(p.Host, of)
		return p
	}
	share := map[string]float64{}
	names := []string{"silent", "true", "half way", "a minute ago", "just after the last visit"}
	for i, p := range []Policy{
		Learned(most), Dated(most),
		lies("", func(v Visit) time.Time { return v.At.Add(-v.Elapsed / 2) }),
		lies("", func(v Visit) time.Time { return v.At.Add(-time.Minute) }),
		lies("", func(v Visit) time.Time { return v.At.Add(time.Second - v.Elapsed) }),
	} {
		p.Name = names[i]
		r := Compare(Question{Policies: []Policy{p}, Budgets: []float64{2}, Draws: 2, Seed: 1}, all)
		share[p.Name] = r[0].Share
	}
	t.Log(share)
	if share["true"] < share["silent"]-0.005 {
		t.Errorf("fewer versions are captured with dates: %v", share)
	}
	for _, lie := range names[2:] {
		if share[lie] < share["silent"]-0.1 {
			t.Errorf("with %q dates %.3f of the versions are captured, without dates %.3f", lie, share[lie], share["silent"])
		}
	}
}
