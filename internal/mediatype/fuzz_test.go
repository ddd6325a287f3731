package mediatype

import (
	"strings"
	"testing"
)

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
		got := Of(value)
		if strings.ContainsAny(got, " \"\\\t") || got != strings.ToLower(got) {
			t.Errorf("the type of %q is %q", value, got)
		}
		if IsHTML(value) && got != "text/html" && got != "application/xhtml+xml" {
			t.Errorf("%q with the type %q counts as HTML", value, got)
		}
		_ = Charset(value)
	})
}
