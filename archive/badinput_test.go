package archive

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// resource returns a record with the digests of its block. more holds further header lines.
func resource(id, target, body string, more ...string) string {
	sum := digest.Of([]byte(body)).String()
	return archivetest.Plain(append(archivetest.Fields("resource", id, "WARC-Target-URI: "+target, "Content-Type: text/html",
		"WARC-Block-Digest: "+sum, "WARC-Payload-Digest: "+sum), more...), body)
}

const (
	soundPage   = "http://www.a.example/"      // of the archive that the damage comes to
	beforeFault = "http://near.example/before" // in the damaged file, before the fault
	behindFault = "http://near.example/behind" // and behind it
)

// fault is a damaged file among sound files.
type fault struct {
	name    string
	file    string // the last element of its path
	content []byte // of the file
	make    func(t *testing.T, path string)
	at      int  // offset that has to be named; -1 for the file
	rest    bool // records of the file before and behind the fault are to be read
	warning bool // nothing is lost by it
	// only names the commands that can know of it, if not all.
	only []string
}

// faults returns one fault of every kind.
func faults(t *testing.T) []fault {
	t.Helper()
	before, behind := resource("before", beforeFault, "<p>before</p>"), resource("behind", behindFault, "<p>behind</p>")
	const bad = "http://near.example/bad"
	body := "<p>" + strings.Repeat("what is to be damaged; ", 20) + "</p>"
	record := resource("bad", bad, body)
	at, plainAt := len(archivetest.Zipped(t, archivetest.Info, before)), len(archivetest.Info+before)
	around := func(text string) []byte { return archivetest.Zipped(t, archivetest.Info, before, text, behind) }
	flipped := around(record)
	flipped[at+len(archivetest.Zipped(t, record))/2] ^= 0x10
	flippedStart := []byte(archivetest.Info + before + record + behind)
	flippedStart[plainAt+1] ^= 0x10
	whole := archivetest.Zipped(t, archivetest.Info, before, behind, record)
	inWhole := len(archivetest.Zipped(t, archivetest.Info, before, behind))
	short := strings.Replace(record, "Content-Length: ", "Content-Length: 1", 1)
	proving := []string{"verify", "dedup import"}
	packages := append([]string{
		"history", "history behind a fault", "cat", "diff", "scrub test", "deps", "deps --lost", "extract --all", "extract",
	}, proving...)
	return []fault{
		{name: "a compressed file that ends early", file: "cut.warc.gz", content: whole[:len(whole)-12], at: inWhole, rest: true},
		{name: "a plain file that ends early", file: "cut.warc", content: []byte(archivetest.Info + before + behind + record[:len(record)-40]), at: plainAt + len(behind), rest: true},
		{name: "a flipped bit in a compressed record", file: "flip.warc.gz", content: flipped, at: at, rest: true},
		{name: "a flipped bit where a plain record begins", file: "flip.warc", content: flippedStart, at: plainAt, rest: true},
		{name: "a length that is too large", file: "long.warc.gz", content: around(short), at: at, rest: true},
		{name: "a length that is too large, plain", file: "long.warc", content: []byte(archivetest.Info + before + short + behind), at: plainAt, rest: true},
		{name: "a length that is too small", file: "short.warc.gz", content: around(resource("bad", bad, body, "Content-Length: 7")), at: at, rest: true},
		{name: "a length that is too small, plain", file: "short.warc", content: []byte(archivetest.Info + before + resource("bad", bad, body, "Content-Length: 7") + behind), at: plainAt, rest: true},
		{name: "a length without measure", file: "huge.warc.gz", content: around(resource("bad", bad, body, "Content-Length: 9223372036854775807")), at: at, rest: true},
		{name: "a length beyond all numbers", file: "numb.warc", content: []byte(archivetest.Info + before + resource("bad", bad, body, "Content-Length: 99999999999999999999") + behind), at: plainAt, rest: true},
		{name: "an empty file", file: "empty.warc.gz", content: []byte{}, at: -1},
		{name: "an empty record", file: "void.warc.gz", content: around(""), at: at, rest: true},
		{name: "a header without end", file: "head.warc.gz", content: around("WARC/1.1\r\n" + strings.Repeat("X: y\r\n", 20_000)), at: at, rest: true},
		{name: "another payload than its digest", file: "digest.warc.gz", content: around(strings.Replace(archivetest.Response("bad", bad, archivetest.HTMLHead, "good"), "good", "evil", 1)), at: at, rest: true, only: proving},
		{name: "an ARC file", file: "old.arc.gz", content: archivetest.Zipped(t, "filedesc://old.arc 0.0.0.0 20010101000000 text/plain 76\n1 0 Alexa\n"), at: -1},
		{name: "something that is no archive", file: "other.warc", content: []byte("not at all"), at: -1},
		{name: "a file that is still open", file: "writing.warc.gz.open", content: archivetest.Zipped(t, archivetest.Info, before, behind), at: -1, rest: true, warning: true},
		{name: "a file that is being written, in the middle of a record", file: "torn.warc.gz.open", content: whole[:len(whole)-12], at: -1, rest: true, warning: true},
		{name: "a file that has just been begun", file: "begun.warc.gz.open", content: []byte{}, at: -1, warning: true},
		{name: "a named pipe", file: "pipe.warc", at: -1, make: func(t *testing.T, path string) {
			archivetest.Must(t, syscall.Mkfifo(path, 0o644))
		}},
		{name: "a link that leads nowhere", file: "link.warc", at: -1, make: func(t *testing.T, path string) {
			archivetest.Must(t, os.Symlink("link.warc", path))
		}},
		{name: "a folder that may not be read", file: "closed", at: -1, make: func(t *testing.T, path string) {
			if os.Geteuid() == 0 {
				t.Skip("root may read everything; run this test as another user")
			}
			archivetest.Must(t, os.Mkdir(path, 0))
			t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
		}},
		{name: "a package that ends early", file: "cut.wacz", content: []byte("PK\x03\x04 and no more"), at: -1, only: packages},
	}
}

