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
