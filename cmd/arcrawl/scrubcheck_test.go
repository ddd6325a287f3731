package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

func TestCheckNamesScrubbingRulesThatMatchNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, path, `[operator]
name = "Library"
contact = "a@library.example"
[change]
mode = "scrubbed"
scrub = ['harbours', 'no such words anywhere']
scrub_css = ["p.no-such-class"]
[seeds]
uris = ["http://www.news.example/", "http://unvisited.example/"]
`)
	if code, out, errs := command("check", "-c", path); code != cli.ExitOK || strings.Contains(errs, "matches nothing") {
		t.Errorf("without an archive: exit code %d, %s%s; want nothing about the rules", code, out, errs)
	}
	storeVersions(t, filepath.Join(dir, "warc"), "all-at-once")
	code, out, errs := command("check", "-c", path)
	if code != cli.ExitOK || strings.Count(errs, "\n") != 2 ||
		!strings.Contains(errs, path+`:6:1: change.scrub: "no such words anywhere" matches nothing in the 3 newest stored versions of the seeds of www.news.example`) ||
		!strings.Contains(errs, path+`:7:1: change.scrub_css: "p.no-such-class" matches nothing`) {
		t.Errorf("exit code %d, %s\n%s", code, out, errs)
	}
}
