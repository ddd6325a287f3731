package schema_test

import (
	"testing"

	"github.com/arcrawl/arcrawl/config/schema"
)

func TestRewritesAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`^(https?://[^/]+)/s/[0-9a-f]{8}/ -> $1/`, `^.+ -> `, `a" -> b`, `a -> b -> c`} {
		if r, err := schema.ParseRewrite(s); err != nil || r.String() != s {
			t.Errorf("ParseRewrite(%q) = %v, %v", s, r, err)
		}
	}
	if r, err := schema.ParseRewrite("a ->"); err != nil || r.String() != "a -> " {
		t.Errorf("a rewrite without a space at its end is read as %v, %v", r, err)
	}
}

func TestParseRewriteRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "abc", " -> a", "( -> a", "a* -> b"} {
		if r, err := schema.ParseRewrite(s); err == nil {
			t.Errorf("ParseRewrite(%q) = %v, want an error", s, r)
		}
	}
}
