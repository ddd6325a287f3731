package feeds

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/uri"
)

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// items reads a list such as "1:/a@-2h 2:/b 3:/c~text": id, path, date relative to start, text.
func items(list string) []Item {
	var out []Item
	for word := range strings.FieldsSeq(list) {
		var i Item
		word, text, ok := strings.Cut(word, "~")
		if ok {
			i.Text = uint16(len(text))
		}
		word, at, ok := strings.Cut(word, "@")
		if ok {
			d, err := time.ParseDuration(at)
			if err != nil {
				panic(err)
			}
			i.Updated = start.Add(d)
		}
		id, path, ok := strings.Cut(word, ":")
		if !ok {
			path = id
		}
		i.URI = uri.FromCanonical("http://news.example" + path)
		if i.ID = id; !ok {
			i.ID = i.URI.String()
		}
		out = append(out, i)
	}
	return out
}

func paths(list []Item) string {
	var out []string
	for _, i := range list {
		out = append(out, i.URI.Path())
	}
	return strings.Join(out, " ")
}

func TestSeenFindsNewAndUpdatedItems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		readings []string
		new      string // in the last reading
		updated  string
		gap      bool
	}{
		{"everything is new at first", []string{"1:/a 2:/b"}, "/a /b", "", false},
		{"what was listed is not new", []string{"1:/a 2:/b", "1:/a 2:/b"}, "", "", false},
		{"a new item", []string{"1:/a@-2h", "2:/b@-1h 1:/a@-2h"}, "/b", "", false},
		{"a date in the future hides nothing", []string{"1:/a@9000h 2:/b@-2h", "1:/a@9000h 3:/c@-1h 2:/b@-2h"}, "/c", "", false},
		{"an equal date hides nothing", []string{"1:/a@-2h", "1:/a@-2h 2:/b@-2h"}, "/b", "", false},
		{"an earlier date hides nothing", []string{"1:/a@-2h", "1:/a@-2h 2:/b@-900h"}, "/b", "", false},
		{"a missing date hides nothing", []string{"1:/a@-2h", "1:/a@-2h 2:/b"}, "/b", "", false},
		{"nothing has a date", []string{"1:/a", "2:/b 1:/a"}, "/b", "", false},
		{"the newest comes first", []string{"1:/a", "2:/b@-3h 3:/c@-1h 4:/d@-2h 1:/a"}, "/c /d /b", "", false},
		{"the date moved on", []string{"1:/a@-2h 2:/b", "1:/a@-1h 2:/b"}, "", "/a", false},
		{"the date went back", []string{"1:/a@-1h", "1:/a@-2h"}, "", "", false},
		{"the date goes back and forth", []string{"1:/a@-1h", "1:/a@-2h", "1:/a@-1h"}, "", "", false},
		{"a date in the future is corrected, then the page is updated", []string{"1:/a@9000h", "1:/a@-2h", "1:/a@-1h"}, "", "/a", false},
		{"the text changed", []string{"1:/a~x", "1:/a~xx"}, "", "/a", false},
		{"the first text", []string{"1:/a", "1:/a~xx"}, "", "", false},
		{"the first date is old", []string{"1:/a", "1:/a@-900h"}, "", "", false},
		{"the first date is recent", []string{"1:/a", "1:/a@-1h"}, "", "/a", false},
		{"the link of a known id has another parameter each time", []string{"1:/a?x=1 2:/b", "1:/a?x=2 2:/b"}, "", "", false},
		{"a known link has another id each time", []string{"1:/a@-2h 2:/b@-3h", "3:/a@-2h 4:/b@-3h"}, "", "", false},
		{"a known link has another id and a later date", []string{"1:/a@-2h 2:/b", "3:/a@-1h 2:/b"}, "", "/a", false},
		{"many items with one link", []string{"1:/ 2:/", "1:/ 2:/ 3:/@-1h"}, "", "/", false},
		{"an item that is listed again is not new", []string{"1:/a 2:/b", "2:/b 3:/c", "1:/a 2:/b 3:/c"}, "", "", false},
		{"nothing is listed that was listed before", []string{"1:/a 2:/b", "3:/c 4:/d"}, "/c /d", "", true},
		{"the feed was empty once", []string{"1:/a", "", "1:/a"}, "", "", false},
		{"the feed was empty at first", []string{"", "1:/a"}, "/a", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var s Seen
			var r Reading
			for i, list := range c.readings {
				s, r = s.Read(start.Add(time.Duration(i)*time.Minute), Document{Kind: Feed, Items: items(list)})
				if r.First != (i == 0) {
					t.Errorf("reading %d: First is %v", i, r.First)
				}
				again, err := OpenSeen(s.Bytes())
				must(t, err)
				if diff := cmp.Diff(s.Bytes(), again.Bytes()); diff != "" {
					t.Errorf("reading %d: stored and opened again (-before +after):\n%s", i, diff)
				}
				s = again
			}
			if paths(r.New) != c.new || paths(r.Updated) != c.updated || r.Gap != c.gap {
				t.Errorf("new %q, updated %q, gap %v; want %q, %q, %v", paths(r.New), paths(r.Updated), r.Gap, c.new, c.updated, c.gap)
			}
		})
	}
}

