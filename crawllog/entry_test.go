package crawllog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

const emptySum = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"

// at returns a time of the test day, 2026-01-02.
func at(clock string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", "2026-01-02 "+clock)
	if err != nil {
		panic(err)
	}
	return t
}

// unchanged returns an ordinary visit.
func unchanged() crawllog.Entry {
	return crawllog.Entry{
		Logged: at("03:04:05.678"), Status: 200, Size: 1234, URI: "http://news.example/a", Hops: "L", Via: "http://news.example/",
		MIME: "text/html; charset=utf-8", Worker: 1, Started: at("03:04:05.555"), Took: 121*time.Millisecond + 999,
		Digest: digest.Of(nil), Seed: "http://news.example/", Annotations: []string{crawllog.Unchanged},
		Schedule: &crawllog.Schedule{
			Tries: 1, Wait: 36 * time.Hour, Visits: 3, Versions: 1,
			Overdue: 4*time.Minute + 12*time.Second + 307*time.Millisecond,
		},
	}
}

func TestLinesInTheColumnsOfHeritrix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		entry crawllog.Entry
		want  string
	}{
		{
			"an unchanged page", unchanged(),
			"2026-01-02T03:04:05.678Z   200       1234 http://news.example/a L http://news.example/ text/html #001 " +
				"20260102030405555+121 " + emptySum + " http://news.example/ unchanged,wt:1d12h0ms,3vis,1ver,ov:4m12s307ms",
		},
		{
			"a seed that cannot be reached",
			crawllog.Entry{
				Logged: at("03:04:05.1"), Status: -2, Size: -1, URI: "http://down.example/", Worker: 12, Seed: "http://down.example/",
				Schedule: &crawllog.Schedule{Tries: 2, Wait: time.Hour, Visits: 3},
			},
			"2026-01-02T03:04:05.100Z    -2          - http://down.example/ - - unknown #012 - - http://down.example/ " +
				"2t,wt:60m0ms,3vis,0ver,ov:0ms",
		},
		{
			"a forbidden URI that has no schedule",
			crawllog.Entry{Logged: at("00:00:00"), Status: -9998, Size: -1, URI: "http://news.example/no", Hops: "LLE", Worker: -1},
			"2026-01-02T00:00:00.000Z -9998          - http://news.example/no LLE - unknown - - - - -",
		},
		{
			"a response without a type that took no time",
			crawllog.Entry{Logged: at("00:00:00"), Status: 204, URI: "http://news.example/", Worker: 1234, Started: at("00:00:00")},
			"2026-01-02T00:00:00.000Z   204          0 http://news.example/ - - no-type #1234 20260102000000000+1 - - -",
		},
		{
			"a response without a start",
			crawllog.Entry{Logged: at("01:02:03.004"), Status: 200, URI: "http://news.example/", Digest: digest.Of(nil)},
			"2026-01-02T01:02:03.004Z   200          0 http://news.example/ - - no-type #000 20260102010203004+1 " + emptySum + " - -",
		},
		{
			"a size of more than ten gigabytes",
			crawllog.Entry{Logged: at("00:00:00"), Status: 200, Size: 12_345_678_901, URI: "http://a.example/", Worker: 99, Started: at("00:00:00"), Took: time.Hour},
			"2026-01-02T00:00:00.000Z   200 12345678901 http://a.example/ - - no-type #099 20260102000000000+3600000 - - -",
		},
		{
			"a time in another zone",
			crawllog.Entry{Logged: at("12:00:00").In(time.FixedZone("east", 7200)), Size: -1, URI: "http://a.example/"},
			"2026-01-02T12:00:00.000Z     0          - http://a.example/ - - unknown #000 - - - -",
		},
		{
			"a long hop path",
			crawllog.Entry{Logged: at("00:00:00"), Size: -1, URI: "http://a.example/", Hops: uri.HopPath(strings.Repeat("L", 62))},
			"2026-01-02T00:00:00.000Z     0          - http://a.example/ 12+" + strings.Repeat("L", 50) + " - unknown #000 - - - -",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := string(c.entry.AppendTo(nil, false)); got != c.want {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestThirteenthColumn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		extra *crawllog.Extra
		want  string
	}{
		{"nothing known is an empty object", nil, `{}`},
		{"all fields empty is an empty object", &crawllog.Extra{}, `{}`},
		{
			"a capture", &crawllog.Extra{WARCFile: "a-0001.warc.gz", ContentSize: 1534},
			`{"warcFilename":"a-0001.warc.gz","warcFileOffset":0,"contentSize":1534}`,
		},
		{
			"a revisit with the reason of the wait",
			&crawllog.Extra{
				WARCFile: "a b.warc.gz", WARCOffset: 812, RevisitRefersToURI: "http://news.example/", RevisitRefersToDate: "2026-01-01T00:00:00Z",
				RevisitProfile: "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest", ContentState: "unchanged", ChangeReason: "same digest",
				WaitEvaluator: "text", WaitReason: "unchanged: 12h × 1.5 = 18h", Due: at("18:00:00").In(time.FixedZone("east", 3600)),
			},
			`{"warcFilename":"a\u0020b.warc.gz","warcFileOffset":812,"RevisitRefersToURI":"http://news.example/",` +
				`"RevisitRefersToDate":"2026-01-01T00:00:00Z","RevisitProfile":"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",` +
				`"contentState":"unchanged","changeReason":"same\u0020digest","waitEvaluator":"text",` +
				`"waitReason":"unchanged:\u002012h\u0020×\u00201.5\u0020=\u002018h","due":"2026-01-02T18:00:00.000Z"}`,
		},
		{
			"a misfortune with unusual characters", &crawllog.Extra{Misfortune: "a \"\\\n\u00a0\U000e0001\xff"},
			`{"misfortune":"a\u0020\"\\\u000A\u00A0\uDB40\uDC01` + "\ufffd" + `"}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			line := string(crawllog.Entry{URI: "http://a.example/", Extra: c.extra}.AppendTo(nil, true))
			_, got, _ := strings.Cut(line, " - {")
			if got = "{" + got; got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestNothingBreaksTheColumns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		entry crawllog.Entry
		field int
		want  string
	}{
		{"blanks in a URI are escaped", crawllog.Entry{URI: "http://a.example/b c\n"}, 3, "http://a.example/b%20c%0A"},
		{"a URI is ASCII", crawllog.Entry{URI: "http://a.example/ü\xff"}, 3, "http://a.example/%C3%BC%FF"},
		{"via is one word", crawllog.Entry{Via: "x y"}, 5, "x%20y"},
		{"the seed is one word", crawllog.Entry{Seed: "my seed"}, 10, "my%20seed"},
		{"unknown hops are question marks", crawllog.Entry{Hops: "Lx L+"}, 4, "L??L?"},
		{"a type is cut at a comma", crawllog.Entry{MIME: "text/html,text/plain"}, 6, "text/html"},
		{"a type is cut at a tab", crawllog.Entry{MIME: "text/html\tx"}, 6, "text/html"},
		{"a type that begins with a blank is dropped", crawllog.Entry{MIME: " text/html"}, 6, "unknown"},
		{"a type that begins with a semicolon is dropped", crawllog.Entry{MIME: ";q=1", Status: 200}, 6, "no-type"},
		{"a dash is no type", crawllog.Entry{MIME: "-", Status: 200}, 6, "no-type"},
		{"unusual characters in a type are replaced", crawllog.Entry{MIME: "te\x01t/ü"}, 6, "te_t/__"},
		{"a very long type is cut", crawllog.Entry{MIME: strings.Repeat("a", 500)}, 6, strings.Repeat("a", 129)},
		{"blanks and commas in annotations are replaced", crawllog.Entry{Annotations: []string{"err=no route, sorry"}}, 11, "err=no_route;_sorry"},
		{"all kinds of blanks are replaced", crawllog.Entry{Annotations: []string{"a\u00a0b\u2028c\td\x00"}}, 11, "a_b_c_d_"},
		{"empty annotations are left out", crawllog.Entry{Annotations: []string{"", "-"}}, 11, "-"},
		{"a long annotation is cut", crawllog.Entry{Annotations: []string{"err=" + strings.Repeat("ü", 500)}}, 11, "err=" + strings.Repeat("ü", 198)},
		{"a stray duplicate is replaced", crawllog.Entry{Annotations: []string{"near-Duplicate", "duplicate"}}, 11, "near-repeat,repeat"},
		{
			"a misfortune cannot say duplicate",
			crawllog.Entry{Annotations: []string{"err=duplicate:digest"}},
			11,
			"err=repeat:digest",
		},
		{
			"the duplicates that tools know stay",
			crawllog.Entry{Annotations: []string{crawllog.DuplicateNotModified, crawllog.DuplicateDigest}},
			11,
			"duplicate:server-not-modified,duplicate:digest",
		},
		{"a duplicate within a duplicate is replaced", crawllog.Entry{Annotations: []string{"duplicate:duplicate"}}, 11, "duplicate:repeat"},
		{
			"annotations are put in order",
			crawllog.Entry{
				Annotations: []string{
					"content-size:12", "ip:192.0.2.1", "err=x", "dol:3", "launchTimestamp:20260101000000", "duplicate:digest",
					"timeTrunc", "lenTrunc", "midFetchAbort", "unchanged",
				},
				Schedule: &crawllog.Schedule{Tries: 3, Wait: 24 * time.Hour, Visits: 1, Versions: 1, Overdue: -time.Second},
			},
			11,
			"unchanged,midFetchAbort,timeTrunc,lenTrunc,duplicate:digest,launchTimestamp:20260101000000,dol:3,err=x," +
				"ip:192.0.2.1,content-size:12,3t,wt:24h0ms,1vis,1ver,ov:0ms",
		},
		{"counts are never negative", crawllog.Entry{Schedule: &crawllog.Schedule{Wait: -1, Visits: -1, Versions: -1}}, 11, "wt:0ms,0vis,0ver,ov:0ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			line := string(c.entry.AppendTo(nil, false))
			fields := strings.Fields(line)
			if len(fields) != 12 || fields[c.field] != c.want {
				t.Errorf("%d columns, column %d is %q, want 12 and %q; the line:\n%s", len(fields), c.field+1, fields[c.field], c.want, line)
			}
		})
	}
}

func TestAppendToLeavesTheCallersAnnotationsAlone(t *testing.T) {
	t.Parallel()
	annotations := []string{"dol:1", "unchanged"}
	crawllog.Entry{Annotations: annotations}.AppendTo(nil, false)
	if annotations[0] != "dol:1" {
		t.Errorf("AppendTo changed the annotations of the caller to %q", annotations)
	}
}

// largest returns an entry in which everything is as long as possible, and URIs have n bytes.
func largest(n int) crawllog.Entry {
	long := "http://a.example/" + strings.Repeat("u", n-len("http://a.example/"))
	text := strings.Repeat("\u2028", 3000)
	e := crawllog.Entry{
		Logged: at("00:00:00"), Status: -1 << 63, Size: 1<<63 - 1, URI: long, Hops: uri.HopPath(strings.Repeat("L", 10_000)), Via: long,
		MIME: strings.Repeat("m", 9999), Worker: 1<<63 - 1, Started: at("00:00:00"), Took: 1<<63 - 1, Digest: digest.Of(nil), Seed: long,
		Schedule: &crawllog.Schedule{
			Tries: 1<<63 - 1, Wait: 1<<63 - 1, Visits: 1<<63 - 1, Versions: 1<<63 - 1, Overdue: 1<<63 - 1,
		},
		Extra: &crawllog.Extra{
			WARCFile: text, WARCOffset: 1<<63 - 1, ContentSize: 1<<63 - 1, RevisitRefersToURI: long, RevisitRefersToDate: "2026-01-01T00:00:00.000000Z",
			RevisitProfile: "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest", ContentState: "unchanged", ChangeReason: text,
			WaitEvaluator: text, WaitReason: text, Due: at("00:00:00"), Misfortune: text,
		},
	}
	for range 50 {
		e.Annotations = append(e.Annotations, strings.Repeat("a", 9999))
	}
	return e
}

// TestRemedyOfAnErrorIsWhole writes and reads the longest error that says what to do: it names the longest host.
func TestRemedyOfAnErrorIsWhole(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a-label-of-dns.", 16) + "long-example" // 252 characters
	for _, host := range []string{"www.library.example", long} {
		failure := "address is not public: host " + host + " is at 192.0.2.1; to crawl it, add its network to fetch.allow_networks and restart"
		e := crawllog.Entry{
			Logged: at("00:00:00"), Status: -2, Size: -1, URI: "http://" + host + "/", Worker: 1,
			Annotations: []string{"err=" + failure}, Extra: &crawllog.Extra{Misfortune: failure},
		}
		line := string(e.AppendTo(nil, true))
		if !strings.Contains(line, "_add_its_network_to_fetch.allow_networks_and_restart ") {
			t.Errorf("the annotation is cut: %s", line)
		}
		if got, err := crawllog.Parse(line); err != nil || got.Extra.Misfortune != failure {
			t.Errorf("read %+v, %v; want the whole misfortune", got.Extra, err)
		}
	}
}

func TestALineHasAMaximumLength(t *testing.T) {
	t.Parallel()
	e := largest(300)
	if n := len(e.AppendTo(nil, true)) + 1; n > 4096 {
		t.Errorf("with URIs of 300 bytes a line has %d bytes, want at most 4096", n)
	}
	e = largest(uri.MaxLength)
	e.Extra.RevisitRefersToURI = strings.Repeat(`"`, 99_999)
	e.Extra.RevisitProfile, e.Extra.RevisitRefersToDate, e.Extra.ContentState = e.URI, e.URI, e.URI
	line := string(e.AppendTo(nil, true))
	if n := len(line) + 1; n > crawllog.MaxLine {
		t.Errorf("the longest line has %d bytes, want at most %d", n, crawllog.MaxLine)
	}
	if strings.Count(line, e.URI) != 3 {
		t.Error("a long line has incomplete URIs")
	}
	e.URI = strings.Repeat("ü", 99_999)
	if got := strings.Fields(string(e.AppendTo(nil, true)))[3]; len(got) != uri.MaxLength {
		t.Errorf("a text that is too long for a URI has %d bytes, want %d", len(got), uri.MaxLength)
	}
}
