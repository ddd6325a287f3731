package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// command runs a command line as the program does. It returns the exit code and the output.
func command(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = realMain(args, &out, &errs)
	return code, out.String(), errs.String()
}

// ending runs a command line that ends with an exit code, and returns its output.
func ending(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := command(args...)
	if code != want {
		t.Fatalf("arcrawl %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, stdout, stderr)
	}
	return stdout, stderr
}

// succeed runs a command line without a fault, and returns its output.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	out, _ := ending(t, cli.ExitOK, args...)
	return out
}

// TestRunRefuses has a row for each problem that prevents the daemon from starting. Each has its own exit code, and a
// message that names the problem and the remedy. Nothing is changed.
func TestRunRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		toml    string
		prepare func(t *testing.T, dir string)
		code    int
		want    []string
	}{
		{
			name: "a broken configuration", toml: daemontest.Settled + "[politeness]\nmin_delay = 5\n", code: cli.ExitConfig,
			want: []string{"arcrawl.toml:9:13", "politeness.min_delay", "5s"},
		},
		{
			name: "a folder that is a file", toml: daemontest.Settled, code: cli.ExitFolder,
			prepare: func(t *testing.T, dir string) { daemontest.WriteFile(t, filepath.Join(dir, "warc"), "not a folder") },
			want:    []string{"storage.warc", "not a directory", "name another one in"},
		},
		{
			name: "another daemon in the same folder", toml: daemontest.Settled, code: cli.ExitBusy,
			prepare: func(t *testing.T, dir string) {
				f, err := frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Now: time.Now()})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { f.Close() })
			},
			want: []string{"in use by another process", "state"},
		},
		{
			name: "too little disk space", toml: strings.Replace(daemontest.Settled, "1MB", "1000TB", 1), code: cli.ExitDisk,
			want: []string{"is free", "storage.min_free", "free some space"},
		},
		{
			name: "a damaged store", toml: daemontest.Settled, code: cli.ExitDamaged,
			prepare: func(t *testing.T, dir string) {
				state := filepath.Join(dir, "state")
				f, err := frontier.Open(frontier.Options{Dir: state, Now: time.Now()})
				if err != nil {
					t.Fatal(err)
				}
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				daemontest.WriteFile(t, filepath.Join(state, "MANIFEST"), "this is not a manifest of anything")
			},
			want: []string{"state", "backup"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, dir := daemontest.Configure(t, c.toml)
			if c.prepare != nil {
				c.prepare(t, dir)
			}
			code, _, errs := command("run", "--config", path)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(errs, want) {
					t.Errorf("the message lacks %q:\n%s", want, errs)
				}
			}
		})
	}
}

func TestTheDemoSumsUp(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	if code, out, errs := command("demo", "--for", "1ms", "--dir", filepath.Join(t.TempDir(), "short")); code != cli.ExitOK || errs != "" {
		t.Errorf("a demo of a moment: exit code %d, %s%s", code, out, errs)
	}
	dir := filepath.Join(t.TempDir(), "demo")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	shown := &demoOutput{enough: stop}
	if err := demo(ctx, shown, dir, "", 0); err != nil {
		t.Fatal(err)
	}
	out := shown.String()
	for _, want := range []string{"/robots.txt", "first", "visits in", "versions captured", "the archive", "the log"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output of the demo lacks %q:\n%s", want, out)
		}
	}
	records := archivetest.CheckDir(t, filepath.Join(dir, "warc"))
	if lines := testcrawl.ReadLog(t, filepath.Join(dir, "crawl.log")); len(lines) < 4 || len(records) < 3*len(lines)/2 {
		t.Errorf("%d lines in the log and %d records in the archive, want more", len(lines), len(records))
	}
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 5 {
		t.Errorf("the demo's folder holds %v, %v, want its token, settings, log, archive and store", entries, err)
	}
	t.Run("its archive is read by others", func(t *testing.T) {
		for _, r := range foreign.Records(t, files...) {
			if len(r.Errors) > 0 {
				t.Errorf("%s at %d (%s %s): %v", r.File, r.Offset, r.Type, r.Target, r.Errors)
			}
		}
	})
}

