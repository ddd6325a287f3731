package robots_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/robots"
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
		r, err := robots.NewCopies(known).Rules(origin, known["http://a.example/robots.txt"], now)
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
		if got := robots.IsHTML([]byte(text)); got != want {
			t.Errorf("IsHTML(%q) = %v, want %v", text, got, want)
		}
	}
}
