package spaces_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/uri"
)

// FuzzQueries learns pages with arbitrary queries, links and texts. A URI that waits must belong to a pattern and wait
// for a finite time, what a finding names must be of the host, and a pattern that was lifted keeps nothing out.
func FuzzQueries(f *testing.F) {
	for _, query := range []string{
		"?sid=0123456789abcdef&p=1", "?q=a+b&q=c", "?=&&;=", "?t=1772366400", "?%C3%A4=%00&x", ";jsessionid=ABCDEF0123456789?a=1",
		"?r=0.123456789", "calendar?year=2026&month=3", "?" + strings.Repeat("a=1&", 60),
	} {
		f.Add(query, "<p>one two three <script>x</script> four</p><a href='"+query+"'>next</a>", byte(20))
	}
	b := open(f)
	hosts := 0
	f.Fuzz(func(t *testing.T, target, content string, n byte) {
		hosts++
		host := uri.Host(fmt.Sprintf("h%d.example", hosts))
		u, err := uri.Parse("http://" + string(host) + "/" + target)
		if err != nil || u.Host() != host {
			t.Skip("no URI of the host")
		}
		via := u
		for i := range n % 32 {
			next, err := uri.Parse(fmt.Sprintf("http://%s/%s%d", host, target, int(i)*1_000_003))
			if err != nil || next.Host() != host {
				next = u
			}
			found, _, err := b.Learn(spaces.Page{
				URI: u, Via: via, Hops: "LL", First: true, HTML: i%4 != 3, Now: day, Content: []byte(fmt.Sprint(content, i%3)),
				Links: []spaces.Link{{URI: next, Page: true}, {URI: via, Page: true, Known: true}, {URI: u}},
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range found {
				if x.Why == "" || !regexp.MustCompile(x.Pattern).MatchString(x.Examples[0]) {
					t.Fatalf("found %+v", x)
				}
			}
			via, u = u, next
		}
		w := spaces.Wanted{URI: u, Via: via, Hops: "LL", First: true, Found: true, Now: day}
		p, wait, held, err := b.Hold(w, true)
		if err != nil || held && (wait <= 0 || wait > 366*24*60*60*1e9 || p.Key == "") {
			t.Fatalf("%s waits %v for %s, because of %+v, %v", u, held, wait, p, err)
		}
		if trap, err := b.Release(host, p.Key); trap != nil || (err == nil) != held {
			t.Fatalf("released %+v, %v; the URI waits: %v", trap, err, held)
		} else if _, _, again, _ := b.Hold(w, false); held && again {
			t.Fatalf("%s waits still, because of the lifted pattern %q", u, p.Key)
		}
	})
}

// FuzzLearn learns pages with arbitrary URIs. A trap must have a valid pattern that matches its examples, and a
// released trap must keep nothing out.
func FuzzLearn(f *testing.F) {
	for _, target := range []string{"/calendar/2031/07", "/a/b/a/b/a/b", "/shop?a=1&b=2&c=3", "/s/0123456789abcdef01234567/x", "/p/it's(odd[", "/%27/?year=2026&month=3", "//", "/?", "/x.php?id=1"} {
		f.Add(target, "/partners/"+target, byte(3))
	}
	b := open(f)
	hosts := 0
	f.Fuzz(func(t *testing.T, target, other string, n byte) {
		hosts++
		host := uri.Host(fmt.Sprintf("h%d.example", hosts))
		u, err := uri.Parse("http://" + string(host) + "/" + target)
		if err != nil || u.Host() != host {
			t.Skip("no URI of the host")
		}
		via := parse(t, "http://"+string(host)+"/")
		for range n % 40 {
			next, err := u.Join(other)
			if err != nil || next.Host() != u.Host() {
				next = u
			}
			g := spaces.Page{HTML: true, URI: next, Via: via, Hops: "LL", Sum: 1, Now: day}
			g.Links = []spaces.Link{{URI: u, Page: true}, {URI: via, Page: true}, {URI: next, Page: true}}
			if _, _, err := b.Learn(g); err != nil {
				t.Fatal(err)
			}
			u, via = next, u
		}
		trap, ok, err := b.Judge(u, via, "L", day)
		if quiet, _ := b.NoneSuspected(host); quiet && ok != spaces.MayRepeat(u) {
			t.Fatalf("%s: no trap is suspected on the host; part of a trap: %t, may repeat: %t", u, ok, !ok)
		}
		if err != nil || !ok || trap.Suspect {
			return
		}
		if re, err := regexp.Compile(trap.Pattern); err != nil || !re.MatchString(u.String()) {
			t.Fatalf("%s is part of the trap %q, which does not match it (%v)", u, trap.Pattern, err)
		}
		if _, err := b.CountKeptOut(trap, day, u); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Release(host, trap.Pattern); err != nil {
			t.Fatal(err)
		}
		if again, ok, _ := b.Judge(u, via, "L", day); ok && again.Pattern == trap.Pattern {
			t.Fatalf("the released trap %q still keeps URIs out", trap.Pattern)
		}
	})
}
