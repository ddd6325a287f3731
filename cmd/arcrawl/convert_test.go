package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConvertWritesAConfigurationAndNeverOverwritesOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	job, seeds, to := filepath.Join(dir, "job.cxml"), filepath.Join(dir, "seeds.txt"), filepath.Join(dir, "etc")
	text := `<beans><bean id="metadata"><property name="operatorContactUrl" value="https://library.example/"/><property name="organization" value="Library"/>` +
		`<property name="audience" value="all"/></bean></beans>`
	for name, text := range map[string]string{job: text, seeds: "http://news.example/\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, _ := ending(t, exitOK, "convert", job, "--seeds", seeds, "-o", to)
	for _, want := range []string{"hosts.d/news.example.toml", "line 1: metadata.audience = all has no counterpart", "arcrawl check"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	ending(t, exitOK, "check", "-c", filepath.Join(to, "arcrawl.toml"))
	if _, errs := ending(t, exitFolder, "convert", job, "-o", to); !strings.Contains(errs, "nothing was written") {
		t.Errorf("the second time: %s", errs)
	}
}
