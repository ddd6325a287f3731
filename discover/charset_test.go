package discover

import "testing"

func TestCharsetsAreReadAsServersSendThem(t *testing.T) {
	t.Parallel()
	for contentType, want := range map[string]string{
		"text/html":                             "",
		"Text/HTML; Charset=UTF-8":              "UTF-8",
		" application/xhtml+xml ;charset=\"x\"": "x",
		"text/html; charset":                    "",
		"text/html; charset=a; charset=b":       "",
		"text/html; charset=utf-8; foo bar":     "",
		"image/png;":                            "",
		"text/html, text/html":                  "",
		`"text/html"`:                           "",
		"text":                                  "",
		";charset=utf-8":                        "",
		"":                                      "",
	} {
		if got := Charset(contentType); got != want {
			t.Errorf("Charset(%q) = %q, want %q", contentType, got, want)
		}
	}
}
