package captures_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/captures"

	"github.com/arcrawl/arcrawl/digest"
)

// TestMarksShowWhatEachRuleLeavesOut marks parts of a page, and compares what is left with what scrubbing leaves.
func TestMarksShowWhatEachRuleLeavesOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, page, want string // the marked parts are in brackets with the number of their rule
		spec             digest.Spec
	}{
		{"an expression", "a <b>12:30</b> c 9:15", "a <b>[1 12:30]</b> c [1 9:15]", digest.Spec{Regexes: []string{`[0-9]+:[0-9]+`}}},
		{"two that meet", "x 12 34 y", "x [1 12] [2 34] y", digest.Spec{Regexes: []string{`12`, `34`}}},
		{"the second sees what the first leaves", "<i>ad</i>seen", "[2 <i>ad</i>]seen", digest.Spec{Regexes: []string{`ad`, `<i> </i>`}}},
		{"an element", `<p>a<p class="clock">12 <b>x</b></p><p>b`, `<p>a[1 <p class="clock">12 <b>x</b></p>]<p>b`, digest.Spec{Selectors: []string{"p.clock"}}},
		{"an element in itself", `<div id=a>x<div>y</div>z</div>w`, `[1 <div id=a>x<div>y</div>z</div>]w`, digest.Spec{Selectors: []string{"#a"}}},
		{"an element without content", `a<img class=ad src=x>b`, `a[1 <img class=ad src=x>]b`, digest.Spec{Selectors: []string{"img.ad"}}},
		{"an element that is never closed", `a<div class=ad>b`, `a[1 <div class=ad>b]`, digest.Spec{Selectors: []string{"div.ad"}}},
		{"an expression and an element around it", `<p class=ad>12</p>b`, `[2 <p class=ad>12</p>]b`, digest.Spec{Regexes: []string{`12`}, Selectors: []string{".ad"}}},
		{"no match", "abc", "abc", digest.Spec{Regexes: []string{`x+`}, Selectors: []string{".y"}}},
	} {
		rules, err := digest.Compile(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		text, marks, err := captures.Marks(t.Context(), rules, []byte(c.page), "text/html; charset=utf-8")
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		var got strings.Builder
		end := 0
		for _, m := range marks {
			number := "1"
			if all := append(c.spec.Regexes, c.spec.Selectors...); len(all) > 1 && m.Rule == all[1] {
				number = "2"
			}
			got.WriteString(string(text[end:m.From]) + "[" + number + " " + string(text[m.From:m.To]) + "]")
			end = m.To
		}
		got.Write(text[end:])
		if got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.what, got.String(), c.want)
		}
	}
	rules, err := digest.Compile(digest.Spec{Regexes: []string{"a+b"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(digest.ErrTooSlow)
	if _, _, err := captures.Marks(ctx, rules, []byte("aab"), "text/plain"); !errors.Is(err, digest.ErrTooSlow) {
		t.Errorf("after the time: %v", err)
	}
}
