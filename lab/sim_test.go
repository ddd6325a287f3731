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

// played runs arcrawl sim, which must succeed and print some words, and returns what it prints.
func played(t *testing.T, words []string, args ...string) string {
	t.Helper()
	code, out, errs := simulated(args...)
	for _, want := range words {
		if !strings.Contains(out, want) {
			t.Errorf("%q does not print %q:\n%s", args, want, out)
		}
	}
	if code != cli.ExitOK {
		t.Fatalf("%q: exit code %d, %s", args, code, errs)
	}
	return out
}

func TestSimWaitPrintsEachDecisionInMilliseconds(t *testing.T) {
	t.Parallel()
	out := played(t, nil, "--states", "changed,unchanged,unknown,changed", "--json")
	var got []struct {
		Interval int64 `json:"interval_ms"`
	}
	must(t, json.Unmarshal([]byte(out), &got))
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
	for _, row := range []struct {
		rule        string
		states      int
		least, most string
	}{{"classic", 13, "min 1h", "max 28d"}, {"learned", 41, "min 5m", "max 90d"}} {
		played(t, []string{row.least}, "--rule", row.rule, "--states", strings.Repeat("changed,", row.states-1)+"changed")
		played(t, []string{row.most}, "--rule", row.rule, "--states", "changed"+strings.Repeat(",unchanged", row.states))
	}
}

// A history's host may be the name of a service with spaces and capitals, as of terms and feeds.
func TestSimPlaysConfigurationsOnHostsThatAreNoHostNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	histories, file := filepath.Join(dir, "few.jsonl"), filepath.Join(dir, "arcrawl.toml")
	line := `{"id":"a","src":"s","kind":"terms","host":"Alpha Vantage","start":0,"end":8640000,"sampling_s":60,"dt":[90000,800000,90000]}` + "\n"
	must(t, os.WriteFile(histories, []byte(line+strings.ReplaceAll(line, "Alpha Vantage", "")+strings.ReplaceAll(line, "Alpha Vantage", "[:")), 0o600))
	daemontest.WriteFile(t, file, daemontest.Settled)
	for _, more := range [][]string{nil, {"--polite"}, {"--explain", "a"}} {
		if played(t, nil, append(more, "--config", file, histories)...) == "" {
			t.Errorf("%v prints nothing", more)
		}
	}
}

func TestSimComparesAndPlots(t *testing.T) {
	t.Parallel()
	plot := filepath.Join(t.TempDir(), "plot.html")
	played(t, []string{"clairvoyant", "front page"}, "--policies", "classic,stretched,clairvoyant", "--budgets", "1",
		"--by", "kind", "--draws", "20", "--plot", plot, inventedHistories)
	if b, err := os.ReadFile(plot); err != nil || !bytes.Contains(b, []byte("<svg")) {
		t.Errorf("no plot: %v", err)
	}
	picture := filepath.Join(t.TempDir(), "plot.svg")
	played(t, nil, "--policies", "classic", "--draws", "20", "--plot", picture, inventedHistories)
	if b, err := os.ReadFile(picture); err != nil || !bytes.HasPrefix(b, []byte("<svg")) {
		t.Errorf("no picture: %v\n%.200s", err, b)
	}
}

func TestSimComparesOrdersOfACrowdedHost(t *testing.T) {
	t.Parallel()
	histories, err := os.ReadFile(inventedHistories)
	must(t, err)
	one := filepath.Join(t.TempDir(), "one.jsonl")
	for _, source := range []string{"random", "even", "bursts", "daily", "articles", "still"} {
		histories = bytes.ReplaceAll(histories, []byte(source+".example"), []byte("one.example"))
	}
	must(t, os.WriteFile(one, histories, 0o600))
	out := played(t, []string{"one.example"}, "--crowd", "4", one)
	if strings.Count(out, "earliest due") != 3 || strings.Count(out, "most overdue") != 4 {
		t.Errorf("%s", out)
	}
}

func TestSimReportsSharesWithNoisyPages(t *testing.T) {
	t.Parallel()
	out := played(t, nil, "--report", "--noise", "0.1", "--policies", "classic", "--json", inventedHistories)
	var got []struct {
		Report struct {
			Pooled float64
			Noise  float64 `json:"noise_requests"`
		}
	}
	must(t, json.Unmarshal([]byte(out), &got))
	if r := got[0].Report; len(got) != 1 || !(r.Pooled > 0) || !(r.Noise > 0.1) {
		t.Errorf("%+v", got)
	}
	played(t, []string{"slow pages"}, "--report", "--policies", "classic", inventedHistories)
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
	must(t, err)
	few := filepath.Join(t.TempDir(), "few.jsonl")
	must(t, os.WriteFile(few, bytes.Join(bytes.SplitAfterN(histories, []byte("\n"), 7)[:6], nil), 0o600))
	played(t, []string{"capture target", "4×", "a budget of its own for each source"},
		"--figures", "--per-source", "--budgets", "1,4", "--targets", ".5,.8", few)
}
