package admin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/foreign"
)

// TestAlertRules runs promtool's tests of the alert rules. The rules must not fire on a healthy crawl.
func TestAlertRules(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"check", "rules", "../packaging/monitoring/alerts.yaml"},
		{"test", "rules", "testdata/alerts.test.yaml"},
	} {
		if out, err := foreign.Promtool(t, args...); err != nil || !strings.Contains(out, "SUCCESS") {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

// TestGrafanaDashboardSelectsInstances checks each expression of the dashboard: its syntax, that it selects the chosen
// instances, and that it does not add up instances.
func TestGrafanaDashboardSelectsInstances(t *testing.T) {
	t.Parallel()
	var board struct {
		Templating struct{ List []struct{ Name string } }
		Panels     []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	text, err := os.ReadFile("../packaging/monitoring/grafana-dashboard.json")
	if err == nil {
		err = json.Unmarshal(text, &board)
	}
	if err != nil {
		t.Fatal(err)
	}
	if l := board.Templating.List; len(l) != 2 || l[1].Name != "instance" {
		t.Errorf("the variables are %+v; want an instance", l)
	}
	metric := regexp.MustCompile(`arcrawl_[a-z_]+(\{[^}]*\})?`)
	rules := "groups:\n- name: dashboard\n  rules:\n"
	n := 0
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			for _, m := range metric.FindAllString(target.Expr, -1) {
				if !strings.Contains(m, `instance=~"$instance"`) {
					t.Errorf("%s: %s does not select the instance", p.Title, m)
				}
			}
			if strings.Contains(target.Expr, " by (") && !strings.Contains(target.Expr, "by (instance, ") {
				t.Errorf("%s: %s adds up instances", p.Title, target.Expr)
			}
			if !strings.Contains(target.LegendFormat, "{{instance}}") {
				t.Errorf("%s: the legend %q does not name the instance", p.Title, target.LegendFormat)
			}
			rules += fmt.Sprintf("  - {record: 'panel:%d', expr: '%s'}\n", n, target.Expr)
			n++
		}
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := foreign.Promtool(t, "check", "rules", file); err != nil || n == 0 || !strings.Contains(out, fmt.Sprintf("%d rules found", n)) {
		t.Errorf("promtool on the expressions: %v\n%s", err, out)
	}
}
