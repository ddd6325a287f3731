package evaluators

import (
	"bytes"
	"strings"
	"testing"
)

func TestTextsAreFoundAnywhere(t *testing.T) {
	t.Parallel()
	for i, f := range fingerprints {
		for _, what := range f.body {
			for _, before := range []int{0, 1, 2, 13, 14, 15, 16, 200} {
				content := strings.Repeat("x", before) + what + "tail"
				if bodies.in([]byte(content))&(1<<i) == 0 {
					t.Errorf("%q is not found after %d bytes", what, before)
				}
				if before == 0 && bodies.in([]byte(what)) == 0 {
					t.Errorf("%q is not found alone", what)
				}
			}
		}
	}
	if len(fingerprints) > 64 {
		t.Errorf("%d fingerprints do not fit into 64 bits", len(fingerprints))
	}
}

func FuzzTextsInOnePassAreThoseOneByOne(f *testing.F) {
	f.Add([]byte("window._pxAppId"), uint16(3))
	f.Add([]byte("<a href=\"/_sec/cp_challenge/\">window._cf_chl_opt"), uint16(40))
	f.Fuzz(func(t *testing.T, content []byte, at uint16) {
		// A text somewhere in the content, since chance does not write one.
		x := bodies.all[int(at)%len(bodies.all)].what
		cut := int(at) % (len(content) + 1)
		content = append(append(bytes.Clone(content[:cut]), x...), content[cut:]...)
		var want uint64
		for _, x := range bodies.all {
			if bytes.Contains(content, []byte(x.what)) {
				want |= 1 << x.set
			}
		}
		if got := bodies.in(content); got != want {
			t.Errorf("found %b in %q, want %b", got, content, want)
		}
	})
}