// reader is a command that reads archives.
type reader struct {
	name string
	args func(dir, out, conf, first string) []string
	// found says what is missing of the sound archive in what the command gave.
	found func(t *testing.T, stdout, out string, f fault) string
}

// contains finds words in the output. If the records around a fault must be read, it also finds their words.
func contains(words ...string) func(*testing.T, string, string, fault) string {
	return func(_ *testing.T, stdout, _ string, _ fault) string {
		for _, w := range words {
			if !strings.Contains(stdout, w) {
				return w
			}
		}
		return ""
	}
}

// inFiles looks for the sound records, and those around the fault, in the new files of a command.
func inFiles(t *testing.T, _, out string, f fault) string {
	t.Helper()
	code, printed, errs := command("index", out)
	if code != cli.ExitOK {
		return "a sound archive in " + out + ": " + errs
	}
	return soundIndex(t, printed, out, f)
}

func soundIndex(_ *testing.T, printed, _ string, f fault) string {
	if strings.Count(printed, `"url":"`+soundPage+`"`) != 3 {
		return "three captures of " + soundPage
	}
	if f.rest && (!strings.Contains(printed, beforeFault) || !strings.Contains(printed, behindFault)) {
		return "what is around the fault"
	}
	return ""
}

// inPackage looks for the index of a package.
func inPackage(t *testing.T, stdout, _ string, f fault) string {
	t.Helper()
	captures := 3
	if f.rest && !f.warning { // what is still open is left out
		captures += 2
	}
	var made struct{ Captures int }
	if err := json.Unmarshal([]byte(stdout), &made); err != nil || made.Captures < captures {
		return fmt.Sprintf("%d captures", captures)
	}
	return ""
}

