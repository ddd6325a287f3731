package spaces_test

import (
	"fmt"
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
			found, err := b.Learn(spaces.Page{
				URI: u, Via: via, Hops: "LL", First: true, HTML: i%4 != 3, Now: day, Content: []byte(fmt.Sprint(content, i%3)),
				Links: []spaces.Link{{URI: next, Page: true}, {URI: via, Page: true, Known: true}, {URI: u}},
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range found {
				if x.Host != host || x.Why == "" || (x.Parameter == "") == (x.Pattern == "") {
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
		if lifted, err := b.Lift(host, p.Key); err != nil || lifted && !held {
			t.Fatalf("lifted %v, %v", lifted, err)
		} else if _, _, held, _ := b.Hold(w, false); lifted && held {
			t.Fatalf("%s waits still, because of the lifted pattern %q", u, p.Key)
		}
	})
}
