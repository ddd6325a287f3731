package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/go-cmp/cmp"
)

// faultsEnv has the arguments of make faults, if any. TestFaults is skipped without it.
const faultsEnv = "ARCRAWL_FAULT_TABLE"

// faultRest is the rest of hosts in make faults: long enough to be measured, and short enough for a load of some
// hundred visits a second.
const faultRest = 20 * time.Millisecond

// faultKind is a kind of fault, which is a row of the table.
type faultKind struct {
	flag, name string
	times      int
	make       func(t *trial, times int)
}

// faultKinds returns all kinds of faults, and how often each happens by default: a quarter of an hour together.
func faultKinds() []*faultKind {
	kinds := []*faultKind{
		{"kills", "killed under load", 220, func(t *trial, times int) {
			site := startKillSite(t.T)
			site.rest = faultRest
			killUnderLoad(t, site, times)
		}},
	}
	return append(kinds, linuxFaultKinds()...)
}

// TestFaults has all kinds of faults happen to the real program, one after the other, and prints a table of what they
// left. It is the command make faults.
func TestFaults(t *testing.T) {
	args, ok := os.LookupEnv(faultsEnv)
	if !ok {
		t.Skip("make faults runs this")
	}
	kinds := faultKinds()
	flags := flag.NewFlagSet("make faults ARGS=", flag.ContinueOnError)
	only := flags.String("only", "", "have only kinds happen whose name matches this `expression`")
	require := flags.Bool("require", false, "fail if a kind cannot happen on this machine")
	for _, k := range kinds {
		flags.IntVar(&k.times, k.flag, k.times, k.name+": how often; 0 = not")
	}
	if err := flags.Parse(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	var rows []faultRow
	for _, k := range kinds {
		if k.times <= 0 || !chosen.MatchString(k.name) {
			continue
		}
		began := time.Now()
		row := faultRow{name: k.name}
		t.Run(k.name, func(t *testing.T) {
			row.trial = &trial{T: t}
			k.make(row.trial, k.times)
		})
		row.took = time.Since(began)
		if *require && row.whyNot != "" {
			t.Errorf("%s: not run: %s", row.name, row.whyNot)
		}
		rows = append(rows, row)
	}
	printFaults(os.Stdout, rows)
}

// faultRow is a row of the table.
type faultRow struct {
	name string
	*trial
	took time.Duration
}

// printFaults prints the table. The rows of kinds that did not run say why, below it.
func printFaults(w io.Writer, rows []faultRow) {
	// "ended" counts how often the program ended by itself, as it must when a sync fails.
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nfault\ttimes\tended\tvisits\tlost\tdo not verify\tdangling\tshortest gap\trest\tlongest restart\ttook\t")
	var why bytes.Buffer
	for _, r := range rows {
		result, l := "ok", r.left
		switch {
		case r.whyNot != "":
			fmt.Fprintf(table, "%s\tnot run\t\t\t\t\t\t\t\t\t\n", r.name)
			fmt.Fprintf(&why, "%s: not run: %s\n", r.name, r.whyNot)
			continue
		case !l.examined:
			fmt.Fprintf(table, "%s\t%d\t?\t?\t?\t?\t?\t?\t?\t?\t%s\tFAILED\n", r.name, r.faults, r.took.Round(time.Second))
			continue
		case r.Failed():
			result = "FAILED"
		}
		restart := "–"
		if l.restart > 0 {
			restart = l.restart.Round(time.Millisecond).String()
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\n", r.name, r.faults, l.ended, l.visits, l.lost,
			l.bad, l.dangling, l.shortest.Round(100*time.Microsecond), l.rest, restart, r.took.Round(time.Second), result)
	}
	_ = table.Flush()
	fmt.Fprintf(w, "%s\n", &why)
}

func TestTheTableOfFaultsShowsWhatTheyLeft(t *testing.T) {
	t.Parallel()
	fine := remains{
		examined: true, visits: 4000, rest: 20 * time.Millisecond, shortest: 20400 * time.Microsecond,
		restart: 321 * time.Millisecond,
	}
	bad := fine
	bad.lost, bad.bad, bad.dangling, bad.restart = 1, 2, 3, 0
	failed := &testing.T{}
	failed.Fail()
	var b bytes.Buffer
	printFaults(&b, []faultRow{
		{"killed", &trial{T: &testing.T{}, faults: 220, left: fine}, time.Minute},
		{"paused", &trial{T: failed, faults: 6, left: bad}, time.Second},
		{"cut", &trial{T: failed, faults: 2}, time.Second},
		{"quota", &trial{T: &testing.T{}, whyNot: "no btrfs"}, 0},
	})
	want := `
fault   times    ended  visits  lost  do not verify  dangling  shortest gap  rest  longest restart  took
killed  220      0      4000    0     0              0         20.4ms        20ms  321ms            1m0s  ok
paused  6        0      4000    1     2              3         20.4ms        20ms  –                1s    FAILED
cut     2        ?      ?       ?     ?              ?         ?             ?     ?                1s    FAILED
quota   not run
quota: not run: no btrfs

`
	got := regexp.MustCompile(` +\n`).ReplaceAllString(b.String(), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
