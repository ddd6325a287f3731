package login

import (
	"bytes"
	"net/url"
	"testing"

	"github.com/arcrawl/arcrawl/config"
)

// FuzzLoginPage reads arbitrary pages for the form of a login. A page without the field of the password has none, and
// what the page adds to the form has its bound and is sent as it was read.
func FuzzLoginPage(f *testing.F) {
	for _, page := range []string{
		`<form><input name=user><input type=password name=pass><input type=hidden name=csrf value="a&amp;b"></form>`,
		`<form><input type=hidden name=no value=1></form><form action=/in><input type="HIDDEN" name="t" value="&#0;"><input name=pass>`,
		`<form><form><select name=pass></form>`, `<input name=pass type=hidden>`, `<script><form><input name=pass></script>`,
		"<form\x00><input name='pass", "<!--<form>--><button name=pass value=\u202e>", `<textarea><input name=pass></textarea></form>`,
	} {
		f.Add([]byte(page))
	}
	l := &config.Login{SecretFields: []config.Header{{Name: "pass"}}}
	f.Fuzz(func(t *testing.T, page []byte) {
		got := hiddenFields(page, l)
		if got == nil {
			return
		}
		if !bytes.Contains(page, []byte("pass")) && !bytes.ContainsAny(page, "&\x00") || len(got) > maxHidden {
			t.Fatalf("the form of %q has the fields %v", page, got)
		}
		sent := got.Encode()
		back, err := url.ParseQuery(sent)
		if err != nil || len(back) != len(got) || len(sent) > 9*len(page)+1 {
			t.Fatalf("the fields %v are sent as %q, %v", got, sent, err)
		}
	})
}
