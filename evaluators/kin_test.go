package evaluators_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

func TestKindsSeparateURIsThatChangeDifferently(t *testing.T) {
	t.Parallel()
	seen := map[rate.Kind]evaluators.Traits{}
	for _, mime := range []string{"text/html; charset=utf-8", "application/rss+xml", "application/json", "image/png"} {
		for depth := range 3 {
			for bits := range 8 {
				traits := evaluators.Traits{
					MIME: mime, Depth: depth, Article: bits&1 > 0, Size: int64(bits&2) << 20, Dated: bits&4 > 0,
				}
				kind := traits.Kind()
				if other, ok := seen[kind]; ok || kind == 0 {
					t.Errorf("%+v and %+v are both of kind %d", traits, other, kind)
				}
				seen[kind] = traits
			}
		}
	}
	if a, b := (evaluators.Traits{Depth: 2}).Kind(), (evaluators.Traits{Depth: 20, MIME: ""}).Kind(); a != b {
		t.Errorf("what is deep is of kinds %d and %d", a, b)
	}
}

// family visits a number of URIs of one kind every six hours for some days, and returns what is then known of the kind.
func family(t *testing.T, uris, days int, changed bool) (k rate.Relatives, kind rate.Kind) {
	t.Helper()
	kind = evaluators.Traits{MIME: "text/html", Depth: 1}.Kind()
	s := evaluators.Stack{{Rule: evaluators.Learned{}}}
	for range uris {
		in := evaluators.WaitInput{
			First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{At: january, Kind: kind, Relatives: k},
		}
		for range 4 * days {
			w := s.Next(in)
			if w.Kind != kind {
				t.Fatalf("kind %d, want %d", w.Kind, kind)
			}
			k = k.Plus(w.Lesson)
			in = evaluators.WaitInput{
				State: evaluators.Unchanged, Evidence: evaluators.Evidence{
					At: in.At.Add(6 * time.Hour), Memory: w.Memory, Relatives: k,
				},
			}
			if changed {
				in.State = evaluators.Changed
			}
		}
	}
	return k, kind
}

func TestANewURIBeginsAsItsRelativesAre(t *testing.T) {
	t.Parallel()
	s := evaluators.Stack{{Rule: evaluators.Learned{}}}
	first := evaluators.WaitInput{First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{At: january}}
	stranger := s.Next(first)
	still, kind := family(t, 20, 30, false)
	if still.URIs != 20 {
		t.Errorf("%v relatives, want 20", still.URIs)
	}
	first.Kind, first.Relatives = kind, still
	if w := s.Next(first); w.Interval < 10*stranger.Interval {
		t.Errorf("where 20 relatives never changed, the first wait is %v; for a stranger %v", w.Interval, stranger.Interval)
	}
	busy, _ := family(t, 20, 30, true)
	first.Relatives = busy
	if w := s.Next(first); w.Interval > 4*stranger.Interval {
		t.Errorf("where 20 relatives always changed, the first wait is %v; for a stranger %v", w.Interval, stranger.Interval)
	}
}
