package frontier

import (
	"testing"

	"github.com/arcrawl/arcrawl/uri"
)

func TestOutdatedRobotsCopiesAreNotCached(t *testing.T) {
	t.Parallel()
	var c robotsCache
	origin := robotsFile{u: uri.FromCanonical("http://www.example.org/")}
	_, ok, round := c.get(origin)
	if ok {
		t.Fatal("the cache is not empty at the start")
	}
	c.invalidate(origin) // a settlement stores a new copy at the same time
	c.put(origin, RobotsCopy{Status: 200}, round)
	if _, ok, _ := c.get(origin); ok {
		t.Error("the outdated copy is in the cache")
	}
	_, _, round = c.get(origin)
	c.put(origin, RobotsCopy{Status: 404}, round)
	if got, ok, _ := c.get(origin); !ok || got.Status != 404 {
		t.Errorf("got %v, %t", got, ok)
	}
}

func TestRobotsCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c robotsCache
	for _, host := range []string{"http://a.example/", "http://b.example/", "http://c.example/"} {
		c.put(robotsFile{u: uri.FromCanonical(host)}, RobotsCopy{Body: make([]byte, maxCopiedBytes/2)}, 0)
		if c.bytes > maxCopiedBytes {
			t.Errorf("the cache has %d bytes, more than %d", c.bytes, maxCopiedBytes)
		}
	}
}
