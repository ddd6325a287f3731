package crawllog_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

func TestParseReadsOurOwnLines(t *testing.T) {
	t.Parallel()
	full := unchanged()
	full.MIME, full.Took = "text/html", 121*time.Millisecond
	full.Annotations = []string{crawllog.Unchanged, crawllog.DuplicateDigest, "dol:3"}
	full.Schedule.Tries = 4
	full.Extra = &crawllog.Extra{
		WARCFile: "a b.warc.gz", WARCOffset: 812, ContentSize: 99, RevisitRefersToURI: "http://news.example/", RevisitRefersToDate: "2026-01-01T00:00:00Z",
		RevisitProfile: "p", ContentState: "unchanged", ChangeReason: "same digest", WaitEvaluator: "text",
		WaitReason: "unchanged: 12h × 1.5 = 18h", Due: at("18:00:00.25"), Misfortune: "none, \"really\" \U0001f600\n",
	}
	for name, e := range map[string]crawllog.Entry{
		"everything set": full,
		"nothing set":    {Size: -1, Worker: -1},
		"no schedule":    {Logged: at("00:00:00"), Status: 404, Size: 0, URI: "u", Started: at("00:00:00"), Took: time.Millisecond, MIME: "a/b", Annotations: []string{"2t"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := string(e.AppendTo(nil, true))
			for _, end := range []string{"", "\n", "\r\n"} {
				got, err := crawllog.Parse(line + end)
				if diff := cmp.Diff(e, got); err != nil || diff != "" {
					t.Errorf("Parse(%q): %v, -want +got:\n%s", line+end, err, diff)
				}
			}
		})
	}
}

func TestParseReadsTheLinesOfHeritrix(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/heritrix.log")
	must(t, err)
	var got []crawllog.Entry
	for line := range strings.Lines(string(text)) {
		e, err := crawllog.Parse(line)
		must(t, err)
		got = append(got, e)
	}
	when := time.Date(2015, 3, 9, 10, 11, 12, 345_000_000, time.UTC)
	began := time.Date(2015, 3, 9, 10, 11, 11, 900_000_000, time.UTC)
	want := []crawllog.Entry{
		{
			Logged: when, Status: 1, Size: 53, URI: "dns:news.example", Hops: "P", Via: "http://news.example/", MIME: "text/dns", Worker: 49,
			Started: began, Took: 4 * time.Millisecond, Digest: digest.Of(nil),
		},
		{Logged: when, Status: -1, Size: -1, URI: "http://gone.example/", MIME: "", Worker: 7, Seed: "", Annotations: []string{"30t"}},
		{
			Logged: when, Status: 200, Size: 8000, URI: "http://news.example/?q=a,b", Hops: uri.HopPath("??" + strings.Repeat("LR", 25)),
			Via: "http://news.example/b", MIME: "text/html", Worker: 123, Started: began, Took: 445 * time.Millisecond, Digest: digest.Of(nil),
			Seed: "http://news.example/", Annotations: []string{"3t", "duplicate:digest"},
			Extra: &crawllog.Extra{WARCFile: "WEB-2015 0309.warc.gz", WARCOffset: 123456, ContentSize: 8300},
		},
		{
			Logged: when, Status: 200, Size: 77, URI: "http://news.example/ar", Hops: "L", Via: "http://news.example/", MIME: "text/html", Worker: 2,
			Started: began, Took: 10 * time.Millisecond, Digest: digest.Of(nil), Annotations: []string{"unchanged"},
			Schedule: &crawllog.Schedule{
				Tries: 2, Wait: 36 * time.Hour, Visits: 3, Versions: 1,
				Overdue: 4*time.Minute + 12*time.Second + 307*time.Millisecond,
			},
			Extra: &crawllog.Extra{WARCFile: "OLD-0001.warc.gz"},
		},
		{Logged: when, Status: -5000, Size: -1, URI: "http://other.example/", Hops: "LX", Via: "http://news.example/", Worker: 2},
		{Logged: when, Status: -9998, Size: -1, URI: "http://news.example/no", Hops: "L", Via: "http://news.example/", Worker: -1, Seed: "my-tag"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestParseReadsTheLinesOfEarlyHeritrix has lines as Heritrix 1 wrote them in 2005 and 2006, and the example in the
// manual of Heritrix 3.
func TestParseReadsTheLinesOfEarlyHeritrix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line, payload, seed string
		annotations               []string
	}{
		{
			"2005: eleven columns",
			"2005-05-06T11:47:30.524Z   200         12 http://a.example/ - - text/html #049 20050506114730466+36 " +
				"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ 3t",
			digest.Of(nil).String(), "",
			[]string{"3t"},
		},
		{
			"2005: eleven columns without annotations",
			"2005-05-06T11:47:26.550Z     1         53 dns:a.example P http://a.example/ text/dns #002 " +
				"20050506114726441+2 - -",
			"", "", nil,
		},
		{
			"2006: no name before the digest",
			"2006-08-15T09:53:58.958Z   302        301 http://a.example/robots.txt P http://a.example/ text/html #007 " +
				"20060815075358804+124 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - content-size:521",
			digest.Of(nil).String(), "",
			[]string{"content-size:521"},
		},
		{
			"2011: as in the manual of Heritrix 3",
			"2011-06-23T17:12:09.591Z   200      15829 http://a.example/p.html L http://a.example/ text/html #025 " +
				"20110623171208546+922 sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - -",
			digest.Of(nil).String(), "", nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, err := crawllog.Parse(c.line)
			must(t, err)
			payload := ""
			if !e.Digest.IsZero() {
				payload = e.Digest.String()
			}
			if payload != c.payload || e.Seed != c.seed || !slices.Equal(e.Annotations, c.annotations) {
				t.Errorf("read as digest %q, seed %q, annotations %q; want %q, %q, %q",
					payload, e.Seed, e.Annotations, c.payload, c.seed, c.annotations)
			}
		})
	}
	cut := "2006-08-15T09:53:58.958Z   302        301 http://a.example/ P http://a.example/ text/html #007 " +
		"20060815075358804+124 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ -"
	if _, err := crawllog.Parse(cut); err == nil {
		t.Error("a line of 2006 whose end is missing is read")
	}
}

