package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestMain plays the child processes of the command, which starts them from its own binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "serve" || os.Args[1] == "bare") {
		if err := command(os.Args[1:], os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestBenchmark runs one small round of two scenarios, so that the benchmark does not break unnoticed. It checks no
// times.
func TestBenchmark(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	var out strings.Builder
	dir := t.TempDir()
	err := command([]string{"-rounds", "1", "-hosts", "3", "-scale", "0.02", "-scenario", "first,same", "-dir", dir}, &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"12 documents per round", "24 documents per round", "| CPU s / 1,000 documents | ", "| bare loop | arcrawl | × |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output does not contain %q:\n%s", want, out.String())
		}
	}
	checkTemplates(t, filepath.Join(dir, "arcrawl"))
}

// checkTemplates makes sure that the program executes no template, not even in a library: the linker would keep every
// exported method of every type, and the program would be a sixth larger.
func checkTemplates(t *testing.T, binary string) {
	t.Helper()
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(program, []byte("text/template.(*state).evalField")) {
		t.Errorf("the program of %d bytes can execute templates; go build -ldflags=-dumpdep shows what calls them",
			len(program))
	}
}

// TestGrow checks that a store is filled once and copied for each round, and that all sizes are measured in each
// round. It also checks that startup is reported and profiled apart from the visits.
func TestGrow(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	var out strings.Builder
	dir, profiles := t.TempDir(), t.TempDir()
	err := command([]string{
		"grow", "-rounds", "2", "-documents", "300", "-known", "500,700", "-dir", dir, "-profiles", profiles, "known",
	}, &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n| known | × first size | CPU s / 1,000 visits | × bare loop | visits / s | peak resident MB | startup, CPU s | shutdown, CPU s | first log line after, s |\n",
		"\n| 500 | 1.00 | ", "\n| 700 | ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output does not contain %q:\n%s", want, out.String())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "filled-500", "MANIFEST")); err != nil {
		t.Error("the filled store was changed:", err)
	}
	for _, round := range []string{"1", "2"} {
		for _, name := range []string{"known-500/opening.pprof", "known-500/cpu.pprof", "known-500/memory.pprof", "known-700/opening.pprof"} {
			if info, err := os.Stat(filepath.Join(profiles, round, name)); err != nil || info.Size() == 0 {
				t.Errorf("round %s: no profile %s: %v", round, name, err)
			}
		}
	}
}

func TestTwoVersionsAreComparedInEachRound(t *testing.T) {
	t.Parallel()
	// The machine becomes slower from round to round, which must not hide that one version takes a tenth more.
	var mine, other []cost
	for round := range 5 {
		slow := time.Duration(1 + round)
		other = append(other, cost{documents: 100, processor: 100 * slow * time.Millisecond, elapsed: slow * time.Second})
		mine = append(mine, cost{documents: 100, processor: 110 * slow * time.Millisecond, elapsed: slow * time.Second})
	}
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{[]string{"arcrawl", otherName}, "- CPU s / 1,000 documents: 1.100 (1.100 to 1.100)\n"},
		{[]string{"arcrawl", "wget"}, ""},
	} {
		got := table{names: tt.names, rounds: 5, costs: [][]cost{mine, other}, calls: make([]float64, 2)}.comparison()
		if !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
			t.Errorf("with %v: %q, want %q", tt.names, got, tt.want)
		}
	}
}

func TestDocumentIsReproducibleAndUnique(t *testing.T) {
	t.Parallel()
	s := site{size: 15_000, documents: 203, hosts: 2}
	stock := texts(s.size)
	one := string(s.document(nil, stock, host(0), 7))
	if len(one) != s.size {
		t.Errorf("a document of %d bytes, want %d", len(one), s.size)
	}
	if again := string(s.document(nil, texts(s.size), host(0), 7)); again != one {
		t.Error("the same document differs the second time")
	}
	if string(s.document(nil, stock, host(1), 7)) == one || string(s.document(nil, stock, host(0), 8)) == one {
		t.Error("two documents are equal")
	}
	s.twins = true
	if string(s.document(nil, stock, host(1), 7)) != string(s.document(nil, stock, host(0), 7)) {
		t.Error("twins differ")
	}
}

func TestCountersReadSystemCalls(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		tool counter
		text string
		want int64
	}{
		{"perf stat", perf{}, "# started on Sat\n\n4711,,raw_syscalls:sys_enter,1000,100.00,,\n", 4711},
		{
			"strace with errors",
			strace{},
			"% time     seconds  usecs/call     calls    errors syscall\n------\n100.00    0.000000           0        49         1 total\n", 49,
		},
		{"strace without errors", strace{}, "100.00    0.000112           3        31           total\n", 31},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "tally")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := tt.tool.read(file); err != nil || got != tt.want {
				t.Errorf("got %d, %v; want %d", got, err, tt.want)
			}
		})
	}
}
