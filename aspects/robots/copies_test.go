package robots

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// copies are copies of robots.txt, and of what replaces them, by URI.
type copies map[string]frontier.RobotsCopy

func (c copies) Robots(origin uri.URI) (frontier.RobotsCopy, bool, error) {
	return c.Substitute(origin.Robots())
}

func (c copies) Substitute(u uri.URI) (frontier.RobotsCopy, bool, error) {
	found, ok := c[u.String()]
	return found, ok, nil
}

func TestRulesAreFoundWhereverRobotsLeads(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	redirect := func(to string) frontier.RobotsCopy {
		return frontier.RobotsCopy{Status: 301, Body: []byte(to), Expires: now.Add(time.Hour)}
	}
	closed := frontier.RobotsCopy{Status: 200, Body: []byte("User-agent: *\nDisallow: /"), Expires: now.Add(time.Hour)}
	expired, dead := closed, frontier.RobotsCopy{Unreachable: true, Expires: now.Add(time.Minute)}
	expired.Expires = now.Add(-time.Hour)
	chain := copies{}
	for n := range 6 {
		chain[fmt.Sprintf("http://a.example/%d", n)] = redirect(fmt.Sprintf("/%d", n+1))
	}
	chain["http://a.example/6"] = closed
	for _, c := range []struct {
		name   string
		to     string
		others copies
		want   string
	}{
		{"another path", "/real.txt", copies{"http://a.example/real.txt": closed}, "forbidden"},
		{"another host", "//b.example/x?y", copies{"http://b.example/x?y": closed}, "forbidden"},
		{"the robots.txt of another host", "https://b.example/robots.txt", copies{"https://b.example/robots.txt": closed}, "forbidden"},
		{"not fetched yet", "/real.txt", nil, "wanted http://a.example/real.txt"},
		{"expired, on the same host", "/real.txt", copies{"http://a.example/real.txt": expired}, "wanted http://a.example/real.txt"},
		{"expired, on another host", "//b.example/r", copies{"http://b.example/r": expired}, "forbidden"},
		{"dead", "//b.example/r", copies{"http://b.example/r": dead}, "unreachable"},
		{"missing", "/real.txt", copies{"http://a.example/real.txt": {Status: 404, Expires: now.Add(time.Hour)}}, "allowed"},
		{"five redirects", "/2", chain, "forbidden"},
		{"six redirects", "/1", chain, "allowed"},
		{"itself", "/robots.txt", nil, "allowed"},
		{"no URI", "ftp://b.example/", nil, "allowed"},
	} {
		known := copies{"http://a.example/robots.txt": redirect(c.to)}
		for u, copied := range c.others {
			known[u] = copied
		}
		origin := uri.FromCanonical("http://a.example/")
		r, err := NewCopies(known).Rules(origin, known["http://a.example/robots.txt"], now)
		got := "forbidden"
		switch {
		case err != nil:
			got = err.Error()
		case !r.Wanted.IsZero():
			got = "wanted " + r.Wanted.String()
		case !r.UnreachableUntil.IsZero():
			got = "unreachable"
		case r.Rules.Allowed("arcrawl", uri.FromCanonical("http://a.example/page")):
			got = "allowed"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestIsHTML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "User-agent: *\nDisallow: /": false, "<3 robots\nUser-agent: *": false, "# <html>\nUser-agent: *": false,
		"<!doctype html><title>x</title>": true, "\xEF\xBB\xBF\n <HTML lang=de>": true, "<?xml version='1.0'?><!DOCTYPE html>": true,
		"<!-- made by x --><html>": true, "<script>1</script>": true,
	} {
		if got := IsHTML([]byte(text)); got != want {
			t.Errorf("IsHTML(%q) = %v, want %v", text, got, want)
		}
	}
}

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
	c := newCache(limit)
	body := hostile()
	for n := range 20 {
		if c.rulesOf(nameOf(fileOf(n)), time.Unix(1, 0), body); c.memory() > limit {
			t.Fatalf("%d bytes are kept after %d files, want at most %d", c.memory(), n+1, limit)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > limit+limit/2 {
		t.Errorf("the cache takes %d bytes of the heap, and says %d", grown, c.memory())
	}
	if c.memory() < limit/2 {
		t.Errorf("%d bytes are kept, want nearly %d", c.memory(), limit)
	}
	runtime.KeepAlive(c)
}

func TestOneRuleTakesItsTextAndFourBytes(t *testing.T) {
	t.Parallel()
	c := newCache(1 << 30)
	body := hostile()
	c.rulesOf(nameOf(fileOf(1)), time.Unix(1, 0), body)
	if n := c.memory(); n > int64(len(body)) {
		t.Errorf("the rules of a file of %d bytes take %d", len(body), n)
	}
	c = newCache(1 << 30)
	others := "User-agent: other\n" + strings.Repeat("Disallow: /\n", 10_000) + "User-agent: *\nDisallow: /private\n"
	c.rulesOf(nameOf(fileOf(1)), time.Unix(1, 0), []byte(others))
	if n := c.memory(); n > 1000 {
		t.Errorf("%d bytes are kept of a file whose rules are for others", n)
	}
}

func TestTheCacheAnswersAsTheFileDoes(t *testing.T) {
	t.Parallel()
	c := newCache(1 << 20)
	page := uri.FromCanonical("http://h1.example/private/x")
	old := []byte("User-agent: *\nDisallow: /\nUser-agent: arcrawl\nDisallow: /private\nCrawl-delay: 7\n")
	for range 2 {
		rules := c.rulesOf(nameOf(fileOf(1)), time.Unix(1, 0), old)
		wait, _ := rules.CrawlDelay("arcrawl")
		if rules.Allowed("arcrawl", page) || !rules.Allowed("arcrawl", fileOf(2)) || wait != 7*time.Second {
			t.Errorf("the file has other rules")
		}
	}
	// The file was fetched again, and has changed.
	if !c.rulesOf(nameOf(fileOf(1)), time.Unix(2, 0), []byte("User-agent: *\n")).Allowed("arcrawl", page) {
		t.Error("old rules are in force")
	}
	if c.memory() > 600 {
		t.Errorf("%d bytes are kept of an empty file", c.memory())
	}
}

// While large files are parsed, the rules that are known are answered at once.
func TestParsingKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	c := newCache(1 << 20)
	c.rulesOf(nameOf(fileOf(1)), time.Unix(1, 0), []byte("User-agent: *\nDisallow: /\n"))
	done := make(chan struct{})
	for range cap(c.parsing) {
		c.parsing <- struct{}{} // no other file can be parsed
	}
	go func() {
		c.rulesOf(nameOf(fileOf(1)), time.Unix(1, 0), nil)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Error("known rules waited for a file that is being parsed")
		<-c.parsing
		<-done
	}
}
