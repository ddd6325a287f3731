package digest

import (
	"strings"
	"testing"
)

func TestMediaTypesAreReadAsServersSendThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		contentType, media string
		html               bool
	}{
		{"text/html", "text/html", true},
		{"Text/HTML; Charset=UTF-8", "text/html", true},
		{" application/xhtml+xml ;charset=\"x\"", "application/xhtml+xml", true},
		{"text/html; charset", "text/html", true},
		{"text/html; charset=a; charset=b", "text/html", true},
		{"text/html; charset=utf-8; foo bar", "text/html", true},
		{"image/png;", "image/png", false},
		{"text/html, text/html", "", false},
		{`"text/html"`, "", false},
		{"text", "text", false},
		{";charset=utf-8", "", false},
		{"", "", false},
	} {
		if got := MediaType(c.contentType); got != c.media {
			t.Errorf("MediaType(%q) = %q, want %q", c.contentType, got, c.media)
		}
		if got := IsHTML(c.contentType); got != c.html {
			t.Errorf("IsHTML(%q) = %v, want %v", c.contentType, got, c.html)
		}
	}
}

// FuzzContentType reads arbitrary values of Content-Type. The media type must be in lower case, without spaces, and
// the same when it is read again.
func FuzzContentType(f *testing.F) {
	for _, s := range []string{
		"Text/HTML; charset=UTF-8", "text/html; charset=\"a\\\"b\"; charset=c", "text/html, text/html",
		";", "text/html;charset*0=u;charset*1=tf-8", "a/b; x*=utf-8''%e2%82", "\x00/\xff", "text/" + strings.Repeat("x", 300),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got := MediaType(value)
		if strings.ContainsAny(got, " \"\\\t") || got != strings.ToLower(got) {
			t.Errorf("the type of %q is %q", value, got)
		}
		if IsHTML(value) && got != "text/html" && got != "application/xhtml+xml" {
			t.Errorf("%q with the type %q counts as HTML", value, got)
		}
	})
}
