package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/evaluators"
)

const referencePage = "../docs/config.md"

// TestReferencePageIsFresh compares docs/config.md with the key table; -update rewrites it.
func TestReferencePageIsFresh(t *testing.T) {
	t.Parallel()
	got := reference()
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.MkdirAll(filepath.Dir(referencePage), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(referencePage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what the key table says; run go test ./config -update (-page +table):\n%s", referencePage, diff)
	}
}

const referenceHead = `# Configuration

<!-- Generated from the key table of the room config by: go test ./config -update. Change it there. -->

One main file, arcrawl.toml, and beside it a folder of host files, ` + "`hosts.d`" + `. Both are TOML, in UTF-8. A key that a host file
does not set has the value of the main file, and a key that the main file does not set has the default. A configuration with
a fault is refused as a whole; ` + "`arcrawl check`" + ` lists every fault with its line. Keys are lower case; one that is not in this list is
a fault.

A **duration** is a text of whole numbers with units, the larger first: ` + "`\"90s\"`, `\"12h\"`, `\"28d\"`, `\"1h30m\"`" + `. The units are y (365 days), w, d, h, m,
s and ms. A **size** is a text of a whole number with a unit: B, kB, MB, GB, TB are powers of 1000, KiB, MiB, GiB, TiB powers of
1024. A bare number stands for neither. A **regular expression** is in RE2 syntax; write it in single quotes, where a backslash
is only a backslash.

## Host files

The file ` + "`hosts.d/www.news.example.toml`" + ` speaks for the host www.news.example and ` + "`hosts.d/news.example.toml`" + ` for news.example and all hosts
below it; where both set a key the longer name wins. A public suffix such as co.uk is nobody's parent. Over the files stand the
refinements, [[[when]]](#when), that hold for the visit. ` + "`arcrawl effective HOST`" + ` shows what comes of it and which line said so. Only files whose names end in
.toml are read, hidden ones apart, so that editors' backups do no harm. A host with a port needs the key host:

| key | value | meaning |
|---|---|---|
`

// reference is the page.
func reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	all := Keys()
	for _, k := range all {
		if !strings.Contains(k.Name, ".") {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Name, k.Type, k.Doc)
		}
	}
	for _, t := range tables {
		brackets := "[" + t.name + "]"
		if t.list {
			brackets = "[[" + t.name + "]]"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| key | value | default | stands in | meaning |\n|---|---|---|---|---|\n", brackets, t.doc)
		for _, k := range all {
			name, ok := strings.CutPrefix(k.Name, t.name+".")
			if !ok {
				continue
			}
			value := "–"
			if k.Default != "" {
				value = "`" + strings.ReplaceAll(k.Default, "|", `\|`) + "`"
			}
			where := map[string]string{inMain: "main file", inBoth: "main and host files", inHost: "host files"}[k.Scope]
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", name, k.Type, value, where, k.Doc)
		}
	}
	return b.String()
}

func TestEachKeyIsOfATableAndHasADoc(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range Keys() {
		table, _, inTable := strings.Cut(k.Name, ".")
		if _, ok := findTable(table); inTable && !ok {
			t.Errorf("%s is of no table", k.Name)
		}
		if k.Type == "" || !strings.HasSuffix(k.Doc, ".") || strings.ContainsAny(k.Doc+k.Type, "|\n") || strings.Contains(k.Default, "\n") || seen[k.Name] {
			t.Errorf("%+v lacks type or doc, breaks the page's tables, or stands twice", k)
		}
		seen[k.Name] = true
	}
}

// TestWaitDefaultsAreThePlainEvaluators holds the table to the room that acts by it.
func TestWaitDefaultsAreThePlainEvaluators(t *testing.T) {
	t.Parallel()
	var s Settings
	table := defaults(&Config{}, &s).plain.Options
	for _, rule := range []string{"classic", "fixed", "target", "learned"} {
		table.Rule = rule
		table.Min, table.Max = evaluators.DefaultBounds(rule)
		got, err1 := table.New()
		want, err2 := evaluators.Options{Rule: rule}.New()
		if diff := cmp.Diff(want, got); diff != "" || err1 != nil || err2 != nil {
			t.Errorf("%s: %v, %v (-room +table):\n%s", rule, err1, err2, diff)
		}
	}
	if shortest, longest := evaluators.DefaultBounds(""); defaults(&Config{}, &s).plain.Min != shortest || defaults(&Config{}, &s).plain.Max != longest {
		t.Errorf("the table's bounds are not %s and %s", shortest, longest)
	}
}

func TestDurationsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"90s": "1m30s", "12h": "12h", "28d": "28d", "1h30m": "1h30m", "1w": "7d", "1y2w3d4h5m6s7ms": "382d4h5m6s7ms", "0s": "0s",
		"0h0m": "0s", "007s": "7s", "106751d": "106751d",
	} {
		d, problem, _ := parseDuration(text)
		if got := spell(d); problem != "" || got != want {
			t.Errorf("parseDuration(%q) = %s, %q; want %s", text, got, problem, want)
		}
	}
	for _, text := range []string{"", "0", "5", "s", "1m1h", "1h1h", "1.5h", "1 h", "-1h", "+1h", "1H", "1M", "1ms1s", "106752d", "9223372036854775808s", "1hs", "1日", "\x001s"} {
		if d, problem, remedy := parseDuration(text); problem == "" || remedy == "" {
			t.Errorf("parseDuration(%q) = %s; want a problem and a remedy", text, spell(d))
		}
	}
}

func TestSizesAreReadAsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0B": 0, "1B": 1, "1kB": 1000, "1KB": 1000, "256KiB": 262144, "1MB": 1e6, "1MiB": 1 << 20, "20GB": 20e9, "1GiB": 1 << 30, "2TB": 2e12,
		"8388607TiB": 8388607 << 40,
	} {
		if n, problem, _ := parseSize(text); problem != "" || n != want {
			t.Errorf("parseSize(%q) = %d, %q; want %d", text, n, problem, want)
		}
	}
	for _, text := range []string{"", "5", "GB", "1G", "1gb", "1.5GB", "-1GB", "1 GB", "1GB2MB", "8388608TiB", "99999999999999999999B", "1GB "} {
		if n, problem, remedy := parseSize(text); problem == "" || remedy == "" {
			t.Errorf("parseSize(%q) = %d; want a problem and a remedy", text, n)
		}
	}
}

func TestSlipsAreRecognised(t *testing.T) {
	t.Parallel()
	words := []string{"min_delay", "max_delay", "valence", "workers"}
	for slip, want := range map[string]string{
		"min_dealy": "min_delay", "valnece": "valence", "maxdelay": "max_delay", "MIN-DELAY": "min_delay", "valance": "valence", "work": "workers", "worker": "workers",
		"colour": "", "x": "", "": "", strings.Repeat("min_delay", 50): "",
	} {
		got, ok := nearest(slip, words)
		if got != want || ok != (want != "") {
			t.Errorf("nearest(%q) = %q, %v; want %q", slip, got, ok, want)
		}
	}
}
