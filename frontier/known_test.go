package frontier

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// All ways to look up candidates find the same candidates: exactly those that have a row.
func TestLookUpAgreesWithGet(t *testing.T) {
	t.Parallel()
	f := openTest(t, Options{})
	page := func(host, i int) Candidate {
		return Candidate{URI: uri.FromCanonical(fmt.Sprintf("http://%c.example/%d", 'a'+host, i)), Hops: "L"}
	}
	for host := range 4 { // b, c, d and e have 1, 10, 100 and 1000 candidates; those with even numbers are known
		var cs []Candidate
		for i := range []int{1, 10, 100, 1000}[host] {
			cs = append(cs, page(host+1, 2*i))
		}
		_, err := f.Add(start, cs...)
		noErr(t, err)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for round := range 100 {
		var cs []Candidate
		var fps []fingerprint
		for range 1 + rnd.IntN(200) {
			cs = append(cs, page(rnd.IntN(1+round%5), rnd.IntN(300)))
			fps = append(fps, newFingerprint(cs[len(cs)-1].URI.String()))
		}
		homes, _, err := f.candidateHosts(cs)
		noErr(t, err)
		want := make([]bool, len(cs))
		var asked []int
		for i, c := range cs {
			if asked = append(asked, i); homes[i].id == 0 {
				continue
			}
			_, want[i], err = f.Get(c.URI)
			noErr(t, err)
		}
		if got, err := f.lookUp(cs, fps, homes, make([]bool, len(cs))); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v\nfound %v, %v, want\n%v", cs, got, err, want)
		}
		if all := slices.Repeat([]bool{true}, len(cs)); !allTrue(f.lookUp(cs, fps, homes, all)) {
			t.Fatal("candidates that are known were looked up")
		}
		l := lookUp{candidates: cs, fingerprints: fps, known: make([]bool, len(cs)), collisions: &f.collisions}
		slices.SortFunc(asked, func(i, j int) int { return slices.Compare(fps[i][:], fps[j][:]) })
		for id := range uint32(4) {
			mine := slices.DeleteFunc(slices.Clone(asked), func(i int) bool { return homes[i].id != id+1 })
			if len(mine) == 0 {
				continue
			}
			noErr(t, f.View(func(txn *badger.Txn) error { return l.scan(txn, id+1, mine) }))
		}
		if !slices.Equal(l.known, want) {
			t.Fatalf("%v\nscan found %v, want\n%v", cs, l.known, want)
		}
	}
}

func allTrue(found []bool, err error) bool { return err == nil && !slices.Contains(found, false) }

func TestKnownCacheRemembersAndForgets(t *testing.T) {
	t.Parallel()
	r := NewRecent()
	a, b := r.Hash("http://a.example/"), r.Hash("http://b.example/")
	has := func() []bool {
		found := make([]bool, 3)
		r.Contains([]RecentHash{a, b, {}}, found)
		return found
	}
	if got := has(); slices.Contains(got, true) {
		t.Errorf("an empty cache contains %v, want nothing", got)
	}
	r.Remember([]RecentHash{a}, 0)
	if got := has(); !got[0] || got[1] {
		t.Errorf("after remembering a the cache contains %v", got)
	}
	r.Forget([]RecentHash{a})
	r.Remember([]RecentHash{b}, 0) // b was looked up before a was forgotten
	if got := has(); got[0] || got[1] {
		t.Errorf("after forgetting a the cache contains %v", got)
	}
}

// The cache remembers as many URIs as a large page has links, and never more than it has room for.
func TestKnownCacheHasRoomForTheLinksOfAPage(t *testing.T) {
	t.Parallel()
	r := NewRecent()
	marks := make([]RecentHash, 3*sets*ways)
	for i := range marks {
		marks[i] = r.Hash(fmt.Sprintf("http://a.example/%d", i))
	}
	count := func(of []RecentHash) (n int) {
		found := make([]bool, len(of))
		r.Contains(of, found)
		for _, ok := range found {
			if ok {
				n++
			}
		}
		return n
	}
	if r.Remember(marks[:5000], 0); count(marks[:5000]) < 4990 {
		t.Errorf("the cache has %d of 5000 links", count(marks[:5000]))
	}
	if r.Remember(marks, 0); count(marks) > sets*ways || count(marks[len(marks)-1000:]) < 900 {
		t.Errorf("the cache has %d links in total, and %d of the last thousand", count(marks), count(marks[len(marks)-1000:]))
	}
}

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
