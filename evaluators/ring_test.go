package evaluators_test

import (
	"testing"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
)

func TestRestlessReadsTheLastDigests(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, visits, want string }{
		{"another content each time", "abcdefghij", "changed at each of the last 8 visits"},
		{"five visits are enough", "abcde", "changed at each of the last 5 visits"},
		{"four are not", "abcd", ""},
		{"two versions in turn", "abababab", "goes back and forth between 2 versions"},
		{"two versions without order", "abbaabab", "goes back and forth between 2 versions"},
		{"an occasional edit", "aaabbbcc", ""},
		{"a page that was moved back once", "aabbbbaa", ""},
		{"the same always", "aaaaaaaa", ""},
		{"restless once, quiet now", "abcdefghhhhhhhh", ""},
	} {
		var r evaluators.Ring
		for _, c := range row.visits {
			r = r.Push(digest.Of([]byte(string(c))))
		}
		if got := r.Restless(); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
		if evaluators.RingOf(r.Bytes()) != r {
			t.Errorf("%s: %v is not read back", row.name, r)
		}
	}
	if r := (evaluators.Ring{}).Push(digest.Digest{}); r != (evaluators.Ring{}) || len(r.Bytes()) != 0 {
		t.Errorf("no digest fills the ring: %v", r)
	}
	if r := evaluators.RingOf([]byte{1, 2, 3}); r != (evaluators.Ring{}) {
		t.Errorf("a cut ring is read: %v", r)
	}
}
