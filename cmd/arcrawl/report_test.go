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
