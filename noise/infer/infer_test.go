package infer_test

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/noise/infer"
)

const htmlType = "text/html; charset=utf-8"

var finder infer.Finder

func compile(t testing.TB, s digest.Spec) *digest.Rules {
	t.Helper()
	r, err := digest.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func compared(t testing.TB, r *digest.Rules, content, contentType string) digest.Comparison {
	t.Helper()
	c, err := r.Compare(t.Context(), strings.NewReader(content), contentType, digest.Of([]byte(content)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func sightOf(t *testing.T, page string) digest.Sight {
	t.Helper()
	s, err := compile(t, digest.Spec{}).Seen(t.Context(), strings.NewReader(page), htmlType)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
