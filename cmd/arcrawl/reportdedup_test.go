package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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
	out, _ := ending(t, exitOK, "report", "dedup", log, "--since", "2026-01-02", "--by", "host,mime")
	for _, line := range []string{
		`handled +3 +10\.0 kB`, `new +1 \(33\.3 %\) +4\.0 kB`, `duplicates +2 \(66\.7 %\) +6\.0 kB`, `exact +1 `, `equivalent +0 `, `other URI +1 `,
		`discarded +2 \(66\.7 %\) +6\.0 kB \(60\.0 % of all\)`, `news\.example +2 +1 +8\.0 kB +4\.0 kB +1 +1 +0 +0`, `image/png +1 +1 +2\.0 kB +2\.0 kB +0 +0 +0 +1`,
	} {
		if !regexp.MustCompile(line).MatchString(out) {
			t.Errorf("no line like %q in:\n%s", line, out)
		}
	}
	out, _ = ending(t, exitOK, "report", "dedup", log, "--until", "2026-01-02", "--json")
	if want := `"handled": 3,`; !strings.Contains(out, want) {
		t.Errorf("no %s in %s", want, out)
	}
	if _, errs := ending(t, exitUsage, "report", "dedup", log, "--by", "colour"); !strings.Contains(errs, "choose host") {
		t.Errorf("%s", errs)
	}
}