func TestAnnotationsThatOnlyLookLikeASchedule(t *testing.T) {
	t.Parallel()
	for _, annotations := range []string{
		"wt:0ms,1vis,1ver",                // no overdue time
		"wt:0ms,1vis,1ver,ov:0ms,err=x",   // not at the end
		"wt:0ms,1vis,1ver,ov:-5ms",        // Heritrix before its fix of negative times
		"wt:0ms,01vis,1ver,ov:0ms",        // would be written otherwise
		"wt:1h0ms,1vis,1ver,ov:0ms",       // this too
		"wt:0ms,1ver,1vis,ov:0ms",         // out of order
		"1t",                              // one try is not written
		"wt:0ms,-1vis,1ver,ov:0ms,ov:0ms", // twice
	} {
		e := unchanged()
		e.Schedule, e.Annotations = nil, nil
		line := strings.TrimSuffix(string(e.AppendTo(nil, false)), "-") + annotations
		got, err := crawllog.Parse(line)
		must(t, err)
		if got.Schedule != nil || strings.Join(got.Annotations, ",") != annotations {
			t.Errorf("%s is read as %q and %+v", annotations, got.Annotations, got.Schedule)
		}
	}
}

func TestErrorsNameTheColumn(t *testing.T) {
	t.Parallel()
	good := strings.Fields(string(unchanged().AppendTo(nil, false)))
	for _, c := range []struct {
		name   string
		column int
		text   string
		want   string
	}{
		{"no time", 1, "yesterday", `crawl log line, column 1 (time) "yesterday": not a time such as 2026-01-02T03:04:05.678Z`},
		{"no status", 2, "OK", `crawl log line, column 2 (status) "OK": not a number`},
		{"a negative size", 3, "-5", `crawl log line, column 3 (size) "-5": neither "-" nor a number of bytes`},
		{"a path in small letters", 5, "ll", `crawl log line, column 5 (hop path) "ll": neither "-" nor letters A to Z, with a number and a plus before them if abbreviated`},
		{"a path of billions of hops", 5, "4000000000+L", `column 5 (hop path)`},
		{"a worker without #", 8, "001", `crawl log line, column 8 (worker) "001": neither "-" nor "#" and a number`},
		{"a worker without number", 8, "#", `column 8 (worker)`},
		{"a semicolon in the fetch column", 9, "20260102030405555;121", `column 9 (fetch)`},
		{"only 14 digits", 9, "20260102030405+121", `column 9 (fetch)`},
		{"month 13", 9, "20261302030405555+121", `column 9 (fetch)`},
		{"a duration that is too long", 9, "20260102030405555+99999999999999", `column 9 (fetch)`},
		{"another digest", 10, "md5:abc", `column 10 (digest) "md5:abc": digest "md5:abc": want sha1:`},
		{"broken JSON", 13, `{"warcFilename":`, `column 13 (extra)`},
		{"a number instead of a name", 13, `{"warcFilename":1}`, `column 13 (extra)`},
		{"a long text is quoted in part", 2, strings.Repeat("x", 1000), `column 2 (status) "` + strings.Repeat("x", 60) + `"…: not a number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fields := append(append([]string(nil), good...), "{}")
			fields[c.column-1] = c.text
			_, err := crawllog.Parse(strings.Join(fields, " "))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	for _, line := range []string{"", "\n", "a b c", strings.Join(good[:11], " ")} {
		if _, err := crawllog.Parse(line); err == nil || !strings.Contains(err.Error(), "columns, want 12 or 13") {
			t.Errorf("Parse(%q): %v, want the number of columns", line, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	text, err := os.ReadFile("testdata/heritrix.log")
	must(f, err)
	for line := range strings.Lines(string(text)) {
		f.Add(line)
	}
	f.Add(string(unchanged().AppendTo(nil, true)))
	f.Add(string(largest(300).AppendTo(nil, true)))
	f.Fuzz(func(t *testing.T, line string) {
		e, err := crawllog.Parse(line)
		if err != nil {
			return
		}
		once := string(e.AppendTo(nil, true))
		checkStable(t, once)
	})
}

// FuzzAppendTo checks that each line that is written can be read, and is written again in the same way.
func FuzzAppendTo(f *testing.F) {
	f.Add(int64(0), 200, int64(1), "http://a.example/", "L", "text/html", 1, int64(5), "unchanged,duplicate x", "why not", true)
	f.Add(int64(-1), -2, int64(-1), "", "", "", -1, int64(-5), "", "", false)
	f.Fuzz(func(
		t *testing.T, when int64, status int, size int64, u, hops, mime string, worker int, took int64,
		annotations, text string, scheduled bool,
	) {
		e := crawllog.Entry{
			Logged: time.UnixMilli(when), Status: status, Size: size, URI: u, Hops: uri.HopPath(hops), Via: text,
			MIME: mime, Worker: worker, Started: time.UnixMilli(when >> 1), Took: time.Duration(took), Seed: mime,
			Annotations: strings.Split(annotations, ","),
			Extra: &crawllog.Extra{
				WARCFile: text, WARCOffset: took, RevisitRefersToURI: u, WaitReason: annotations,
				Due: time.UnixMilli(took), Misfortune: mime,
			},
		}
		if scheduled {
			e.Schedule = &crawllog.Schedule{
				Tries: status, Wait: time.Duration(size), Visits: worker, Versions: status, Overdue: time.Duration(took),
			}
		}
		line := string(e.AppendTo(nil, true))
		if got := strings.Fields(line); len(got) != 13 {
			t.Fatalf("%d columns:\n%s", len(got), line)
		}
		for a := range strings.SplitSeq(strings.Fields(line)[11], ",") {
			if i := strings.LastIndex(strings.ToLower(a), "duplicate"); i > 0 || i == 0 && !strings.HasPrefix(a, "duplicate:") {
				t.Fatalf("annotation %q of\n%s", a, line)
			}
		}
		checkStable(t, line)
	})
}

func checkStable(t *testing.T, line string) {
	t.Helper()
	if len(line) >= crawllog.MaxLine {
		t.Fatalf("a line of %d bytes", len(line))
	}
	e, err := crawllog.Parse(line)
	if err != nil {
		t.Fatalf("Parse(%q): %v", line, err)
	}
	if again := string(e.AppendTo(nil, true)); again != line {
		t.Fatalf("written\n%q\nread and written again\n%q", line, again)
	}
}
