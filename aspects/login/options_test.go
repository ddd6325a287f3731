package login

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

const password = "s3cret-pa55"

// field parses a text "key = value" and returns the value as a field of a host file. folder holds its secrets.
func field(t *testing.T, folder, text string) schema.Field {
	t.Helper()
	doc := schema.Parse([]byte(text), "hosts.d/a.example.toml")
	if doc.Root == nil {
		t.Fatal(doc.Faults)
	}
	doc.Secrets = folder
	name, _, _ := strings.Cut(text, " ")
	return schema.Field{Doc: doc, Name: "request." + name, Path: schema.Path("").Key(name), Value: doc.Root[name]}
}

// TestFaultsNeverShowASecret reads header fields and secrets of every wrong kind. Each is a fault with file and line
// that does not repeat the secret.
func TestFaultsNeverShowASecret(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"empty": "", "control": password + "\x01", "blank": " " + password, "huge": password + strings.Repeat("x", 9<<10),
	}
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, c := range []struct{ text, want string }{
		{`bearer = "file:empty"`, "holds nothing"},
		{`bearer = "file:control"`, "control character"},
		{`bearer = "file:blank"`, "white space"},
		{`bearer = "file:huge"`, "more than 8192 bytes"},
		{`headers = [{ name = "Authorization", value = "` + password + `" }]`, "holds a secret"},
		{`headers = [{ name = "Cookie", value = "` + password + `" }]`, "holds a secret"},
		{`secret_headers = [{ name = "X", value = "` + password + `" }]`, "exactly the keys name and secret"},
		{`secret_headers = [{ name = "X", secret = "` + password + `" }]`, "not the place of a secret"},
		{`headers = [{ name = "X", value = "a\r\nb" }]`, "not the value of a header field"},
		{`headers = [{ name = "X\n", value = "a" }]`, "not the name of a header field"},
		{`headers = [{ name = "Host", value = "a" }]`, "header field of the connection"},
		{`headers = [{ name = "Proxy-Authorization", value = "a" }]`, "header field of the connection"},
		{`headers = [{ name = "Range", value = "bytes=0-1" }]`, "without the page, or a part of it"},
		{`headers = [{ name = "If-None-Match", value = "a" }]`, "without the page, or a part of it"},
		{`headers = [{ name = "Accept-Encoding", value = "lzma" }]`, "codings that arcrawl undoes"},
		{`headers = [{ name = "User-Agent", value = "Mozilla" }]`, "names the crawler and its operator"},
		{`headers = [{ name = "A", value = "1" }, { name = "a", value = "2" }]`, "named twice"},
	} {
		f := field(t, dir, c.text)
		switch f.Path.String() {
		case "bearer":
			readBearer(f)
		case "headers":
			readOpenHeaders(f)
		default:
			readSecretHeaders(f)
		}
		got := schema.Faults(f.Doc.Faults).Error()
		if len(f.Doc.Faults) != 1 || !strings.Contains(got, c.want) || !strings.HasPrefix(got, "hosts.d/a.example.toml:1:") {
			t.Errorf("%s: the faults are %q, want one with %q", c.text, got, c.want)
		}
		if strings.Contains(got, password) {
			t.Errorf("%s: the fault shows the secret: %s", c.text, got)
		}
	}
}

// TestSecretsAreSentOverTLSOnly looks at the fields that are sent.
func TestSecretsAreSentOverTLSOnly(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "user"), []byte("maria:a:b\u00e6 \"\\"+password+"\r\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "cookie"), []byte("session="+password+"\n"), 0o600))
	basic, ok := schema.ReadCredentials(field(t, dir, `basic = "file:user"`))
	secret := readSecretHeaders(field(t, dir, `secret_headers = [{ name = "cookie", secret = "file:cookie" }]`))
	open := readOpenHeaders(field(t, dir, `headers = [{ name = "Accept-Language", value = "da" }]`))
	if !ok || len(secret) != 1 || len(open) != 1 {
		t.Fatal(basic, secret, open)
	}
	o := Options{Headers: open, SecretHeaders: secret, Basic: basic, Cookie: "consent=yes"}
	sent := func(u string) string {
		x := fetch.Request{URI: uri.FromCanonical(u)}
		o.AddTo(&x)
		return fmt.Sprint(x.Header, x.Secrets)
	}
	got := sent("http://a.example/")
	if want := "[{Accept-Language da} {Cookie consent=yes}] []"; got != want {
		t.Errorf("over http: %s, want %s", got, want)
	}
	got = sent("https://a.example/")
	want := "[{Accept-Language da}] [{Authorization Basic bWFyaWE6YTpiw6YgIlxzM2NyZXQtcGE1NQ==} " +
		"{Cookie consent=yes; session=" + password + "}]"
	if got != want {
		t.Errorf("over https: %s, want %s", got, want)
	}
	o.OverHTTP, o.ArchiveSecrets = true, true
	if got := sent("http://a.example/"); !strings.HasSuffix(got, "] []") || !strings.Contains(got, "Basic") {
		t.Errorf("with secrets_over_http and archive_secrets: %s", got)
	}
}

// TestTheMarkChangesWithWhatIsSent changes each part of what is sent.
func TestTheMarkChangesWithWhatIsSent(t *testing.T) {
	secret := func(value string) schema.Secret {
		t.Setenv("ARCRAWL_MARK", value)
		s, _ := readBearer(field(t, "", `bearer = "env:ARCRAWL_MARK"`))
		return s
	}
	header := []Header{{Name: "A", Value: "1"}}
	marks := map[int]string{}
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"nothing", Options{}},
		{"a cookie", Options{Cookie: "a=b"}},
		{"a header", Options{Headers: header}},
		{"another value", Options{Headers: []Header{{Name: "A", Value: "2"}}}},
		{"a token", Options{Bearer: secret("one")}},
		{"another token at the same place", Options{Bearer: secret("two")}},
		{"the token as basic", Options{Basic: secret("one")}},
	} {
		mark := c.o.Mark()
		if other, taken := marks[mark]; taken || (mark == 0) != (c.name == "nothing") {
			t.Errorf("the mark of %s is %d, as for %q", c.name, mark, other)
		}
		marks[mark] = c.name
	}
}
