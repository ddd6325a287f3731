package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// command runs a command line of this wing.
func command(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = cli.Run(context.Background(), wing(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// line is a command line, with its exit code and texts that it prints on either side.
type line struct {
	args []string
	code int
	want []string
}

// run runs the command line and checks what it does.
func (l line) run(t *testing.T) (out, errs string) {
	t.Helper()
	code, out, errs := command(l.args...)
	if code != l.code {
		t.Errorf("%v: exit code %d, want %d\n%s%s", l.args, code, l.code, out, errs)
	}
	for _, want := range l.want {
		if !strings.Contains(out+errs, want) {
			t.Errorf("%v: %q is not in\n%s%s", l.args, want, out, errs)
		}
	}
	return out, errs
}

// wing returns the commands of this wing.
func wing() *cobra.Command {
	root := &cobra.Command{Use: "arcrawl"}
	root.AddCommand(Commands()...)
	return root
}

// writeHost writes a file of a host next to a configuration.
func writeHost(t *testing.T, conf, name, text string) {
	t.Helper()
	dir := filepath.Join(filepath.Dir(conf), "hosts.d")
	archivetest.Must(t, os.MkdirAll(dir, 0o750))
	daemontest.WriteFile(t, filepath.Join(dir, name), text)
}

func TestVerifyReportsDamageByItsExitCode(t *testing.T) {
	dir, files := archivetest.TwoFiles(t)
	run := func(code int, want []string, args ...string) {
		t.Helper()
		line{append([]string{"verify"}, args...), code, want}.run(t)
	}
	run(cli.ExitOK, []string{"2 files", "0 errors, 0 warnings"}, dir)
	run(cli.ExitOK, []string{`{"summary":{"files":1,`}, "--json", "--known", dir, files[1])
	run(cli.ExitDamaged, []string{"[revisit-unresolved]", "1 error", "name other files with --known"}, files[1])
	manifest, err := fixity.Open(dir, time.Time{})
	archivetest.Must(t, err)
	for _, file := range files {
		e, err := fixity.Measure(t.Context(), file, nil)
		archivetest.Must(t, errors.Join(err, manifest.Add(filepath.Base(file), e, time.Time{})))
	}
	away := t.TempDir()
	moved := filepath.Join(away, filepath.Base(files[1]))
	archivetest.Must(t, errors.Join(manifest.Close(), os.Rename(files[1], moved)))
	run(cli.ExitDamaged, []string{"is gone"}, dir)
	run(cli.ExitOK, nil, "--elsewhere", away, dir)
	daemontest.WriteFile(t, moved, "damaged at the other place")
	run(cli.ExitOK, nil, "--elsewhere", away, files[0]) // only the other file
	run(cli.ExitDamaged, []string{"are lost"}, "--elsewhere", away, dir)
	content := archivetest.Read(t, files[0])
	half := len(content) / 2
	damaged := filepath.Join(t.TempDir(), "damaged.warc.gz")
	daemontest.WriteFile(t, damaged, content[:half]+string(content[half]^1)+content[half+1:])
	run(cli.ExitDamaged, []string{`"kind":"`}, "--json", damaged)
	run(cli.ExitUsage, nil)
	run(cli.ExitDamaged, []string{"no such file"}, filepath.Join(dir, "missing"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if code := cli.Run(ctx, wing(), []string{"verify", dir}, io.Discard, io.Discard); code != cli.ExitFailure {
		t.Errorf("a stopped verify ends with %d", code)
	}
	unfinished := filepath.Join(t.TempDir(), filepath.Base(files[0])+".open") // and whole
	daemontest.WriteFile(t, unfinished, content)
	run(cli.ExitOK, nil, unfinished)
	run(cli.ExitDamaged, []string{"the archive is whole, but deviates from the specification: 1 warning in 1 file"},
		"--strict", unfinished)
}

func TestCapturesAreReadBack(t *testing.T) {
	dir, _ := archivetest.TwoFiles(t)
	const page = "http://www.a.example/"
	ruled, _ := daemontest.Configure(t, daemontest.Settled+"[change]\nscrub = ['one', 'two']\n")
	otherwise, _ := daemontest.Configure(t, daemontest.Settled+"[change]\nscrub_css = ['p + p']\n")
	unruled, _ := daemontest.Configure(t, daemontest.Settled)
	line{[]string{"index", "-o", filepath.Join(dir, "index.cdxj"), dir}, cli.ExitOK, []string{"3 captures in 2 files, 0 errors"}}.run(t)
	for _, c := range []line{
		{[]string{"index", dir}, cli.ExitOK, []string{"example,a)/ 20261121090000 {\"url\"", "3 captures"}},
		{[]string{"index", "-o", filepath.Join(t.TempDir(), "other.cdxj"), dir}, cli.ExitOK, []string{"3 captures"}},
		{[]string{"index", "--json", dir, "missing"}, cli.ExitDamaged, []string{`"kind":"unreadable"`, `"entries":3`}},
		{[]string{"history", page}, cli.ExitOK, []string{"2026-11-21T09:00:00.000000Z  200", "  ^text/: unchanged: 1h  changed: other content", "revisit (identical-payload-digest)"}},
		{[]string{"history", "--json", "www.a.example"}, cli.ExitFailure, []string{"no such capture"}},
		{[]string{"history", "--json", page}, cli.ExitOK, []string{`"profile":"identical-payload-digest"`, `"contentState":"changed"`}},
		{[]string{"history", "https://a.example/"}, cli.ExitFailure, []string{"no such capture", "similar URIs: " + page}},
		{[]string{"cat", page}, cli.ExitOK, []string{"<p>one</p>\n<p>same</p>\n"}},
		{[]string{"cat", "--head", page + "@2026-11-21T10"}, cli.ExitOK, []string{"<p>two</p>"}},
		{[]string{"cat", page + "@2026-11-2"}, cli.ExitFailure, []string{"no such capture", `if "2026-11-2" should be a date`, "20261121090000"}},
		{[]string{"cat", page + "@2025"}, cli.ExitFailure, []string{"no such capture: " + page + " before 2026-01-01T00:00:00Z; the first is of 2026-11-21T09:00:00Z"}},
		{[]string{"cat", "--head", page + "@2026112110"}, cli.ExitOK, []string{"HTTP/1.1 200 OK\r\n", "<p>two</p>"}},
		{[]string{"cat", "--raw", page + "@2027"}, cli.ExitOK, []string{"<p>one</p>", "using the one before, from 2026-11-21T11:00:00Z"}},
		{[]string{"diff", page + "@2026112109", page + "@2026112110"}, cli.ExitOK, []string{"--- " + page + "@2026-11-21T09:00:00.000000Z", "-<p>one</p>\n+<p>two</p>\n <p>same</p>"}},
		{[]string{"diff", page + "@2026-11-21 09", "@2026-11-21T10:00"}, cli.ExitOK, []string{"-<p>one</p>\n+<p>two</p>\n <p>same</p>"}},
		{[]string{"diff", page + "@2026-11-21T09", "@2026-11-21T11"}, cli.ExitOK, nil},
		{[]string{"diff", page + "@2026-11-21T12", page}, cli.ExitOK, []string{"no capture of " + page + " in that period", "both arguments name the same capture, " + page + "@2026-11-21T11:00:00.000000Z"}},
		{[]string{"diff", page}, cli.ExitOK, []string{"-<p>two</p>\n+<p>one</p>\n <p>same</p>"}},
		{[]string{"diff", page + "@2026-11-21T10"}, cli.ExitOK, []string{"-<p>one</p>\n+<p>two</p>\n <p>same</p>"}},
		{[]string{"diff", page + "@2026-11-21T09"}, cli.ExitFailure, []string{"no version of " + page + " before 2026-11-21T09:00:00Z"}},
		{[]string{"diff", page, "@2025"}, cli.ExitFailure, []string{"the first is of 2026-11-21T09:00:00Z"}},
		{[]string{"diff", "-c", ruled, "--scrub", "@host", page + "@2026112109", "@2026112110"}, cli.ExitOK, nil},
		{[]string{"diff", "-c", otherwise, "--scrub", "@host", page + "@2026112109", "@2026112110"}, cli.ExitOK, []string{"<body><p>one</p>\n+", "<body><p>two</p>\n"}},
		{[]string{"diff", "-c", unruled, "--scrub", "@host", page + "@2026112109", "@2026112110"}, cli.ExitFailure, []string{"the host www.a.example has no scrubbing rules in " + unruled}},
		{[]string{"diff", "--scrub", "one|two", page + "@2026112109", page + "@2026112110"}, cli.ExitOK, nil},
		{[]string{"diff", "--scrub", "(", page, page}, cli.ExitUsage, []string{"--scrub"}},
	} {
		if c.args[0] != "index" {
			c.args = append([]string{c.args[0], "--warcs", dir}, c.args[1:]...)
		}
		if out, errs := c.run(t); len(c.want) == 0 && out+errs != "" {
			t.Errorf("%v prints %s%s", c.args, out, errs)
		}
	}
	path, _ := daemontest.Configure(t, daemontest.Settled+"[storage]\n")
	line{[]string{"history", "-c", path, page}, cli.ExitConfig, nil}.run(t)
}

func TestDepsAndImpactFollowRevisits(t *testing.T) {
	dir, files := archivetest.TwoFiles(t)
	first, second := filepath.Base(files[0]), filepath.Base(files[1])
	conf, _ := daemontest.Configure(t, daemontest.Settled)
	writeHost(t, conf, "www.a.example.toml", "collections = [\"papers\"]\nowner = \"maria\"\n")
	writeHost(t, conf, "www.z.example.toml", "owner = \"jan\"\n")
	alone, news := filepath.Join(t.TempDir(), "alone"), filepath.Join(t.TempDir(), "news")
	for _, c := range []line{
		{[]string{"deps", "--warcs", dir, first, files[1]}, cli.ExitOK, []string{first + ": 2 captures\n  is needed by " + second + " for 1 revisit", "needs " + first}},
		{[]string{"deps", "--json", "--warcs", files[1], second}, cli.ExitDamaged, []string{`"missing":1`, "in no file"}},
		{[]string{"deps", "--warcs", dir, "other"}, cli.ExitFailure, []string{"the file other is neither in"}},
		{[]string{"deps", "--lost", "--warcs", dir, first}, cli.ExitOK, []string{"www.a.example  2026-11  3     1                   0", "all"}},
		{[]string{"deps", "--lost", "--list", "--json", "--by", "day", "--warcs", dir, first}, cli.ExitOK, []string{`"original":"` + first + `"`, `"period":"2026-11-21"`}},
		{[]string{"deps", "--lost", "--by", "week", "--warcs", dir, first}, cli.ExitUsage, []string{"year, month, day"}},
		{[]string{"extract", "--all", files[1]}, cli.ExitUsage, []string{"-o"}},
		{[]string{"extract", "--all", "--from", dir, "-o", alone, files[1]}, cli.ExitOK, []string{"1 file", "1 revisit became responses"}},
		{[]string{"extract", "--all", "--from", dir, "-o", alone, files[1]}, cli.ExitFailure, []string{"nothing is overwritten"}},
		{[]string{"verify", "--strict", alone}, cli.ExitOK, []string{"1 response", "0 errors, 0 warnings"}},
		{[]string{"cat", "--warcs", alone, "http://www.a.example/"}, cli.ExitOK, []string{"<p>one</p>"}},
		{[]string{"extract", "-o", news, dir}, cli.ExitUsage, []string{"--host"}},
		{[]string{"extract", "-o", news, "--since", "soon", dir}, cli.ExitUsage, []string{"--since"}},
		{[]string{"extract", "-o", news, "--json", "--host", "www.a.example", "--since", "2026112111", "--revisits", "keep", dir}, cli.ExitOK, []string{`"needs":[{"file":"` + first + `","revisits":1}]`}},
		{[]string{"extract", "-o", news + "3", "-c", conf, "--collection", "papers", "--until", "2026112110", dir}, cli.ExitOK, []string{"1 file of"}},
		{[]string{"extract", "-o", news + "5", "--host", "none.example", dir}, cli.ExitFailure, []string{"no record of the files matches the choice"}},
		{[]string{"extract", "-o", news + "4", "-c", conf, "--collection", "paper", dir}, cli.ExitUsage, []string{"collections papers"}},
		{[]string{"wacz", "-o", news + ".wacz", "-c", conf, "--owner", "maria", dir}, cli.ExitOK, []string{"with "}},
		{[]string{"wacz", "-o", news + "3.wacz", "-c", conf, "--collection", "papers", "--until", "2026112110", dir}, cli.ExitOK, []string{"with "}},
		{[]string{"wacz", "-o", news + "2.wacz", "-c", conf, "--owner", "jan", dir}, cli.ExitFailure, []string{"no record matches"}},
		{[]string{"verify", "--known", dir, news}, cli.ExitOK, []string{"1 revisit", "0 errors, 0 warnings"}}, // copies of what is known
		{[]string{"verify", dir, news}, cli.ExitDamaged, []string{"[duplicate-id]"}},
		{[]string{"extract", "--all", "-o", alone + "2", files[1]}, cli.ExitDamaged, []string{"the original is not there", "name other files with --from"}},
		{[]string{"extract", "-o", alone + "3", "--revisits", "keep", "--host", "www.a.example", files[1]}, cli.ExitDamaged, []string{"the original is not there"}},
		{[]string{"extract", "-o", news + "2", "--until", "2026112110", dir, "missing"}, cli.ExitDamaged, []string{"missing: error", "1 file", "1 error"}},
	} {
		c.run(t)
	}
}

func TestWaczPackagesTheChosenCaptures(t *testing.T) {
	dir, files := archivetest.TwoFiles(t)
	first := filepath.Base(files[0])
	out := t.TempDir()
	for _, c := range []line{
		{[]string{"wacz", "-o", filepath.Join(out, "a.zip"), dir}, cli.ExitUsage, []string{".wacz"}},
		{[]string{"wacz", "-o", filepath.Join(out, "a.wacz"), dir}, cli.ExitOK, []string{"2 files", "3 captures, 2 pages\n"}},
		{[]string{"wacz", "-o", filepath.Join(out, "a.wacz"), dir}, cli.ExitFailure, []string{"nothing is overwritten"}},
		{[]string{"wacz", "-o", filepath.Join(out, "b.wacz"), "--from", dir, files[1]}, cli.ExitOK, []string{"requires " + first, "for 1 revisit", "sha256:"}},
		{[]string{"wacz", "-o", filepath.Join(out, "i.wacz"), files[1]}, cli.ExitDamaged, []string{files[1] + ":", "neither in the package nor in the other named files", "1 error; the originals of 1 revisit", "--from"}},
		{[]string{"wacz", "-o", filepath.Join(out, "c.wacz"), "--since", "2026112111", dir}, cli.ExitOK, []string{"1 file", "requires " + first}},
		{[]string{"wacz", "-o", filepath.Join(out, "d.wacz"), "--since", "2026112111", "--self-contained", "--json", dir}, cli.ExitOK, []string{`"captures":1,"pages":1`, `"requires":[]`}},
		{[]string{"wacz", "-o", filepath.Join(out, "e.wacz"), "--since", "2026112109", dir}, cli.ExitOK, []string{"2 files", "3 captures, 2 pages\n"}},
		{[]string{"wacz", "-o", filepath.Join(out, "f.wacz"), "--host", "other", dir}, cli.ExitFailure, []string{"no record matches the choice"}},
		{[]string{"wacz", "-o", filepath.Join(out, "g.wacz"), "--since", "soon", dir}, cli.ExitUsage, []string{"--since"}},
		{[]string{"wacz", "-o", filepath.Join(out, "j.wacz"), "--log", "missing.log", dir}, cli.ExitFailure, []string{"read the crawl log missing.log"}},
		{[]string{"wacz", "-o", filepath.Join(out, "h.wacz"), dir, "missing"}, cli.ExitDamaged, []string{"2 files", "1 error"}},
	} {
		stdout, _ := c.run(t)
		if strings.HasSuffix(c.args[2], "e.wacz") && strings.Contains(stdout, "requires") {
			t.Errorf("%v: the package requires a file that it contains: %s", c.args, stdout)
		}
	}
	if left, err := filepath.Glob(filepath.Join(out, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestDamageBehindAnIndexIsNamed damages a record that an index lists. The capture is listed as damaged, and the rest
// is read.
func TestDamageBehindAnIndexIsNamed(t *testing.T) {
	t.Parallel()
	const page = "http://www.a.example/"
	dir, files := archivetest.TwoFiles(t)
	line{[]string{"index", "-o", filepath.Join(dir, "index.cdxj"), dir}, cli.ExitOK, nil}.run(t)
	_, listed, _ := command("history", "--json", "--warcs", dir, page)
	var second struct{ Offset, Length int }
	archivetest.Must(t, json.Unmarshal([]byte(strings.Split(listed, "\n")[1]), &second))
	spoil(t, files[0], second.Offset+second.Length/2)
	at := fmt.Sprintf("%s:%d: error", files[0], second.Offset)
	for _, c := range []line{
		{[]string{"history", page}, cli.ExitDamaged, []string{"T09:00:00.000000Z  200     response", "T10:00:00.000000Z  200     damaged", at, "T11:00:00.000000Z  200     revisit"}},
		{[]string{"history", "--json", page}, cli.ExitDamaged, []string{`"damage":"the archive is damaged: ` + at}},
		{[]string{"cat", page + "@2026112110"}, cli.ExitDamaged, []string{"cannot read the capture of " + page + " from 2026-11-21T10:00:00Z; choose another one", at}},
		{[]string{"cat", page}, cli.ExitOK, []string{"<p>one</p>"}},
		{[]string{"diff", page + "@2026112109", "@2026112110"}, cli.ExitDamaged, []string{at}},
		{[]string{"diff", page + "@2026112109", "@2026112111"}, cli.ExitOK, nil},
	} {
		c.args = append([]string{c.args[0], "--warcs", dir}, c.args[1:]...)
		if out, _ := c.run(t); c.args[0] != "history" && c.code != cli.ExitOK && out != "" {
			t.Errorf("%v prints %s", c.args, out)
		}
	}
}

// spoil flips a bit of a file and keeps its date, as a failing disk does.
func spoil(t *testing.T, file string, at int) {
	t.Helper()
	info, err := os.Stat(file)
	archivetest.Must(t, err)
	content, err := os.ReadFile(file)
	archivetest.Must(t, err)
	content[at] ^= 0x20
	daemontest.WriteFile(t, file, string(content))
	archivetest.Must(t, os.Chtimes(file, info.ModTime(), info.ModTime()))
}

func TestHostListReadsHosts(t *testing.T) {
	t.Parallel()
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "hosts.txt")
		archivetest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	hosts := []string{"first.example"}
	archivetest.Must(t, (hostList{&hosts}).Set("@"+write("# news\n\n a.example # the first\n.b.example\n")))
	if want := []string{"first.example", "a.example", ".b.example"}; !slices.Equal(hosts, want) {
		t.Errorf("the hosts are %q, want %q", hosts, want)
	}
	for text, want := range map[string]string{
		"# nothing\n": "names no host", "a.example b.example\n": "one host on a line", "https://a.example/\n": "one host on a line",
	} {
		if err := (hostList{&hosts}).Set("@" + write(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q returns %v, want %q", text, err, want)
		}
	}
}

// TestPackageOfHostsAndPeriod packs the hosts of a list in a period, and refuses wrong values of the flags.
func TestPackageOfHostsAndPeriod(t *testing.T) {
	t.Parallel()
	dir, _ := archivetest.TwoFiles(t)
	list := filepath.Join(t.TempDir(), "hosts.txt")
	daemontest.WriteFile(t, list, "www.a.example\n")
	args := func(flags ...string) []string {
		return append([]string{"wacz", "-o", filepath.Join(t.TempDir(), "x.wacz"), dir}, flags...)
	}
	for _, c := range []line{
		{args("--host", "@"+list, "--since", "2026", "--max-size", "1GB"), cli.ExitOK, []string{"x.json: ", "x-001.wacz ("}},
		{args("--max-size", "0B"), cli.ExitUsage, nil},
		{args("--max-size", "much"), cli.ExitUsage, nil},
		{args("--sign-key", list), cli.ExitUsage, nil},
		{args("--from", filepath.Join(dir, "no.json")), cli.ExitUsage, nil},
	} {
		c.run(t)
	}
}

// pushable returns a folder of three WARC files with 1200, 2 and 1 captures, and the lines that an OutbackCDX server
// should have of them.
func pushable(t *testing.T) (dir string, want []string) {
	t.Helper()
	dir = t.TempDir()
	id := 0
	for name, n := range map[string]int{"a": 1200, "b": 2, "c": 1} {
		texts := []string{archivetest.Info}
		for i := range n {
			host := map[string]string{"a": "old", "b": "b", "c": "c"}[name]
			texts = append(texts, resource(fmt.Sprint(id), fmt.Sprintf("http://%s.example/%d", host, i), "x"))
			id++
		}
		archivetest.Must(t, os.WriteFile(filepath.Join(dir, name+".warc.gz"), archivetest.Zipped(t, texts...), 0o600))
	}
	var made bytes.Buffer
	_, err := index.Build(t.Context(), []string{dir}, index.Options{}, &made, func(f warc.Finding) error { return &f })
	archivetest.Must(t, err)
	for line := range strings.Lines(made.String()) {
		e, err := index.ParseEntry(line)
		archivetest.Must(t, err)
		want = append(want, strings.TrimSuffix(string(e.AppendCDX(nil)), "\n"))
	}
	slices.Sort(want)
	return dir, want
}

// TestAPushResumesWhereTheServerFailed pushes to a server that fails for a while, fails for longer, and refuses single
// lines.
func TestAPushResumesWhereTheServerFailed(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir, want := pushable(t)
	s := archivetest.StartCDXServer(t)
	list := filepath.Join(t.TempDir(), "sent")
	posts, fails := 0, func(n int) bool { return n == 1 }
	s.Behave(func(lines []string) (int, string) {
		if posts++; fails(posts) {
			return http.StatusServiceUnavailable, "not now"
		}
		return 0, ""
	})
	run := func() (string, error) {
		cmd, errs := newIndex(), &bytes.Buffer{}
		cmd.SetContext(t.Context())
		cmd.SetErr(errs)
		p, err := newPush(cmd, s.URL+"/crawl", list, false)
		archivetest.Must(t, err)
		p.Wait = func(context.Context, time.Duration) error { return nil }
		err = pushFiles(cmd, p, []string{dir})
		return errs.String(), err
	}
	fails = func(n int) bool { return n == 1 || n >= 4 } // once, and then permanently in the second file
	if _, err := run(); err == nil || cli.ExitCode(err) != cli.ExitFailure || !strings.Contains(err.Error(), "file 2 of 3") || !strings.Contains(err.Error(), "503") ||
		!strings.Contains(err.Error(), "1200 captures of the files before are there. Run the command again") {
		t.Errorf("a server that fails: %v", err)
	}
	if posts != 3+pushAttempts {
		t.Errorf("%d posts to a server that fails, want %d", posts, 3+pushAttempts)
	}
	fails = func(int) bool { return false }
	if says, err := run(); err != nil || !strings.Contains(says, "3 captures of 2 files") || !strings.Contains(says, "1 file sent before") {
		t.Errorf("when the server is back: %v, %s", err, says)
	}
	if got, _ := s.Seen(); cmp.Diff(want, got) != "" {
		t.Errorf("the server does not have all lines: %s", cmp.Diff(want, got))
	}
	list += "2"
	s.Behave(func(lines []string) (int, string) {
		for _, line := range lines {
			if strings.Contains(line, "old.example/77 ") {
				return http.StatusBadRequest, "At line: " + line
			}
		}
		return 0, ""
	})
	if says, err := run(); cli.ExitCode(err) != cli.ExitFailure || !strings.Contains(says, "skipped http://old.example/77") || !strings.Contains(says, "1202 captures of 3 files") || !strings.Contains(says, "1 capture refused") {
		t.Errorf("a line that is refused: %v, %s", err, says)
	}
}

func TestPushSendsAnIndex(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir, want := pushable(t)
	s := archivetest.StartCDXServer(t)
	list := filepath.Join(t.TempDir(), "sent")
	run := func(code int, says ...string) {
		t.Helper()
		line{[]string{"index", "--push", s.URL + "/crawl", "--done", list, dir}, code, says}.run(t)
	}
	there := func(posts int) {
		t.Helper()
		got, n := s.Seen()
		if diff := cmp.Diff(want, got); diff != "" || n != posts || s.Largest() > maxPushLines {
			t.Errorf("%d posts of at most %d lines, want %d; -want +there:\n%s", n, s.Largest(), posts, diff)
		}
	}
	run(cli.ExitOK, "1203 captures of 3 files sent to "+s.URL+"/crawl; 0 files sent before")
	there(4)
	run(cli.ExitOK, "0 captures of 0 files", "3 files sent before")
	there(4)
	line{[]string{"index", "--push", s.URL + "/crawl", dir}, cli.ExitOK, []string{"1203 captures"}}.run(t)
	there(8)
	archivetest.Must(t, os.WriteFile(filepath.Join(dir, "torn.warc.gz"), archivetest.Zipped(t, archivetest.Info)[:30], 0o644))
	daemontest.WriteFile(t, filepath.Join(dir, "new.warc.gz.open"), string(archivetest.Zipped(t, archivetest.Info)))
	for range 2 { // a damaged file does not count as sent
		run(cli.ExitDamaged, "torn.warc.gz:0: error: the file ends", "3 files sent before, 1 still open", "1 error, listed above; everything else was sent")
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--push", "localhost:8901/x", dir}, "want the address of a collection"},
		{[]string{"--push", "http://localhost:8901", dir}, "want the address of a collection"},
		{[]string{"--push", s.URL + "/other", "--done", list, dir}, "name another file"},
		{[]string{"--push", s.URL + "/crawl", "-o", list, dir}, "cannot be used together"},
		{[]string{"--done", list, dir}, "--done needs --push"},
	} {
		line{append([]string{"index"}, c.args...), cli.ExitUsage, []string{c.want}}.run(t)
	}
}
