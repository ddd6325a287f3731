package robots_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/uri"
)

// hostile returns a file of 500 KiB with as many rules as possible, for all crawlers.
func hostile() []byte {
	return []byte("User-agent: *\n" + strings.Repeat("allow:/\n", 500<<10/8))
}

func fileOf(n int) uri.URI { return uri.FromCanonical(fmt.Sprintf("http://h%d.example/robots.txt", n)) }

// Twenty hosts have the worst robots.txt. Before, each one took 5.8 MB, and ten thousand were kept.
func TestTheCacheIsBoundedInBytes(t *testing.T) {
	const limit = 3 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := robots.NewCache("arcrawl", limit)
	body := hostile()
	for n := range 20 {
		if c.Rules(fileOf(n), time.Unix(1, 0), body); c.Bytes() > limit {
			t.Fatalf("%d bytes are kept after %d files, want at most %d", c.Bytes(), n+1, limit)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > limit+limit/2 {
		t.Errorf("the cache takes %d bytes of the heap, and says %d", grown, c.Bytes())
	}
	if c.Bytes() < limit/2 {
		t.Errorf("%d bytes are kept, want nearly %d", c.Bytes(), limit)
	}
	runtime.KeepAlive(c)
}

func TestOneRuleTakesItsTextAndFourBytes(t *testing.T) {
	t.Parallel()
	c := robots.NewCache("arcrawl", 1<<30)
	body := hostile()
	c.Rules(fileOf(1), time.Unix(1, 0), body)
	if n := c.Bytes(); n > int64(len(body)) {
		t.Errorf("the rules of a file of %d bytes take %d", len(body), n)
	}
	c = robots.NewCache("arcrawl", 1<<30)
	others := "User-agent: other\n" + strings.Repeat("Disallow: /\n", 10_000) + "User-agent: *\nDisallow: /private\n"
	c.Rules(fileOf(1), time.Unix(1, 0), []byte(others))
	if n := c.Bytes(); n > 1000 {
		t.Errorf("%d bytes are kept of a file whose rules are for others", n)
	}
}

func TestTheCacheAnswersAsTheFileDoes(t *testing.T) {
	t.Parallel()
	c := robots.NewCache("arcrawl", 1<<20)
	page := uri.FromCanonical("http://h1.example/private/x")
	old := []byte("User-agent: *\nDisallow: /\nUser-agent: arcrawl\nDisallow: /private\nCrawl-delay: 7\n")
	for range 2 {
		rules := c.Rules(fileOf(1), time.Unix(1, 0), old)
		wait, _ := rules.CrawlDelay("arcrawl")
		if rules.Allowed("arcrawl", page) || !rules.Allowed("arcrawl", fileOf(2)) || wait != 7*time.Second {
			t.Errorf("the file has other rules")
		}
	}
	// The file was fetched again, and has changed.
	if !c.Rules(fileOf(1), time.Unix(2, 0), []byte("User-agent: *\n")).Allowed("arcrawl", page) {
		t.Error("old rules are in force")
	}
	if c.Bytes() > 600 {
		t.Errorf("%d bytes are kept of an empty file", c.Bytes())
	}
}

// While large files are parsed, the rules that are known are answered at once.
func TestParsingKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	c := robots.NewCache("arcrawl", 1<<20)
	c.Rules(fileOf(1), time.Unix(1, 0), []byte("User-agent: *\nDisallow: /\n"))
	done := make(chan struct{})
	c.WhileParsing(func() { // as long as this lasts, no other file can be parsed
		go func() {
			c.Rules(fileOf(1), time.Unix(1, 0), nil)
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			t.Error("known rules waited for a file that is being parsed")
		}
	})
	<-done
}
