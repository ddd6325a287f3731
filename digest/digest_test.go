package digest_test

import (
	"testing"

	"github.com/arcrawl/arcrawl/digest"
)

// emptySHA1 is the digest of an empty payload, as every WARC tool writes it.
const emptySHA1 = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"

func TestDigestHasTheFormOfWARCTools(t *testing.T) {
	t.Parallel()
	if got := digest.Of(nil).String(); got != emptySHA1 {
		t.Errorf("digest of nothing = %s, want %s", got, emptySHA1)
	}
	h := digest.New()
	h.Write([]byte("a"))
	h.Write([]byte("bc"))
	if h.Sum() != digest.Of([]byte("abc")) {
		t.Errorf("digest of a stream = %s, want the digest of the whole", h.Sum())
	}
	if got := (digest.Digest{}).String(); got != "" {
		t.Errorf("no digest is written as %q, want nothing", got)
	}
}

func TestParseReversesString(t *testing.T) {
	t.Parallel()
	want := digest.Of([]byte("abc"))
	for _, s := range []string{want.String(), "SHA1" + want.String()[4:]} {
		if got, err := digest.Parse(s); err != nil || got != want {
			t.Errorf("Parse(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "sha1:", "md5:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "sha1:3I42", "sha1:0000000000000000000000000000000!"} {
		if _, err := digest.Parse(s); err == nil {
			t.Errorf("Parse(%q) returns no error", s)
		}
	}
}
