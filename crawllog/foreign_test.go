package crawllog_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// aMorning returns a small crawl log with each kind of line.
func aMorning() []crawllog.Entry {
	const seed = "http://news.example/"
	visit := func(
		clock string, status int, u string, hops uri.HopPath, via, mime string, took time.Duration,
	) crawllog.Entry {
		e := crawllog.Entry{
			Logged: at(clock), Status: status, Size: 1000, URI: u, Hops: hops, Via: via,
			MIME: mime, Worker: 1, Seed: seed, Took: took,
			Digest:   digest.Of([]byte(u)),
			Schedule: &crawllog.Schedule{Wait: 12 * time.Hour, Visits: 1, Versions: 1},
			Extra: &crawllog.Extra{
				WARCFile: "a-0001.warc.gz", WARCOffset: 500, WaitEvaluator: "text", WaitReason: "first capture: initial 12h",
			},
		}
		if status > 0 {
			e.Started = e.Logged.Add(-took)
		}
		return e
	}
	robots := visit("06:00:00", 200, "http://news.example/robots.txt", "P", seed, "text/plain", 40*time.Millisecond)
	robots.Schedule = nil
	front := visit("06:00:02", 200, seed, "", "", "text/html; charset=utf-8", 120*time.Millisecond)
	article := visit("06:00:04", 200, "http://news.example/a?b=c,d", "L", seed, "text/html", 80*time.Millisecond)
	image := visit("06:00:06", 200, "http://news.example/i.png", "LE", "http://news.example/a?b=c,d", "image/png", 0)
	image.Annotations = []string{crawllog.DuplicateDigest}
	image.Extra.RevisitRefersToURI, image.Extra.RevisitProfile = "http://news.example/j.png", "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	moved := visit("06:00:08", 301, "http://news.example/old", "L", seed, "", 20*time.Millisecond)
	gone := visit("06:00:10", 404, "http://news.example/gone", "L", seed, "text/html", 20*time.Millisecond)
	broken := visit("06:00:12", 503, "http://news.example/busy", "L", seed, "text/html", 60*time.Millisecond)
	dead := visit("06:00:14", -2, "http://down.example/", "L", seed, "", 0)
	dead.Size, dead.Digest, dead.Annotations = -1, digest.Digest{}, []string{"err=connect: connection refused"}
	dead.Schedule.Tries, dead.Schedule.Wait = 3, 4*time.Minute
	dead.Extra = &crawllog.Extra{Misfortune: "connect: connection refused"}
	forbidden := crawllog.Entry{
		Logged: at("06:00:15"), Status: -9998, Size: -1, URI: "http://news.example/no", Hops: "L", Via: seed, Worker: 1, Seed: seed,
		Annotations: []string{"robotExcluded"}, Schedule: &crawllog.Schedule{Wait: 7 * 24 * time.Hour},
	}
	same := visit("18:00:00", 304, seed, "", "", "", 10*time.Millisecond)
	same.Size, same.Annotations = 0, []string{crawllog.DuplicateNotModified, crawllog.Unchanged}
	same.Schedule = &crawllog.Schedule{Wait: 18 * time.Hour, Visits: 2, Versions: 1, Overdue: 307 * time.Millisecond}
	return []crawllog.Entry{robots, front, article, image, moved, gone, broken, dead, forbidden, same}
}

func TestGoldenLogs(t *testing.T) {
	t.Parallel()
	for name, extra := range map[string]bool{"crawl.log": false, "crawl-extra.log": true} {
		golden := filepath.Join("testdata", name)
		path := filepath.Join(t.TempDir(), name)
		w, err := crawllog.Open(path, extra)
		must(t, err)
		write(t, w, aMorning()...)
		must(t, w.Close())
		got, err := os.ReadFile(path)
		must(t, err)
		if *update {
			must(t, os.WriteFile(golden, got, 0o644))
		}
		want, err := os.ReadFile(golden)
		must(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s, got:\n%s\nwant:\n%s", golden, got, want)
		}
	}
}

// foreign returns the path of an external program. Without it the test is skipped.
func foreign(t *testing.T, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") == "1" {
		t.Fatalf("%s is not installed and ARCRAWL_REQUIRE_FOREIGN=1 demands it; try: apt-get install %s", name, debian)
	}
	t.Skipf("%s is not installed; to run this test: apt-get install %s", name, debian)
	return ""
}

