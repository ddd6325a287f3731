package config_test

import (
	"fmt"
	"testing"
	"time"
)

func TestUnsetBoundsFollowTheRule(t *testing.T) {
	t.Parallel()
	const entry = "[[wait]]\nmime = \"^text/html.*\"\n"
	for _, tt := range []struct {
		name, main, host string
		rule             string
		min, max         time.Duration
	}{
		{"the learned rule waits 5 minutes to 90 days", entry + "rule = \"learned\"\n", "", "evaluators.Learned", 5 * time.Minute, 90 * day},
		{"a bound of the same entry is kept", entry + "rule = \"learned\"\nmax = \"10d\"\n", "", "evaluators.Learned", 5 * time.Minute, 10 * day},
		{"a bound of a shadowed entry is kept", entry + "min = \"2h\"\n", entry + "rule = \"learned\"\n", "evaluators.Learned", 2 * time.Hour, 90 * day},
		{"another rule brings its own bounds", entry + "rule = \"learned\"\n", entry + "rule = \"classic\"\n", "evaluators.Classic", time.Hour, 28 * day},
		{"the built-in stack is shadowed like any other", "", "[[wait]]\nmime = \"^text/.*$\"\nrule = \"learned\"\n", "evaluators.Learned", 5 * time.Minute, 90 * day},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := load(t, tt.main, "www.news.example.toml", tt.host).ForHost("www.news.example", time.Time{}).Wait[0]
			shortest, longest := e.Rule.Bounds()
			if rule := fmt.Sprintf("%T", e.Rule); rule != tt.rule || shortest != tt.min || longest != tt.max {
				t.Errorf("%v from %v to %v, want %v from %v to %v", rule, shortest, longest, tt.rule, tt.min, tt.max)
			}
		})
	}
}
