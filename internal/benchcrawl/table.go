package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// table is the result of a scenario.
type table struct {
	title   string
	names   []string // names of the programs; the others are compared with the first
	rounds  int
	costs   [][]cost  // by program and round
	calls   []float64 // system calls per document, by program
	counter string    // tool that counted the system calls
}

// row is one measured quantity.
type row struct {
	name   string
	format string
	value  func(cost) float64
}

func rows() []row {
	each := func(n int64, c cost) float64 { return float64(n) / float64(c.documents) }
	perThousand := func(d time.Duration, c cost) float64 { return 1000 * d.Seconds() / float64(c.documents) }
	return []row{
		{"CPU s / 1,000 documents", "%.3f", func(c cost) float64 { return perThousand(c.processor, c) }},
		{"of which in the kernel", "%.3f", func(c cost) float64 { return perThousand(c.system, c) }},
		{"documents / s", "%.0f", func(c cost) float64 { return float64(c.documents) / c.elapsed.Seconds() }},
		{"peak resident MB", "%.0f", func(c cost) float64 { return float64(c.resident) / 1e6 }},
		{"bytes on disk / document", "%.0f", func(c cost) float64 { return each(c.disk, c) }},
		{"bytes of archive / document", "%.0f", func(c cost) float64 { return each(c.archive, c) }},
	}
}

// String returns the table in Markdown: for each program the median, and its ratio to the first program. The ratio is
// the median of the ratios of all rounds.
func (t table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%d documents per round, %d rounds; system calls counted by %s in a separate round\n\n|",
		t.title, t.costs[0][0].documents, t.rounds, t.counter)
	for i, name := range t.names {
		fmt.Fprintf(&b, " | %s", name)
		if i > 0 {
			b.WriteString(" | ×")
		}
	}
	b.WriteString(" |\n|---|---|" + strings.Repeat("---|---|", len(t.names)-1) + "\n")
	for _, r := range rows() {
		fmt.Fprintf(&b, "| %s", r.name)
		for i, costs := range t.costs {
			values, ratios := make([]float64, len(costs)), make([]float64, len(costs))
			for j, c := range costs {
				values[j] = r.value(c)
				ratios[j] = values[j] / r.value(t.costs[0][j])
			}
			fmt.Fprintf(&b, " | "+r.format, median(values))
			if i > 0 {
				fmt.Fprintf(&b, " | %.2f", median(ratios))
			}
		}
		b.WriteString(" |\n")
	}
	b.WriteString("| system calls / document")
	for i, n := range t.calls {
		if n == 0 {
			b.WriteString(" | –" + strings.Repeat(" | –", min(i, 1)))
			continue
		}
		fmt.Fprintf(&b, " | %.1f", n)
		if i > 0 {
			fmt.Fprintf(&b, " | %.2f", n/t.calls[0])
		}
	}
	b.WriteString(" |\n")
	return b.String() + t.comparison()
}

// comparison returns how arcrawl compares with the other arcrawl in the same rounds, empty if there is none. It has the
// quartiles too, because the median alone does not say whether a difference is more than noise.
func (t table) comparison() string {
	mine, other := slices.Index(t.names, "arcrawl"), slices.Index(t.names, otherName)
	if mine < 0 || other < 0 {
		return ""
	}
	text := "\narcrawl ÷ other arcrawl, median of the rounds (and quartiles):"
	for _, r := range rows() {
		var ratios []float64
		for j, c := range t.costs[mine] {
			ratios = append(ratios, r.value(c)/r.value(t.costs[other][j]))
		}
		slices.Sort(ratios)
		n := len(ratios) - 1
		text += fmt.Sprintf("\n- %s: %.3f (%.3f to %.3f)", r.name, median(ratios), ratios[n/4], ratios[n-n/4])
	}
	return text + "\n"
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// machine describes the machine on which the measurement runs.
func machine() string {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	wget := "no wget"
	if out, err := exec.Command("wget", "--version").Output(); err == nil {
		wget, _, _ = strings.Cut(string(out), " built")
	}
	average := strings.Join(strings.Fields(string(load) + " ? ? ?")[:3], " ")
	return fmt.Sprintf("Machine: %d cores, %s; Linux %s; %s; %s; load average at the start %s.",
		runtime.NumCPU(), model, strings.TrimSpace(string(kernel)), runtime.Version(), wget, average)
}
