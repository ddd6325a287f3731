package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

const inventedHistories = "sim/testdata/invented.jsonl"

// command runs a command line of this wing as the program does. It returns the exit code and the output.
func command(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	root := cli.Group("arcrawl", "", Commands()...)
	code = cli.Run(context.Background(), root, args, &out, &errs)
	return code, out.String(), errs.String()
}

// simulated runs arcrawl sim and returns the exit code and the output.
func simulated(args ...string) (code int, stdout, stderr string) {
	return command(append([]string{"sim"}, args...)...)
}

func TestSimWaitPrintsEachDecisionInMilliseconds(t *testing.T) {
	t.Parallel()
	code, out, errs := simulated("--states", "changed,unchanged,unknown,changed", "--json")
	if code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var got []struct {
		Interval int64 `json:"interval_ms"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	const hour = 3600 * 1000
	var waits []int64
	for _, s := range got {
		waits = append(waits, s.Interval/hour)
	}
	if diff := cmp.Diff([]int64{24, 36, 36, 24}, waits); diff != "" {
		t.Errorf("hours:\n%s", diff)
	}
}

// The bounds of waits are those that a configuration without them has.
func TestSimWaitTakesTheBoundsOfTheRule(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ rule, changed, bound, quiet string }{
		{"classic", strings.Repeat("changed,", 12) + "changed", "min 1h", strings.Repeat("unchanged,", 12) + "unchanged"},
		{"learned", strings.Repeat("changed,", 40) + "changed", "min 5m", strings.Repeat("unchanged,", 40) + "unchanged"},
	} {
		if code, out, errs := simulated("--rule", row.rule, "--states", row.changed); code != cli.ExitOK || !strings.Contains(out, row.bound) {
			t.Errorf("%s: exit code %d, %s; no wait ends at %s:\n%s", row.rule, code, errs, row.bound, out)
		}
		most := map[string]string{"classic": "max 28d", "learned": "max 90d"}[row.rule]
		if code, out, errs := simulated("--rule", row.rule, "--states", "changed,"+row.quiet); code != cli.ExitOK || !strings.Contains(out, most) {
			t.Errorf("%s: exit code %d, %s; no wait ends at %s:\n%s", row.rule, code, errs, most, out)
		}
	}
}

// A history's host may be the name of a service with spaces and capitals, as of terms and feeds.
func TestSimPlaysConfigurationsOnHostsThatAreNoHostNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	histories, file := filepath.Join(dir, "few.jsonl"), filepath.Join(dir, "arcrawl.toml")
	line := `{"id":"a","src":"s","kind":"terms","host":"Alpha Vantage","start":0,"end":8640000,"sampling_s":60,"dt":[90000,800000,90000]}` + "\n"
	if err := os.WriteFile(histories, []byte(line+strings.ReplaceAll(line, "Alpha Vantage", "")+strings.ReplaceAll(line, "Alpha Vantage", "[:")), 0o600); err != nil {
		t.Fatal(err)
	}
	daemontest.WriteFile(t, file, daemontest.Settled)
	for _, more := range [][]string{nil, {"--polite"}, {"--explain", "a"}} {
		if code, out, errs := simulated(append(more, "--config", file, histories)...); code != cli.ExitOK || out == "" {
			t.Errorf("%v: exit code %d, %s\n%s", more, code, errs, out)
		}
	}
}

func TestSimComparesAndPlots(t *testing.T) {
	t.Parallel()
	plot := filepath.Join(t.TempDir(), "plot.html")
	code, out, errs := simulated("--policies", "classic,stretched,clairvoyant", "--budgets", "1", "--by", "kind", "--draws", "20", "--plot", plot, inventedHistories)
	if code != cli.ExitOK || !strings.Contains(out, "clairvoyant") || !strings.Contains(out, "front page") {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
	if b, err := os.ReadFile(plot); err != nil || !bytes.Contains(b, []byte("<svg")) {
		t.Errorf("no plot: %v", err)
	}
	picture := filepath.Join(t.TempDir(), "plot.svg")
	if code, _, errs := simulated("--policies", "classic", "--draws", "20", "--plot", picture, inventedHistories); code != cli.ExitOK {
		t.Errorf("exit code %d, %s", code, errs)
	}
	if b, err := os.ReadFile(picture); err != nil || !bytes.HasPrefix(b, []byte("<svg")) {
		t.Errorf("no picture: %v\n%.200s", err, b)
	}
}

func TestSimComparesOrdersOfACrowdedHost(t *testing.T) {
	t.Parallel()
	histories, err := os.ReadFile(inventedHistories)
	if err != nil {
		t.Fatal(err)
	}
	one := filepath.Join(t.TempDir(), "one.jsonl")
	for _, source := range []string{"random", "even", "bursts", "daily", "articles", "still"} {
		histories = bytes.ReplaceAll(histories, []byte(source+".example"), []byte("one.example"))
	}
	if err := os.WriteFile(one, histories, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := simulated("--crowd", "4", one)
	if code != cli.ExitOK || !strings.Contains(out, "one.example") || strings.Count(out, "earliest due") != 3 ||
		strings.Count(out, "most overdue") != 4 {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
}

func TestSimReportsSharesWithNoisyPages(t *testing.T) {
	t.Parallel()
	args := []string{"--report", "--noise", "0.1", "--policies", "classic", "--json", inventedHistories}
	code, out, errs := simulated(args...)
	var got []struct {
		Report struct {
			Pooled float64
			Noise  float64 `json:"noise_requests"`
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != cli.ExitOK {
		t.Fatalf("exit code %d, %v, %s", code, err, errs)
	}
	if r := got[0].Report; len(got) != 1 || !(r.Pooled > 0) || !(r.Noise > 0.1) {
		t.Errorf("%+v", got)
	}
	if code, out, errs = simulated("--report", "--policies", "classic", inventedHistories); code != cli.ExitOK || !strings.Contains(out, "slow pages") {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
}

func TestSimRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--policies", "clever", inventedHistories},
		{"--by", "colour", inventedHistories},
		{"--budgets", "0", inventedHistories},
		{"--noise", "1", inventedHistories},
		{"--half", "3", inventedHistories},
		{"--trouble", "war", inventedHistories},
		{"--states", "changed", "--rule", "clever"},
		{"--states", "altered"},
		{"--states", "changed", "--overdue", "-5m"},
		{"--states", "changed", "--set", "min=2h,max=1h"},
		{"--states", "changed", "--set", "minimum=2h"},
		{"--states", "changed", "--set", "min=2"},
		{"--states", "changed", "--rule", "learned", "--set", "capture_target=3"},
		{"--states", "changed", "--set", "changed_factor=0.5"},
		{"--states", "changed", inventedHistories},
		{"--states", "changed", "--year"},
		{},
	} {
		if code, _, errs := simulated(args...); code != cli.ExitUsage {
			t.Errorf("%v: exit code %d, %s", args, code, errs)
		}
	}
}

func TestSimPrintsAllFiguresAtOnce(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	histories, err := os.ReadFile(inventedHistories)
	if err != nil {
		t.Fatal(err)
	}
	few := filepath.Join(t.TempDir(), "few.jsonl")
	if err := os.WriteFile(few, bytes.Join(bytes.SplitAfterN(histories, []byte("\n"), 7)[:6], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := simulated("--figures", "--per-source", "--budgets", "1,4", "--targets", ".5,.8", few)
	if code != cli.ExitOK || !strings.Contains(out, "capture target") || !strings.Contains(out, "4×") || !strings.Contains(out, "a budget of its own for each source") {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
}
