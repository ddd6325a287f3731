package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

func TestReportHeadersShowsThePrecisionOfValidators(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conf := filepath.Join(dir, "arcrawl.toml")
	text := fmt.Sprintf("[operator]\nname = \"Test\"\ncontact = \"crawler@library.example\"\n[storage]\nstate = %q\n", filepath.Join(dir, "state"))
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := realMain([]string{"report", "headers", "--config", conf}, &out, &errs); code != cli.ExitFolder {
		t.Errorf("without a store: exit code %d, %s", code, &errs)
	}
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	book := hosts.OpenReputation(f.DB())
	same := evaluators.Validators{ETag: `"a"`}
	for _, state := range []evaluators.State{
		evaluators.Unchanged, evaluators.Unchanged, evaluators.Unchanged,
		evaluators.Changed,
	} {
		if err := book.Add("a.example", evaluators.Observation{MIME: "text/html", Before: same, Now: same, State: state}); err != nil {
			t.Fatal(err)
		}
	}
	for _, right := range []bool{true, true, true, true, false} {
		if err := book.AddDate("b.example", evaluators.DatedPages, right); err != nil {
			t.Fatal(err)
		}
	}
	errs.Reset()
	if code := realMain([]string{"report", "headers", "--config", conf}, &out, &errs); code != cli.ExitBusy || !strings.Contains(errs.String(), "in use") {
		t.Errorf("while the store is in use: exit code %d, %s", code, &errs)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if code := realMain([]string{"report", "headers", "--config", conf}, &out, &errs); code != cli.ExitOK {
		t.Fatalf("exit code %d, %s", code, &errs)
	}
	for _, row := range []string{`a\.example +text +ETag +0 +0 +3 +1 +0 +75\.0 % +no`, `a\.example +text +Last-Modified +0 +0 +0 +0 +4 +– +no`, `host +dates of +right`, `b\.example +pages +4 +1 +80\.0 % +yes`} {
		if !regexp.MustCompile(row).MatchString(out.String()) {
			t.Errorf("no row like %q in:\n%s", row, &out)
		}
	}
}

func TestReportDedupShowsSavings(t *testing.T) {
	t.Parallel()
	line := func(day, size, uri, mime, notes string) string {
		return "2026-01-0" + day + "T06:00:00.000Z   200 " + size + " " + uri + " - - " + mime +
			" #001 20260102055959960+40 sha1:KA64BYVGVNNI5NHPC5SEGJGDTFLRKZ54 http://news.example/ " + notes + "\n"
	}
	log := filepath.Join(t.TempDir(), "crawl.log")
	text := line("1", "7000", "http://news.example/", "text/html", "hit:none") +
		line("2", "4000", "http://news.example/", "text/html", "hit:none") +
		line("2", "4000", "http://news.example/", "text/html", "unchanged,duplicate:digest,hit:exact") +
		line("3", "2000", "http://shop.example/a.png", "image/png", "duplicate:digest,hit:other") +
		line("3", "9000", "http://shop.example/b.png", "image/png", "wt:1h")
	if err := os.WriteFile(log, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ := ending(t, cli.ExitOK, "report", "visits", "--dedup", log, "--since", "2026-01-02", "--by", "host,mime")
	for _, line := range []string{
		`handled +3 +10\.0 kB`, `new +1 \(33\.3 %\) +4\.0 kB`, `duplicates +2 \(66\.7 %\) +6\.0 kB`, `exact +1 `, `equivalent +0 `, `other URI +1 `,
		`discarded +2 \(66\.7 %\) +6\.0 kB \(60\.0 % of all\)`, `news\.example +2 +1 +8\.0 kB +4\.0 kB +1 +1 +0 +0`, `image/png +1 +1 +2\.0 kB +2\.0 kB +0 +0 +0 +1`,
	} {
		if !regexp.MustCompile(line).MatchString(out) {
			t.Errorf("no line like %q in:\n%s", line, out)
		}
	}
	out, _ = ending(t, cli.ExitOK, "report", "visits", "--dedup", log, "--until", "2026-01-02", "--json")
	if want := `"handled": 3,`; !strings.Contains(out, want) {
		t.Errorf("no %s in %s", want, out)
	}
	if _, errs := ending(t, cli.ExitUsage, "report", "visits", "--dedup", log, "--by", "colour"); !strings.Contains(errs, "choose host") {
		t.Errorf("%s", errs)
	}
}

// TestReportPermissionListsHosts prints the hosts whose robots.txt is not obeyed.
func TestReportPermissionListsHosts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "arcrawl.toml")
	if err := os.Mkdir(filepath.Join(dir, "hosts.d"), 0o750); err != nil {
		t.Fatal(err)
	}
	daemontest.WriteFile(t, path, "operator.name = \"Library\"\noperator.contact = \"a@library.example\"\n")
	if _, out, errs := command("effective", "--permissions", "-c", path); !strings.Contains(out, "robots.txt is obeyed on all hosts") {
		t.Errorf("without permissions: %s%s", out, errs)
	}
	daemontest.WriteFile(t, filepath.Join(dir, "hosts.d", "news.example.toml"),
		"[robots]\nobey = false\nreason = \"Legal Deposit Act, § 10\"\nuntil = 2999-12-31\n")
	for flag, want := range map[string]string{
		"":       "news.example  everywhere  false        3000-01-01T00:00:00Z  Legal Deposit Act, § 10  hosts.d/news.example.toml:2",
		"--json": `"reason": "Legal Deposit Act, § 10"`,
	} {
		args := []string{"effective", "--permissions", "-c", path}
		if flag == "--json" {
			args = append(args, flag)
		}
		if code, out, errs := command(args...); code != cli.ExitOK || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, %s%s; want %q", flag, code, out, errs, want)
		}
	}
}
