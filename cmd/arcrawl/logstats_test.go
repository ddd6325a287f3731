package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/crawllog/stats"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// threeDays is a log with a visit that found a version, a visit that read no body, and a failure.
const threeDays = `2026-01-02T06:00:00.000Z   200       4000 http://news.example/ - - text/html #001 20260102055959960+40 sha1:KA64BYVGVNNI5NHPC5SEGJGDTFLRKZ54 http://news.example/ wt:12h0ms,1vis,1ver,ov:1000ms
2026-01-03T06:00:00.000Z   304          0 http://news.example/ - - no-type #001 20260103055959960+40 - http://news.example/ unchanged,duplicate:server-not-modified,spared:4000,wt:18h0ms,2vis,1ver,ov:1h0ms
2026-01-04T06:00:00.000Z   503         50 http://shop.example/ L http://news.example/ text/html #001 20260104055959960+40 - http://news.example/ 2t,wt:18h0ms,2vis,1ver,ov:2d0ms
`

func ending(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := realMain(args, &out, &errs); code != want {
		t.Fatalf("arcrawl %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, &out, &errs)
	}
	return out.String(), errs.String()
}

func TestLogStatsComparesPeriods(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "crawl.log")
	if err := os.WriteFile(log, []byte(threeDays), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ := ending(t, cli.ExitOK, "report", "visits", log, "--by", "host", "--status", "--since", "2026-01-03", "--beside", "2026-01-02")
	for _, line := range []string{
		`visits +2 +1`, ` change rate +0\.0 % +100\.0 %`, `spared +4\.0 kB \(98\.8 % of all bytes\) +0 B`,
		`overdue +p50 2d, p90 2d, p99 2d, max 2d +p50 1\.0s, p90 1\.0s, p99 1\.0s, max 1\.0s`,
		`shop\.example +1 +1 +0 +– +50 B +0 B +2d +2d +2d +2d +0 +0 +0 +– +0s +0s`,
		` 304 +503 +others +host`, ` - +1 +- +shop\.example`,
	} {
		if !regexp.MustCompile(line).MatchString(out) {
			t.Errorf("no line like %q in:\n%s", line, out)
		}
	}
}

func TestLogStatsReadsOnlyAddedLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, offset := filepath.Join(dir, "crawl.log"), filepath.Join(dir, "offset")
	lines := strings.SplitAfter(threeDays, "\n")
	visits := func() int64 {
		t.Helper()
		out, _ := ending(t, cli.ExitOK, "report", "visits", log, "--offset", offset, "--json")
		var got struct{ All stats.Tally }
		dec := json.NewDecoder(strings.NewReader(regexp.MustCompile(`"overdue":\{[^}]*\},"wait":\{[^}]*\}`).ReplaceAllString(out, `"x":0`)))
		if err := dec.Decode(&got); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		return got.All.Visits
	}
	for i, want := range []int64{2, 0, 1} {
		text := strings.Join(lines[:2], "")
		if i == 2 {
			text = threeDays
		}
		if err := os.WriteFile(log, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := visits(); got != want {
			t.Errorf("run %d counts %d visits, want %d", i+1, got, want)
		}
	}
}

func TestLogStatsRefusesWrongFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"x.log --by moon", "choose host, seed, mime, day or hour"},
		{"x.log --since yesterday", "--since: date \"yesterday\""},
		{"x.log y.log --follow", "name at most one FILE"},
		{"x.log --follow --since 1h", "cannot be used with --since"},
		{"x.log --follow --every 1ms", "the minimum is 1s"},
	} {
		if _, errs := ending(t, cli.ExitUsage, append([]string{"report", "visits"}, strings.Fields(c.args)...)...); !strings.Contains(errs, c.want) {
			t.Errorf("%s: %s, want %q", c.args, errs, c.want)
		}
	}
	if _, errs := ending(t, cli.ExitFailure, "report", "visits", filepath.Join(t.TempDir(), "none.log")); !strings.Contains(errs, "none.log") {
		t.Errorf("a log that is not there: %s", errs)
	}
}

// TestLogReportsAreAboutALabel summarizes the visits of some hosts by label, collection and owner.
func TestLogReportsAreAboutALabel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	main := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, main, daemontest.Settled)
	hostFile(t, dir, "www.a.example", "labels = [\"newspapers\"]\ncollections = [\"elections\"]\nowner = \"anna\"\n")
	hostFile(t, dir, "www.b.example", "labels = [\"radio\"]\n")
	line := "2026-01-02T06:00:00.000Z   200       4000 http://HOST/ - - text/html #001 20260102055959960+40 " +
		"sha1:KA64BYVGVNNI5NHPC5SEGJGDTFLRKZ54 - hit:none\n"
	visit := func(host string) string { return strings.ReplaceAll(line, "HOST", host) }
	log := visit("www.a.example") + visit("www.b.example") + visit("www.c.example") + visit("www.a.example")
	daemontest.WriteFile(t, filepath.Join(dir, "crawl.log"), log)
	for _, flag := range []string{"--label=newspapers", "--collection=elections", "--owner=anna"} {
		for _, args := range [][]string{
			{"report", "visits", "--by", "host"},
			{"report", "visits", "--dedup", "--by", "host"},
			{"report", "visits", "--by", "host", "--json", "--offset", filepath.Join(t.TempDir(), "offset")},
		} {
			out, _ := ending(t, cli.ExitOK, append(args, "--config", main, flag)...)
			if !strings.Contains(out, "www.a.example") || strings.Contains(out, "www.b.example") || strings.Contains(out, "www.c.example") {
				t.Errorf("%s %s:\n%s", args, flag, out)
			}
		}
		out, _ := ending(t, cli.ExitOK, "report", "visits", "--dedup", "--json", "--config", main, flag)
		if !strings.Contains(out, `"handled": 2,`) {
			t.Errorf("%s: not two responses of www.a.example:\n%s", flag, out)
		}
	}
	if _, errs := ending(t, cli.ExitUsage, "report", "visits", "--config", main, "--label", "newspaper"); !strings.Contains(errs, "in use are labels newspapers, radio") {
		t.Errorf("an unknown label: %s", errs)
	}
}
