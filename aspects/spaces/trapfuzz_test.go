package spaces_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/uri"
)

// FuzzLearn learns pages with arbitrary URIs. A trap must have a valid pattern that matches its examples, and a
// released trap must keep nothing out.
func FuzzLearn(f *testing.F) {
	for _, target := range []string{"/calendar/2031/07", "/a/b/a/b/a/b", "/shop?a=1&b=2&c=3", "/s/0123456789abcdef01234567/x", "/p/it's(odd[", "/%27/?year=2026&month=3", "//", "/?", "/x.php?id=1"} {
		f.Add(target, "/partners/"+target, byte(3))
	}
	b, _ := openTraps(f)
	hosts := 0
	f.Fuzz(func(t *testing.T, target, other string, n byte) {
		hosts++
		host := uri.Host(fmt.Sprintf("h%d.example", hosts))
		u, err := uri.Parse("http://" + string(host) + "/" + target)
		if err != nil || u.Host() != host {
			t.Skip("no URI of the host")
		}
		via := parseTrap(t, "http://"+string(host)+"/")
		for range n % 40 {
			next, err := u.Join(other)
			if err != nil || next.Host() != u.Host() {
				next = u
			}
			g := spaces.TrapPage{URI: next, Via: via, Hops: "LL", Links: []uri.URI{u, via, next}, Sum: 1, Now: trapDay}
			if _, _, err := b.Learn(g); err != nil {
				t.Fatal(err)
			}
			u, via = next, u
		}
		trap, ok, err := b.Judge(u, via, "L", trapDay)
		if quiet, _ := b.NoneSuspected(host); quiet && ok != spaces.MayRepeat(u) {
			t.Fatalf("%s: no trap is suspected on the host; part of a trap: %t, may repeat: %t", u, ok, !ok)
		}
		if err != nil || !ok || trap.Suspect {
			return
		}
		if re, err := regexp.Compile(trap.Pattern); err != nil || !re.MatchString(u.String()) {
			t.Fatalf("%s is part of the trap %q, which does not match it (%v)", u, trap.Pattern, err)
		}
		if _, err := b.CountKeptOut(trap, trapDay, u); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Release(host, trap.Pattern); err != nil {
			t.Fatal(err)
		}
		if again, ok, _ := b.Judge(u, via, "L", trapDay); ok && again.Pattern == trap.Pattern {
			t.Fatalf("the released trap %q still keeps URIs out", trap.Pattern)
		}
	})
}
