package mediatype_test

import (
	"testing"

	"github.com/arcrawl/arcrawl/internal/mediatype"
)

func TestContentTypesAreReadAsServersSendThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		contentType, media, charset string
		html                        bool
	}{
		{"text/html", "text/html", "", true},
		{"Text/HTML; Charset=UTF-8", "text/html", "UTF-8", true},
		{" application/xhtml+xml ;charset=\"x\"", "application/xhtml+xml", "x", true},
		{"text/html; charset", "text/html", "", true},
		{"text/html; charset=a; charset=b", "text/html", "", true},
		{"text/html; charset=utf-8; foo bar", "text/html", "", true},
		{"image/png;", "image/png", "", false},
		{"text/html, text/html", "", "", false},
		{`"text/html"`, "", "", false},
		{"text", "text", "", false},
		{";charset=utf-8", "", "", false},
		{"", "", "", false},
	} {
		if got := mediatype.Of(c.contentType); got != c.media {
			t.Errorf("Of(%q) = %q, want %q", c.contentType, got, c.media)
		}
		if got := mediatype.Charset(c.contentType); got != c.charset {
			t.Errorf("Charset(%q) = %q, want %q", c.contentType, got, c.charset)
		}
		if got := mediatype.IsHTML(c.contentType); got != c.html {
			t.Errorf("IsHTML(%q) = %v, want %v", c.contentType, got, c.html)
		}
	}
}