// lnav runs the log viewer without a screen, with our format in its own configuration folder.
func lnav(t *testing.T, args ...string) string {
	t.Helper()
	program := foreign(t, "lnav", "lnav")
	dir := t.TempDir()
	format, err := os.ReadFile("lnav/arcrawl_log.json")
	must(t, err)
	folder := filepath.Join(dir, "config", "formats", "arcrawl")
	must(t, os.MkdirAll(folder, 0o755))
	must(t, os.WriteFile(filepath.Join(folder, "arcrawl_log.json"), format, 0o644))
	c := exec.Command(program, append([]string{"-I", filepath.Join(dir, "config")}, args...)...)
	c.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "TZ=UTC", "TERM=dumb")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("lnav %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestLnavAcceptsOurFormat has lnav check the format, its samples and their levels.
func TestLnavAcceptsOurFormat(t *testing.T) {
	t.Parallel()
	if out := lnav(t, "-C"); strings.Contains(out, "error") || strings.Contains(out, "warning") {
		t.Errorf("lnav -C says:\n%s", out)
	}
}

func TestLnavReadsOurLog(t *testing.T) {
	t.Parallel()
	const byLevel = `log_level,lines,bytes
info,6,5000
warning,1,1000
error,3,1000
`
	for _, c := range []struct{ name, file, query, want string }{
		{"levels", "crawl.log", "SELECT log_level, count(*) AS lines, sum(size) AS bytes FROM arcrawl_log GROUP BY log_level ORDER BY log_level", byLevel},
		{"levels with extra", "crawl-extra.log", "SELECT log_level, count(*) AS lines, sum(size) AS bytes FROM arcrawl_log GROUP BY log_level ORDER BY log_level", byLevel},
		{
			"columns", "crawl-extra.log",
			"SELECT log_time, status, uri, hops, via, mime, worker, started, took, seed, annotations FROM arcrawl_log WHERE uri LIKE '%.png'",
			"log_time,status,uri,hops,via,mime,worker,started,took,seed,annotations\n" +
				"2026-01-02 06:00:06.000,200,http://news.example/i.png,LE,\"http://news.example/a?b=c,d\",image/png,#001,20260102060006000,1," +
				"http://news.example/,\"duplicate:digest,wt:12h0ms,1vis,1ver,ov:0ms\"\n",
		},
		{
			"the JSON column", "crawl-extra.log",
			"SELECT jget(extra, '/waitReason') AS why, count(*) AS lines FROM arcrawl_log WHERE why IS NOT NULL GROUP BY why",
			"why,lines\nfirst capture: initial 12h,8\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := lnav(t, "-n", "-W", "-c", ";"+c.query, "-c", ":write-csv-to -", filepath.Join("testdata", c.file))
			if got != c.want {
				t.Errorf("%s\n got %q\nwant %q", c.query, got, c.want)
			}
		})
	}
}

// TestAwkCountsOurLog runs one-liners that people use on crawl logs.
func TestAwkCountsOurLog(t *testing.T) {
	t.Parallel()
	awk := foreign(t, "awk", "mawk")
	for _, c := range []struct{ name, program, want string }{
		{"status codes", `{n[$2]++} END{for(s in n) print s, n[s]}`, "-2 1\n-9998 1\n200 4\n301 1\n304 1\n404 1\n503 1\n"},
		{"mean fetch time", `$2>=200{split($9,a,"+");n++;s+=a[2]} END{print s/n" ms"}`, "43.875 ms\n"},
		{"share of duplicates", `$12~/duplicate:/{d++} $2==200||$2==304{n++} END{print d"/"n}`, "2/5\n"},
		{"link pairs", `$7=="text/html" && $6!="-" {print $6" => "$4}`, "http://news.example/ => http://news.example/a?b=c,d\n" +
			"http://news.example/ => http://news.example/busy\nhttp://news.example/ => http://news.example/gone\n"},
		{"lines by number of columns", `{n[NF]++} END{for(c in n) print c, n[c]}`, "12 10\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command(awk, c.program, "testdata/crawl.log").Output()
			must(t, err)
			lines := strings.SplitAfter(string(out), "\n")
			slices.Sort(lines)
			if got := strings.Join(lines, ""); got != c.want {
				t.Errorf("awk '%s'\n got %q\nwant %q", c.program, got, c.want)
			}
		})
	}
}
