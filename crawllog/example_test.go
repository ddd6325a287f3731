package crawllog_test

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
)

// A visit that found no change is written and read again.
func Example() {
	line := crawllog.Entry{
		Logged: time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC), Status: 200, Size: 4523, URI: "http://news.example/a", Hops: "L",
		Via: "http://news.example/", MIME: "text/html; charset=utf-8", Worker: 7, Digest: digest.Of([]byte("news")), Seed: "http://news.example/",
		Started: time.Date(2026, 1, 2, 3, 4, 5, 555_000_000, time.UTC), Took: 121 * time.Millisecond,
		Annotations: []string{crawllog.Unchanged},
		Schedule:    &crawllog.Schedule{Wait: 36 * time.Hour, Visits: 3, Versions: 1, Overdue: 307 * time.Millisecond},
	}.AppendTo(nil, false)
	fmt.Println(string(line))

	e, err := crawllog.Parse(string(line))
	fmt.Println(e.URI, "again in", e.Schedule.Wait, err)
	// Output:
	// 2026-01-02T03:04:05.678Z   200       4523 http://news.example/a L http://news.example/ text/html #007 20260102030405555+121 sha1:HRV5ZXOJJ5SL6566WMDKVZEQVEFG7QYA http://news.example/ unchanged,wt:1d12h0ms,3vis,1ver,ov:307ms
	// http://news.example/a again in 36h0m0s <nil>
}
