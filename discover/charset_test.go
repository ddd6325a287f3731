package discover_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"github.com/arcrawl/arcrawl/discover"
)

func TestLinksDecodesTheContent(t *testing.T) {
	t.Parallel()
	encode := func(e interface{ String(string) (string, error) }, s string) string {
		out, err := e.String(s)
		must(t, err)
		return out
	}
	utf16le := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder()
	utf16be := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder()
	sjis, jis := japanese.ShiftJIS.NewEncoder(), japanese.ISO2022JP.NewEncoder()
	kilobyte := strings.Repeat("<p>plain</p>", 100)
	for _, c := range []struct{ name, contentType, body, want string }{
		{"UTF-8 by header", "text/html; charset=utf-8", `<a href="/é?é">`, "L /%C3%A9?%C3%A9"},
		{"UTF-8 not declared", "text/html", `<a href="/é?é">`, "L /%C3%A9?%C3%A9"},
		{"UTF-8 not declared, ASCII in the first kilobyte", "text/html", kilobyte + `<a href="/é?é">`, "L /%C3%A9?%C3%A9"},
		{"UTF-8 with a wrong declaration", "text/html", `<meta charset=windows-1252><a href="/é?é">`, "L /%C3%A9?%C3%A9"},
		{"UTF-8 cut in the middle of a character", "text/html", kilobyte + "<a href=/é>\xc3", "L /%C3%A9"},
		{"UTF-8 with a byte order mark and another header", "text/html; charset=windows-1252", "\xEF\xBB\xBF<a href=/é>", "L /%C3%A9"},
		{"windows-1252 by header", "text/html; charset=windows-1252", "<a href='/\xe9?\xe9=\x80#\xe9'>", "L /%C3%A9?%E9=%80"},
		{"Latin-1 by header", `text/html; Charset="ISO-8859-1"`, "<a href='/\xe9?\xe9'>", "L /%C3%A9?%E9"},
		{"windows-1252 by meta", "text/html", "<meta http-equiv=content-type content='text/html; charset=windows-1252'><a href='/\xe9?\xe9'>", "L /%C3%A9?%E9"},
		{"windows-1252 not declared", "text/html", kilobyte + "<a href='/\xe9?\xe9'>", "L /%C3%A9?%E9"},
		{"an unknown name", "text/html; charset=klingon", "<a href='/\xe9'>", "L /%C3%A9"},
		{"a name that browsers refuse", "text/html; charset=iso-2022-kr", "<a href=/b>", "L /b"},
		{"a query with a character that the encoding lacks", "text/html; charset=windows-1252", "<a href='/?\xe9&#1078;'>", "L /?%C3%A9%D0%B6"},
		{"a style attribute escapes in UTF-8", "text/html; charset=windows-1252", "<p style='background: url(/?\xe9)'>", "E /?%C3%A9"},
		{"UTF-16, little-endian, by byte order mark", "text/html", encode(utf16le, "<a href='/é?é'>"), "L /%C3%A9?%C3%A9"},
		{"UTF-16, big-endian, by byte order mark", "text/html; charset=utf-8", encode(utf16be, "<a href='/é'>"), "L /%C3%A9"},
		{"Shift_JIS, where a second byte may be a backslash", "text/html; charset=shift_jis", encode(sjis, "<a href='/ソ表?表'>"), "L /%E3%82%BD%E8%A1%A8?%95\\"},
		{"ISO-2022-JP by meta, in ASCII bytes", "text/html", "<meta charset=iso-2022-jp>" + encode(jis, "<p>い<</p><a href='/あ'>"), "L /%E3%81%82"},
		{"ISO-2022-JP, where a byte may be a number sign", "text/html; charset=iso-2022-jp", encode(jis, "<a href='/?Ａ#x'>"), "L /?%1B$B%23A%1B(B"},
		{"a style sheet in UTF-8", "text/css", "p { background: url(/é) }", "E /%C3%A9"},
		{"a style sheet by header", "text/css; charset=windows-1252", "p { background: url(/\xe9) }", "E /%C3%A9"},
		{"a style sheet by its @charset rule", "text/css", "@charset \"windows-1252\"; p { background: url(/\xe9) }", "E /%C3%A9"},
		{"a style sheet with an impossible rule", "text/css", "@charset \"utf-16le\"; p { background: url(/é) }", "E /%C3%A9"},
		{"a style sheet in UTF-16", "text/css", encode(utf16le, "p { background: url(/é) }"), "E /%C3%A9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := short(find(t, response(t, 200, "Content-Type", c.contentType), c.body, discover.Bounds{})); got != c.want {
				t.Errorf("%q\n got %s\nwant %s", c.body, got, c.want)
			}
		})
	}
}