func readers() []reader {
	look := func(name string, args ...string) func(dir, out, conf, first string) []string {
		return func(dir, _, conf, first string) []string {
			line := append(strings.Fields(name), "--warcs", dir, "-c", conf)
			for _, a := range args {
				line = append(line, strings.Replace(a, "FIRST", first, 1))
			}
			return line
		}
	}
	make := func(args ...string) func(dir, out, conf, first string) []string {
		return func(dir, out, conf, _ string) []string {
			line := []string{}
			for _, a := range args {
				line = append(line, strings.NewReplacer("OUT", out, "CONF", conf).Replace(a))
			}
			return append(line, dir)
		}
	}
	return []reader{
		{"verify", make("verify", "--json"), func(t *testing.T, stdout, _ string, f fault) string {
			lines := strings.Split(strings.TrimSpace(stdout), "\n")
			var last struct {
				Summary struct{ Records map[string]int }
			}
			want := map[string]int{"response": 2, "revisit": 1}
			if f.rest {
				want["resource"] = 2
			}
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
				return err.Error()
			}
			for kind, n := range want {
				if last.Summary.Records[kind] < n {
					return fmt.Sprintf("%d records of type %s", n, kind)
				}
			}
			return ""
		}},
		{"index", make("index"), soundIndex},
		{"history", look("history", soundPage), contains("09:00:00", "10:00:00", "11:00:00")},
		{"history behind a fault", look("history", behindFault), func(t *testing.T, stdout, out string, f fault) string {
			if !f.rest {
				return ""
			}
			return contains("2026-11-21T09")(t, stdout, out, f)
		}},
		{"cat", look("cat", soundPage+"@2026112109"), contains("<p>one</p>")},
		{"diff", look("diff", soundPage+"@2026112109", "@2026112110"), contains("-<p>one</p>", "+<p>two</p>")},
		{"deps", look("deps", "FIRST"), contains("is needed by")},
		{"deps --lost", look("deps --lost", "FIRST"), contains("www.a.example  2026-11  3 ")},
		{"extract --all", make("extract", "--all", "-o", "OUT", "--revisits", "none"), inFiles},
		{"extract", make("extract", "-o", "OUT", "--prefix", "http"), inFiles},
		{"wacz", make("wacz", "--json", "-o", "OUT.wacz"), inPackage},
		{"dedup import", make("dedup", "import", "-c", "CONF"), contains("2 originals, 0 revisits", "0 originals, 1 revisit")},
	}
}

// TestBadInputIsNamedAndTheRestIsRead runs every command that reads archives with every fault. Each names the fault
// with file and offset, reads all the rest, reports the damage by its exit code, and changes no file that it reads.
func TestBadInputIsNamedAndTheRestIsRead(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	sound, files := archivetest.TwoFiles(t)
	for _, f := range faults(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			archivetest.Must(t, os.CopyFS(dir, os.DirFS(sound)))
			path := filepath.Join(dir, f.file)
			if f.make != nil {
				f.make(t, path)
			} else {
				daemontest.WriteFile(t, path, string(f.content))
			}
			before := sumsOf(t, dir)
			for _, r := range readers() {
				meet(t, f, r, path, filepath.Base(files[0]))
			}
			if diff := cmp.Diff(before, sumsOf(t, dir)); diff != "" {
				t.Errorf("a command changed files that it read: -before +after\n%s", diff)
			}
		})
	}
}