// demoOutput ends a demo after ten visits, however long a busy machine needs for them.
type demoOutput struct {
	strings.Builder
	enough func()
}

func (o *demoOutput) Write(p []byte) (int, error) {
	if n, err := o.Builder.Write(p); err != nil {
		return n, err
	}
	if strings.Count(o.String(), "\n") >= 14 { // four lines come before the visits
		o.enough()
	}
	return len(p), nil
}

func TestForeignFilesInTheArchiveAreLeftAlone(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	path, dir := daemontest.Configure(t, daemontest.Settled+"[fetch]\nallow_networks = [\"127.0.0.0/8\"]\n")
	foreign := []string{"other-20200101000000-1.warc.gz", "notes.txt", "torn-by-another.warc.gz.open"}
	for _, name := range foreign {
		if err := os.MkdirAll(filepath.Join(dir, "warc"), 0o750); err != nil {
			t.Fatal(err)
		}
		daemontest.WriteFile(t, filepath.Join(dir, "warc", name), "of "+name)
	}
	d := daemontest.StartProcess(t, built.In(t, dir), path)
	waitForLog(t, d, filepath.Join(dir, "crawl.log"))
	d.Terminate(t)
	for _, name := range foreign {
		got, err := os.ReadFile(filepath.Join(dir, "warc", name))
		if err != nil || string(got) != "of "+name {
			t.Errorf("%s now holds %q, %v", name, got, err)
		}
	}
}

// waitForLog waits for the first line of crawl.log.
func waitForLog(t *testing.T, d *daemontest.Process, path string) {
	t.Helper()
	d.WaitFor(t, "a line in "+path, func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() > 0
	})
}

// Each command that a help text names exists.
func TestHelpNamesOnlyCommandsThatExist(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`(?:^|[\s:('"])arcrawl((?: [a-z][a-z-]+)+)(?:[^.a-z-]|\.?$|\.\s)`)
	found := 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, text := range []string{cmd.Short, cmd.Long, cmd.Example} {
			for line := range strings.Lines(text) {
				for _, m := range named.FindAllStringSubmatch(line, -1) {
					words := strings.Fields(m[1])
					got, rest, err := newRoot().Find(words)
					group := got != nil && got.HasAvailableSubCommands() && len(rest) > 0 && cmd.Root() != got && isExample(cmd, line)
					if err != nil || got == got.Root() && !isProse(words[0]) || group {
						t.Errorf("the help of %s names %q, which does not exist: %s", cmd.CommandPath(), m[0], line)
					}
					found++
				}
			}
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(newRoot())
	if found < 100 {
		t.Errorf("only %d commands were found in the help texts", found)
	}
}

// TestTheCommandsCanBeOverseen counts the commands without subcommands, and all flags. What is added must replace
// something, or find its place in a command that exists.
func TestTheCommandsCanBeOverseen(t *testing.T) {
	t.Parallel()
	const maxCommands, maxFlags = 60, 300
	commands, flags := 0, 0
	var count func(cmd *cobra.Command)
	count = func(cmd *cobra.Command) {
		cmd.LocalNonPersistentFlags().VisitAll(func(*pflag.Flag) { flags++ })
		cmd.PersistentFlags().VisitAll(func(*pflag.Flag) { flags++ })
		if !cmd.HasSubCommands() {
			commands++
		}
		for _, sub := range cmd.Commands() {
			count(sub)
		}
	}
	count(newRoot())
	if commands > maxCommands || flags > maxFlags {
		t.Errorf("%d commands and %d flags, want at most %d and %d", commands, flags, maxCommands, maxFlags)
	}
}

// isExample reports whether a line is an example of a command.
func isExample(cmd *cobra.Command, line string) bool { return strings.Contains(cmd.Example, line) }

// isProse reports whether a word after the name of the program is no command, but the next word of a sentence.
func isProse(word string) bool { return slices.Contains([]string{"crawls", "and", "or", "uses"}, word) }
