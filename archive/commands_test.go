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
	"github.com/arcrawl/arcrawl/archive/keep"
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
	code, out, errs := command("verify", dir)
	if code != cli.ExitOK || !strings.Contains(out, "2 files") || !strings.Contains(out, "0 errors, 0 warnings") || errs != "" {
		t.Errorf("a sound archive: exit code %d, %s%s", code, out, errs)
	}
	if code, out, _ := command("verify", "--json", "--known", dir, files[1]); code != cli.ExitOK || !strings.HasPrefix(out, `{"summary":{"files":1,`) {
		t.Errorf("one file, the other known: exit code %d, %s", code, out)
	}
	code, out, errs = command("verify", files[1])
	if code != cli.ExitDamaged || !strings.Contains(out, "[revisit-unresolved]") || !strings.Contains(errs, "1 error") || !strings.Contains(errs, "name other files with --known") {
		t.Errorf("a file without its original: exit code %d, %s%s", code, out, errs)
	}
	manifest, err := fixity.Open(dir, time.Time{})
	archivetest.Must(t, err)
	for _, file := range files {
		e, err := fixity.Measure(t.Context(), file, nil)
		archivetest.Must(t, errors.Join(err, manifest.Add(filepath.Base(file), e, time.Time{})))
	}
	away := t.TempDir()
	moved := filepath.Join(away, filepath.Base(files[1]))
	archivetest.Must(t, errors.Join(manifest.Close(), os.Rename(files[1], moved)))
	if code, out, _ := command("verify", dir); code != cli.ExitDamaged || !strings.Contains(out, "is gone") {
		t.Errorf("a file that the manifest lists is gone: exit code %d, %s", code, out)
	}
	if code, out, _ := command("verify", "--elsewhere", away, dir); code != cli.ExitOK {
		t.Errorf("a file that was moved away: exit code %d, %s", code, out)
	}
	daemontest.WriteFile(t, moved, "damaged at the other place")
	if code, out, _ := command("verify", "--elsewhere", away, files[0]); code != cli.ExitOK {
		t.Errorf("only the other file: exit code %d, %s", code, out)
	}
	if code, out, _ := command("verify", "--elsewhere", away, dir); code != cli.ExitDamaged || !strings.Contains(out, "are lost") {
		t.Errorf("a damaged file at another place: exit code %d, %s", code, out)
	}
	content, err := os.ReadFile(files[0])
	archivetest.Must(t, err)
	content[len(content)/2] ^= 1
	damaged := filepath.Join(t.TempDir(), "damaged.warc.gz")
	daemontest.WriteFile(t, damaged, string(content))
	if code, out, _ := command("verify", "--json", damaged); code != cli.ExitDamaged || !strings.Contains(out, `"kind":"`) {
		t.Errorf("a damaged file: exit code %d, %s", code, out)
	}
	if code, _, _ := command("verify"); code != cli.ExitUsage {
		t.Errorf("no file: exit code %d, want %d", code, cli.ExitUsage)
	}
	if code, out, _ := command("verify", filepath.Join(dir, "missing")); code != cli.ExitDamaged || !strings.Contains(out, "no such file") {
		t.Errorf("a missing file: exit code %d, %s", code, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if code := cli.Run(ctx, wing(), []string{"verify", dir}, io.Discard, io.Discard); code != cli.ExitFailure {
		t.Errorf("a stopped verify ends with %d", code)
	}
}

func TestCapturesAreReadBack(t *testing.T) {
	dir, _ := archivetest.TwoFiles(t)
	const page = "http://www.a.example/"
	ruled, _ := daemontest.Configure(t, daemontest.Settled+"[change]\nscrub = ['one', 'two']\n")
	otherwise, _ := daemontest.Configure(t, daemontest.Settled+"[change]\nscrub_css = ['p + p']\n")
	unruled, _ := daemontest.Configure(t, daemontest.Settled)
	if code, _, errs := command("index", "-o", filepath.Join(dir, "index.cdxj"), dir); code != cli.ExitOK || !strings.Contains(errs, "3 captures in 2 files, 0 errors") {
		t.Errorf("index: exit code %d, %s", code, errs)
	}
	for _, c := range []struct {
		args []string
		code int
		want []string // in what is printed, on either side
	}{
		{[]string{"index", dir}, cli.ExitOK, []string{"example,a)/ 20261121090000 {\"url\"", "3 captures"}},
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
		{[]string{"diff", page, "@2025"}, cli.ExitFailure, []string{"the first is of 2026-11-21T09:00:00Z"}},
		{[]string{"diff", "-c", ruled, "--host-rules", page + "@2026112109", "@2026112110"}, cli.ExitOK, nil},
		{[]string{"diff", "-c", otherwise, "--host-rules", page + "@2026112109", "@2026112110"}, cli.ExitOK, []string{"<body><p>one</p>\n+", "<body><p>two</p>\n"}},
		{[]string{"diff", "-c", unruled, "--host-rules", page + "@2026112109", "@2026112110"}, cli.ExitFailure, []string{"the host www.a.example has no scrubbing rules in " + unruled}},
		{[]string{"diff", "--scrub", "one|two", page + "@2026112109", page + "@2026112110"}, cli.ExitOK, nil},
		{[]string{"diff", "--scrub", "(", page, page}, cli.ExitUsage, []string{"--scrub"}},
	} {
		args := c.args
		if args[0] != "index" {
			args = append([]string{args[0], "--warcs", dir}, args[1:]...)
		}
		code, out, errs := command(args...)
		if code != c.code || len(c.want) == 0 && out+errs != "" {
			t.Errorf("%v: exit code %d, %s%s", args, code, out, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(out+errs, want) {
				t.Errorf("%v: %q is not in\n%s%s", args, want, out, errs)
			}
		}
	}
	path, _ := daemontest.Configure(t, daemontest.Settled+"[storage]\n")
	if code, _, errs := command("history", "-c", path, page); code != cli.ExitConfig {
		t.Errorf("a wrong configuration: exit code %d, %s", code, errs)
	}
}

func TestDepsAndImpactFollowRevisits(t *testing.T) {
	dir, files := archivetest.TwoFiles(t)
	first, second := filepath.Base(files[0]), filepath.Base(files[1])
	conf, _ := daemontest.Configure(t, daemontest.Settled)
	writeHost(t, conf, "www.a.example.toml", "collections = [\"papers\"]\nowner = \"maria\"\n")
	writeHost(t, conf, "www.z.example.toml", "owner = \"jan\"\n")
	alone, news := filepath.Join(t.TempDir(), "alone"), filepath.Join(t.TempDir(), "news")
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
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
		{[]string{"extract", "-o", news, "--json", "--host", "www.a.example", "--since", "2026112111", "--keep-revisits", dir}, cli.ExitOK, []string{`"needs":[{"file":"` + first + `","revisits":1}]`}},
		{[]string{"extract", "-o", news + "3", "-c", conf, "--collection", "papers", "--until", "2026112110", dir}, cli.ExitOK, []string{"1 file of"}},
		{[]string{"extract", "-o", news + "4", "-c", conf, "--collection", "paper", dir}, cli.ExitUsage, []string{"collections papers"}},
		{[]string{"wacz", "-o", news + ".wacz", "-c", conf, "--owner", "maria", dir}, cli.ExitOK, []string{"with "}},
		{[]string{"wacz", "-o", news + "3.wacz", "-c", conf, "--collection", "papers", "--until", "2026112110", dir}, cli.ExitOK, []string{"with "}},
		{[]string{"wacz", "-o", news + "2.wacz", "-c", conf, "--owner", "jan", dir}, cli.ExitFailure, []string{"no record matches"}},
		{[]string{"verify", "--known", dir, news}, cli.ExitOK, []string{"1 revisit", "0 errors, 0 warnings"}}, // copies of what is known
		{[]string{"verify", dir, news}, cli.ExitDamaged, []string{"[duplicate-id]"}},
		{[]string{"extract", "--all", "-o", alone + "2", files[1]}, cli.ExitDamaged, []string{"the original is not there", "name other files with --from"}},
		{[]string{"extract", "-o", alone + "3", "--keep-revisits", "--host", "www.a.example", files[1]}, cli.ExitDamaged, []string{"the original is not there"}},
		{[]string{"extract", "-o", news + "2", "--until", "2026112110", dir, "missing"}, cli.ExitDamaged, []string{"missing: error", "1 file", "1 error"}},
	} {
		code, out, errs := command(c.args...)
		if code != c.code {
			t.Errorf("%v: exit code %d, want %d: %s%s", c.args, code, c.code, out, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(out+errs, want) {
				t.Errorf("%v: %q is not in\n%s%s", c.args, want, out, errs)
			}
		}
	}
}

// TestStrictVerificationSaysThatThereAreOnlyWarnings verifies a whole file that was never finished.
func TestStrictVerificationSaysThatThereAreOnlyWarnings(t *testing.T) {
	_, files := archivetest.TwoFiles(t)
	name := filepath.Join(t.TempDir(), filepath.Base(files[0])+".open")
	content, err := os.ReadFile(files[0])
	if err == nil {
		err = os.WriteFile(name, content, 0o600)
	}
	archivetest.Must(t, err)
	if code, out, errs := command("verify", name); code != cli.ExitOK {
		t.Errorf("without --strict: exit code %d: %s%s", code, out, errs)
	}
	code, _, errs := command("verify", "--strict", name)
	want := "the archive is whole, but deviates from the specification: 1 warning in 1 file"
	if code != cli.ExitDamaged || !strings.Contains(errs, want) {
		t.Errorf("exit code %d, %q; want %d and %q", code, errs, cli.ExitDamaged, want)
	}
}

func TestWaczPackagesTheChosenCaptures(t *testing.T) {
	dir, files := archivetest.TwoFiles(t)
	first := filepath.Base(files[0])
	out := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
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
		code, stdout, errs := command(c.args...)
		if code != c.code {
			t.Errorf("%v: exit code %d, want %d: %s%s", c.args, code, c.code, stdout, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(stdout+errs, want) {
				t.Errorf("%v: %q is not in\n%s%s", c.args, want, stdout, errs)
			}
		}
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
	if code, out, errs := command("index", "-o", filepath.Join(dir, "index.cdxj"), dir); code != cli.ExitOK {
		t.Fatal(out, errs)
	}
	_, listed, _ := command("history", "--json", "--warcs", dir, page)
	var second struct{ Offset, Length int }
	archivetest.Must(t, json.Unmarshal([]byte(strings.Split(listed, "\n")[1]), &second))
	spoil(t, files[0], second.Offset+second.Length/2)
	at := fmt.Sprintf("%s:%d: error", files[0], second.Offset)
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"history", page}, cli.ExitDamaged, []string{"T09:00:00.000000Z  200     response", "T10:00:00.000000Z  200     damaged", at, "T11:00:00.000000Z  200     revisit"}},
		{[]string{"history", "--json", page}, cli.ExitDamaged, []string{`"damage":"the archive is damaged: ` + at}},
		{[]string{"cat", page + "@2026112110"}, cli.ExitDamaged, []string{"cannot read the capture of " + page + " from 2026-11-21T10:00:00Z; choose another one", at}},
		{[]string{"cat", page}, cli.ExitOK, []string{"<p>one</p>"}},
		{[]string{"diff", page + "@2026112109", "@2026112110"}, cli.ExitDamaged, []string{at}},
		{[]string{"diff", page + "@2026112109", "@2026112111"}, cli.ExitOK, nil},
	} {
		code, out, errs := command(append([]string{c.args[0], "--warcs", dir}, c.args[1:]...)...)
		if code != c.code || c.args[0] != "history" && code != cli.ExitOK && out != "" {
			t.Errorf("%v: exit code %d, want %d\n%s%s", c.args, code, c.code, out, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(out+errs, want) {
				t.Errorf("%v: %q is not in\n%s%s", c.args, want, out, errs)
			}
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
	archivetest.Must(t, (hostList{&hosts}).Set(write("# news\n\n a.example # the first\n.b.example\n")))
	if want := []string{"first.example", "a.example", ".b.example"}; !slices.Equal(hosts, want) {
		t.Errorf("the hosts are %q, want %q", hosts, want)
	}
	for text, want := range map[string]string{
		"# nothing\n": "names no host", "a.example b.example\n": "one host on a line", "https://a.example/\n": "one host on a line",
	} {
		if err := (hostList{&hosts}).Set(write(text)); err == nil || !strings.Contains(err.Error(), want) {
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
	out := filepath.Join(t.TempDir(), "x.wacz")
	code, printed, errs := command("wacz", "-o", out, "--host-list", list, "--since", "2026", "--max-size", "1GB", dir)
	if code != cli.ExitOK || !strings.Contains(printed, "x.json: ") || !strings.Contains(printed, "x-001.wacz (") {
		t.Errorf("exit code %d\n%s%s", code, printed, errs)
	}
	for _, flags := range [][]string{{"--max-size", "0B"}, {"--max-size", "much"}, {"--sign-key", list}, {"--from", filepath.Join(dir, "no.json")}} {
		args := append([]string{"wacz", "-o", filepath.Join(t.TempDir(), "x.wacz")}, append(flags, dir)...)
		if code, _, errs := command(args...); code != cli.ExitUsage {
			t.Errorf("%q ends with %d: %s", flags, code, errs)
		}
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
	if _, err := index.Build(t.Context(), []string{dir}, index.Options{}, &made,
		func(f warc.Finding) error { return &f }); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(made.String()) {
		e, err := index.ParseEntry(line)
		archivetest.Must(t, err)
		want = append(want, strings.TrimSuffix(string(e.AppendCDX(nil)), "\n"))
	}
	slices.Sort(want)
	return dir, want
}

// pushAttempts is how often lines are sent to a server that fails.
const pushAttempts = 4

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
		got, out, errs := command("index", "--push", s.URL+"/crawl", "--done", list, dir)
		if got != code || out != "" {
			t.Errorf("exit code %d, want %d\n%s%s", got, code, out, errs)
		}
		for _, w := range says {
			if !strings.Contains(errs, w) {
				t.Errorf("%q is not in\n%s", w, errs)
			}
		}
	}
	there := func(posts int) {
		t.Helper()
		got, n := s.Seen()
		if diff := cmp.Diff(want, got); diff != "" || n != posts || s.Largest() > keep.MaxLines {
			t.Errorf("%d posts of at most %d lines, want %d; -want +there:\n%s", n, s.Largest(), posts, diff)
		}
	}
	run(cli.ExitOK, "1203 captures of 3 files sent to "+s.URL+"/crawl; 0 files sent before")
	there(4)
	run(cli.ExitOK, "0 captures of 0 files", "3 files sent before")
	there(4)
	if code, _, errs := command("index", "--push", s.URL+"/crawl", dir); code != cli.ExitOK || !strings.Contains(errs, "1203 captures") {
		t.Errorf("without a list: exit code %d, %s", code, errs)
	}
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
		if code, _, errs := command(append([]string{"index"}, c.args...)...); code != cli.ExitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit code %d, %s", c.args, code, errs)
		}
	}
}
