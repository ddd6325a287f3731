package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/config/schema"
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

// TestFaultsNeverShowASecret reads secrets of every wrong kind. Each is a fault with file and line that does not
// repeat the secret.
func TestFaultsNeverShowASecret(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"two-lines": password + "\n" + password + "\n", "cr": password + "\r" + password, "empty": "", "control": password + "\x01",
		"nocolon": password, "blank": " " + password, "huge": password + strings.Repeat("x", 9<<10),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{`bearer = "` + password + `"`, "not the place of a secret"},
		{`bearer = "Bearer:` + password + `"`, "not the place of a secret"},
		{`bearer = "file:../` + password + `"`, "outside the folder storage.secrets"},
		{`bearer = "file:/etc/` + password + `"`, "outside the folder storage.secrets"},
		{`bearer = "env:PATH"`, "does not begin with ARCRAWL_"},
		{`bearer = "credential:../x"`, "not a path"},
		{`bearer = 5`, "not the place of a secret"},
		{`bearer = "file:missing"`, "which does not exist"},
		{`bearer = "file:two-lines"`, filepath.Join(dir, "two-lines") + ", which has a line end inside the secret, at the end of its line 1"},
		{`bearer = "file:cr"`, "a line end inside"},
		{`bearer = "file:empty"`, "holds nothing"},
		{`bearer = "file:control"`, "control character"},
		{`bearer = "file:blank"`, "white space"},
		{`bearer = "file:huge"`, "more than 8192 bytes"},
		{`basic = "file:nocolon"`, "no user name and password"},
		{`headers = [{ name = "Authorization", value = "` + password + `" }]`, "holds a secret"},
		{`headers = [{ name = "Cookie", value = "` + password + `" }]`, "holds a secret"},
		{`secret_headers = [{ name = "X", value = "` + password + `" }]`, "exactly the keys name and secret"},
		{`secret_headers = [{ name = "X", secret = "` + password + `" }]`, "not the place of a secret"},
		{`secret_headers = [{ name = "X", secret = "file:two-lines" }]`, "a line end inside"},
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
		case "basic":
			readBasic(f)
		case "headers":
			readOpenHeaders(f)
		default:
			readSecretHeaders(f)
		}
		got := schema.Faults(f.Doc.Faults).Error()
		if len(f.Doc.Faults) != 1 || !strings.Contains(got, c.want) || !strings.HasPrefix(got, "hosts.d/a.example.toml:1:") {
			t.Errorf("%s: the faults are %q, want one with %q", c.text, got, c.want)
		}
		if strings.Contains(got, password) && !strings.Contains(c.text, ":../"+password) && !strings.Contains(c.text, "/etc/") {
			t.Errorf("%s: the fault shows the secret: %s", c.text, got)
		}
	}
}

// TestASecretIsShownAsItsPlace prints and encodes a secret in every usual way.
func TestASecretIsShownAsItsPlace(t *testing.T) {
	t.Setenv("ARCRAWL_TEST_SECRET", password)
	s, ok := readBearer(field(t, "", `bearer = "env:ARCRAWL_TEST_SECRET"`))
	if !ok || s.Reveal() != password {
		t.Fatalf("the secret is %q, %t", s.Reveal(), ok)
	}
	all := RequestSettings{Bearer: s, SecretHeaders: []Header{{Name: "X", Secret: s}}}
	encoded, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%v %+v %#v %s %q %x %s", all, all, all, s, s, all.Bearer, encoded)
	if hex := fmt.Sprintf("%x", password); strings.Contains(text, password) || strings.Contains(text, hex) {
		t.Errorf("the secret is shown: %s", text)
	}
	if !strings.Contains(text, "env:ARCRAWL_TEST_SECRET") {
		t.Errorf("the place is not shown: %s", text)
	}
}

// TestSecretsAreSentOverTLSOnly looks at the fields that are sent.
func TestSecretsAreSentOverTLSOnly(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "user"), []byte("maria:a:b\u00e6 \"\\"+password+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cookie"), []byte("session="+password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	basic, ok := readBasic(field(t, dir, `basic = "file:user"`))
	secret := readSecretHeaders(field(t, dir, `secret_headers = [{ name = "cookie", secret = "file:cookie" }]`))
	open := readOpenHeaders(field(t, dir, `headers = [{ name = "Accept-Language", value = "da" }]`))
	if !ok || len(secret) != 1 || len(open) != 1 {
		t.Fatal(basic, secret, open)
	}
	s := RequestSettings{Headers: open, SecretHeaders: secret, Basic: basic}
	got := fmt.Sprint(s.Fields("consent=yes", false))
	if want := "[{Accept-Language da false} {Cookie consent=yes false}]"; got != want {
		t.Errorf("over http: %s, want %s", got, want)
	}
	got = fmt.Sprint(s.Fields("consent=yes", true))
	want := "[{Accept-Language da false} {Authorization Basic bWFyaWE6YTpiw6YgIlxzM2NyZXQtcGE1NQ== true} " +
		"{Cookie consent=yes; session=" + password + " true}]"
	if got != want {
		t.Errorf("over https: %s, want %s", got, want)
	}
	s.OverHTTP, s.ArchiveSecrets = true, true
	if got := fmt.Sprint(s.Fields("", false)); strings.Contains(got, "true") || !strings.Contains(got, "Basic") {
		t.Errorf("with secrets_over_http and archive_secrets: %s", got)
	}
}

// TestTheMarkChangesWithWhatIsSent changes each part of what is sent.
func TestTheMarkChangesWithWhatIsSent(t *testing.T) {
	secret := func(value string) Secret {
		t.Setenv("ARCRAWL_MARK", value)
		s, _ := readBearer(field(t, "", `bearer = "env:ARCRAWL_MARK"`))
		return s
	}
	header := []Header{{Name: "A", Value: "1"}}
	marks := map[int]string{}
	for _, c := range []struct {
		name, cookie string
		s            RequestSettings
	}{
		{"nothing", "", RequestSettings{}},
		{"a cookie", "a=b", RequestSettings{}},
		{"a header", "", RequestSettings{Headers: header}},
		{"another value", "", RequestSettings{Headers: []Header{{Name: "A", Value: "2"}}}},
		{"a token", "", RequestSettings{Bearer: secret("one")}},
		{"another token at the same place", "", RequestSettings{Bearer: secret("two")}},
		{"the token as basic", "", RequestSettings{Basic: secret("one")}},
	} {
		mark := c.s.Mark(c.cookie)
		if other, taken := marks[mark]; taken || (mark == 0) != (c.name == "nothing") {
			t.Errorf("the mark of %s is %d, as for %q", c.name, mark, other)
		}
		marks[mark] = c.name
	}
}
