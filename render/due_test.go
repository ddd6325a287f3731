package render

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

func TestDue(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	changed, every := config.Rendering{On: true}, config.Rendering{On: true, Every: 6 * time.Hour}
	for _, c := range []struct {
		name     string
		s        config.Rendering
		changed  bool
		rendered time.Time
		want     bool
	}{
		{"off", config.Rendering{}, true, time.Time{}, false},
		{"changed, a new version", changed, true, now.Add(-time.Minute), true},
		{"changed, an unchanged page", changed, false, time.Time{}, false},
		{"every 6h, for the first time", every, false, time.Time{}, true},
		{"every 6h, a new version too early", every, true, now.Add(-time.Hour), false},
		{"every 6h, an unchanged page in time", every, false, now.Add(-6 * time.Hour), true},
	} {
		if got := isDue(c.s, c.changed, c.rendered, now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