func TestSeenIsBounded(t *testing.T) {
	t.Parallel()
	var s Seen
	all := make([]Item, maxSeen+100)
	for i := range all {
		all[i] = Item{ID: fmt.Sprint(i), URI: uri.FromCanonical(fmt.Sprintf("http://news.example/%d", i))}
	}
	s, _ = s.Read(start, Document{Kind: Sitemap, Items: all})
	long := uri.FromCanonical("http://news.example/" + strings.Repeat("x", maxStatementURI-20))
	s = s.WithStatements(slices.Repeat([]Statement{{URI: long, At: start}}, 2*maxStatements))
	if n := len(s.Bytes()); n > 800<<10 || len(s.known) != maxSeen || len(s.Statements()) != maxStatements {
		t.Errorf("%d bytes, %d known, %d statements", n, len(s.known), len(s.Statements()))
	}
	if _, err := OpenSeen(s.Bytes()); err != nil {
		t.Error(err)
	}
	s = Seen{}
	for day := range 400 { // a feed of ten items per day
		var list []Item
		for n := range 10 {
			list = append(list, Item{ID: fmt.Sprint(day, n), URI: uri.FromCanonical(fmt.Sprintf("http://news.example/%d/%d", day, n))})
		}
		s, _ = s.Read(start, Document{Kind: Feed, Items: list})
	}
	if len(s.known) != minKept {
		t.Errorf("%d marks, want %d", len(s.known), minKept)
	}
}

func TestReadReportsUpdatesBeyondTheBoundNextTime(t *testing.T) {
	t.Parallel()
	list := func(age time.Duration) (out []Item) {
		for i := range maxUpdates + 10 {
			u := uri.FromCanonical(fmt.Sprintf("http://news.example/%d", i))
			out = append(out, Item{ID: u.String(), URI: u, Updated: start.Add(-age)})
		}
		return out
	}
	s, _ := Seen{}.Read(start, Document{Kind: Sitemap, Items: list(2 * time.Hour)})
	for _, want := range []int{maxUpdates, 10, 0} {
		var r Reading
		if s, r = s.Read(start, Document{Kind: Sitemap, Items: list(time.Hour)}); len(r.Updated) != want {
			t.Errorf("%d updates, want %d", len(r.Updated), want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	s, _ := Seen{}.Read(start, Document{Kind: Feed, Items: items("1:/a@-1h 2:/b")})
	f.Add(s.WithStatements([]Statement{{URI: uri.FromCanonical("http://news.example/a"), At: start}}).Bytes())
	f.Add(State{Kind: Feed, Read: start, Hub: uri.FromCanonical("http://hub.example/")}.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := OpenSeen(b); err == nil && len(b) > 0 {
			if again, err := OpenSeen(s.Bytes()); err != nil || len(again.known) != len(s.known) {
				t.Fatal(err)
			}
		}
		if s, err := OpenState(b); err == nil && s.Kind != None {
			if again, err := OpenState(s.Bytes()); err != nil || again != s {
				t.Fatalf("%+v became %+v, %v", s, again, err)
			}
		}
	})
}
