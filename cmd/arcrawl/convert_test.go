package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
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
	out, _ := ending(t, cli.ExitOK, "convert", job, "--seeds", seeds, "-o", to)
	for _, want := range []string{"hosts.d/news.example.toml", "line 1: metadata.audience = all has no counterpart", "arcrawl check", "arcrawl prime -c " + filepath.Join(to, "arcrawl.toml") + " --add FILE…"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	ending(t, cli.ExitOK, "check", "-c", filepath.Join(to, "arcrawl.toml"))
	if _, errs := ending(t, cli.ExitFolder, "convert", job, "-o", to); !strings.Contains(errs, "nothing was written") {
		t.Errorf("the second time: %s", errs)
	}
}

func TestConvertReadsFilesBelowTheJobOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "job"), 0o755); err != nil {
		t.Fatal(err)
	}
	odd := `<beans><bean id="odd"><property name="thing" value="NAME"/></bean></beans>`
	for name, text := range map[string]string{
		"outside.xml": strings.ReplaceAll(odd, "NAME", "outside"), "job/near.xml": strings.ReplaceAll(odd, "NAME", "near"),
		"job/job.cxml": `<beans><bean id="metadata"><property name="operatorContactUrl" value="https://library.example/"/>` +
			`<property name="organization" value="Library"/></bean><import resource="near.xml"/><import resource="../outside.xml"/>` +
			`<import resource="link.xml"/><import resource="gone.xml"/></beans>`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside.xml", filepath.Join(dir, "job", "link.xml")); err != nil {
		t.Fatal(err)
	}
	out, _ := ending(t, cli.ExitOK, "convert", filepath.Join(dir, "job", "job.cxml"), "-o", filepath.Join(dir, "etc"))
	for _, want := range []string{
		"converted: 2; not converted: 4, and 0 without effect", "near.xml, line 1: odd.thing = near",
		"the import of ../outside.xml is not converted: it is not in the folder of the job; copy it there",
		"the import of link.xml is not converted", "the import of gone.xml is not converted: it is not in the folder of the job",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	ending(t, cli.ExitOK, "check", "-c", filepath.Join(dir, "etc", "arcrawl.toml"))
}