// meet runs one command with one fault.
func meet(t *testing.T, f fault, r reader, path, first string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	conf, _ := daemontest.Configure(t, daemontest.Settled+"[change]\nscrub = ['nothing']\n")
	args := r.args(filepath.Dir(path), out, conf, first)
	code, stdout, errs := command(args...)
	knows := len(f.only) == 0
	for _, name := range f.only {
		knows = knows || name == r.name
	}
	want := cli.ExitDamaged
	if f.warning || !knows {
		want = cli.ExitOK
	}
	if r.name == "history behind a fault" && !f.rest && want == cli.ExitOK {
		want = cli.ExitFailure
	}
	if code != want {
		t.Errorf("%s: exit code %d, want %d\n%s%s", r.name, code, want, stdout, errs)
	}
	// A command that looks something up does not mention a file that is still written: that is no fault.
	writing := slices.Contains(args, "--warcs") && strings.HasSuffix(f.file, ".open")
	if knows && !writing && !namesOf(stdout+errs, path, f) {
		t.Errorf("%s: %s at %d is not named in\n%s%s", r.name, path, f.at, stdout, errs)
	}
	if lacks := r.found(t, stdout, out, f); lacks != "" {
		t.Errorf("%s: there is no %q in\n%s%s", r.name, lacks, stdout, errs)
	}
}

// namesOf reports whether an output names file and offset, as text or as JSON.
func namesOf(printed, path string, f fault) bool {
	for line := range strings.Lines(printed) {
		asText, asJSON := path+": ", fmt.Sprintf(`{"file":%q,"offset":-1,`, path)
		if f.at >= 0 {
			asText, asJSON = fmt.Sprintf("%s:%d: ", path, f.at), fmt.Sprintf(`{"file":%q,"offset":%d,`, path, f.at)
		}
		if strings.HasPrefix(line, asText) || strings.HasPrefix(line, asJSON) {
			return true
		}
	}
	return false
}

// sumsOf digests the files of a folder.
func sumsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			sums[path] = d.Type().String()
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		sums[path] = fmt.Sprintf("%x %s", sha256.Sum256(content), info.ModTime())
		return err
	})
	archivetest.Must(t, err)
	return sums
}

// TestAHugeRecordNeedsNoMemory reads a record of 64 MiB with every command.
func TestAHugeRecordNeedsNoMemory(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, onlyReaders)
	const mega = 1 << 20
	dir, files := archivetest.TwoFiles(t)
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	archivetest.Must(t, err)
	fmt.Fprintf(z, "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://near.example/huge\r\nWARC-Date: 2026-11-20T09:00:00Z\r\n"+
		"WARC-Record-ID: <urn:x:huge>\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", 64*mega)
	for range 64 {
		_, _ = z.Write(make([]byte, mega)) // to memory
	}
	_, _ = z.Write([]byte("\r\n\r\n"))
	_ = z.Close()
	daemontest.WriteFile(t, filepath.Join(dir, "huge.warc.gz"), string(append(archivetest.Zipped(t, archivetest.Info), b.Bytes()...)))
	for _, r := range readers() {
		f := fault{name: "a huge record", warning: true}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out := filepath.Join(t.TempDir(), "out")
		conf, _ := daemontest.Configure(t, daemontest.Settled+"[change]\nscrub = ['nothing']\n")
		code, stdout, errs := command(r.args(dir, out, conf, filepath.Base(files[0]))...)
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) / mega; used > 48 {
			t.Errorf("%s: %d MB were allocated", r.name, used)
		}
		if r.name == "history behind a fault" {
			continue
		}
		if lacks := r.found(t, stdout, out, f); code != cli.ExitOK || lacks != "" {
			t.Errorf("%s: exit code %d, no %q in\n%s%s", r.name, code, lacks, stdout, errs)
		}
	}
}

// TestAFolderThatIsNotThereIsNamed runs every command with a folder that does not exist.
func TestAFolderThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "gone")
	for _, r := range readers() {
		conf, _ := daemontest.Configure(t, daemontest.Settled+"[change]\nscrub = ['nothing']\n")
		code, stdout, errs := command(r.args(dir, filepath.Join(t.TempDir(), "out"), conf, "first.warc.gz")...)
		if code != cli.ExitDamaged || !namesOf(stdout+errs, dir, fault{at: -1}) || !strings.Contains(stdout+errs, "no such file") {
			t.Errorf("%s: exit code %d\n%s%s", r.name, code, stdout, errs)
		}
	}
}
