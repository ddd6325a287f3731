package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/login"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// withSecret writes a configuration whose host a.example names a secret, in the file and in a refinement.
func withSecret(t *testing.T) (dir, path string) {
	t.Helper()
	path = folder(t, map[string]string{
		"arcrawl.toml": operator + "[seeds]\nuris = [\"https://a.example/\", \"https://b.example/\"]\n",
		"hosts.d/a.example.toml": "[request]\nbearer = \"file:token\"\n[[when]]\nuri = \"/members/\"\n[when.request]\nbearer = \"\"\n" +
			"secret_headers = [{ name = \"Cookie\", secret = \"file:members\" }]\n",
		"secrets/token": "pa55word-one\n", "secrets/members": "id=pa55word-two\n",
	})
	return filepath.Dir(path), path
}

// TestSecretsBelongToTheConfigurationThatWasLoaded removes the files of secrets after loading. The settings of
// visits, also of refinements that are combined later, still have them. No list of settings and no difference shows
// them.
func TestSecretsBelongToTheConfigurationThatWasLoaded(t *testing.T) {
	t.Parallel()
	dir, path := withSecret(t)
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	check(t, os.RemoveAll(filepath.Join(dir, "secrets")))
	about := func(text string) config.About { return config.About{URI: parse(t, text), Now: time.Now()} }
	sent := func(text string) *login.Options { return config.OwnFor[login.Options](c, about(text)) }
	page, member := sent("https://a.example/"), sent("https://a.example/members/1")
	if page.Bearer.Reveal() != "pa55word-one" || len(page.SecretHeaders) > 0 {
		t.Errorf("the settings of the page: %+v", page)
	}
	if got := member; got.Bearer.IsSet() || len(got.SecretHeaders) != 1 || got.SecretHeaders[0].Secret.Reveal() != "id=pa55word-two" {
		t.Errorf("the settings of a member's page: %+v", got)
	}
	if a, b, other := page.Mark(), member.Mark(), sent("https://b.example/").Mark(); other != 0 || a == 0 || a == b {
		t.Errorf("marks: %d, %d, and %d of another host", a, b, other)
	}
	var shown strings.Builder
	for _, s := range c.Effective(about("https://a.example/members/1")) {
		shown.WriteString(s.Key + " = " + s.Value + "\n")
	}
	plain, err := config.LoadTexts(path, map[string][]byte{"": c.Texts()[""]})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range plain.Changes(c, time.Now()) {
		shown.WriteString(change.String() + "\n")
	}
	if text := shown.String(); strings.Contains(text, "pa55word") || !strings.Contains(text, "file:token") || !strings.Contains(text, "file:members") {
		t.Errorf("the settings are shown as\n%s", text)
	}
}

// TestAMissingSecretHoldsItsHost loads a configuration whose secret is gone, as a daemon does at its start.
func TestAMissingSecretHoldsItsHost(t *testing.T) {
	t.Parallel()
	dir, path := withSecret(t)
	check(t, os.Remove(filepath.Join(dir, "secrets/members")))
	if _, err := config.Load(path); err == nil || !strings.Contains(err.Error(), "secrets/members, which does not exist") {
		t.Errorf("a missing secret: %v", err)
	}
	c, err := config.LoadKept(path, func(_, _ string) ([]byte, bool) { return nil, false })
	if err != nil {
		t.Fatal(err)
	}
	if got := c.HeldHosts(); len(got) != 1 || got[0] != uri.Host("a.example") {
		t.Errorf("held hosts: %q", got)
	}
}

// TestAnUnsetVariableIsAWarningForReaders loads a configuration whose secret only the daemon has.
func TestAnUnsetVariableIsAWarningForReaders(t *testing.T) {
	t.Parallel()
	dir, path := withSecret(t)
	text := "[request]\nbearer = \"env:ARCRAWL_NOT_SET_ANYWHERE\"\n"
	check(t, os.WriteFile(filepath.Join(dir, "hosts.d/a.example.toml"), []byte(text), 0o600))
	if _, err := config.Load(path); err == nil || !strings.Contains(err.Error(), "a.example.toml:2:10: request.bearer") {
		t.Errorf("for the daemon: %v", err)
	}
	c, err := config.LoadToRead(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].Problem, "is not set") {
		t.Errorf("for a reader: %v", c.Warnings)
	}
}

// TestPermissionsAreListedWithTheirReasons loads permissions for a host, a path and one that has expired.
func TestPermissionsAreListedWithTheirReasons(t *testing.T) {
	t.Parallel()
	dir, path := withSecret(t)
	file := filepath.Join(dir, "hosts.d/a.example.toml")
	check(t, os.WriteFile(file, []byte("[robots]\nobey = \"html-only\"\nreason = \"law\"\nuntil = 2020-01-31\n"+
		"[[when]]\nuri = \"/news/\"\n[when.robots]\nobey = false\nreason = \"letter\"\nuntil = 2999-12-31\n"), 0o600))
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range c.Permissions(time.Now()) {
		all = append(all, fmt.Sprint(p.Host, " ", p.Where, " ", p.Obey, " ", p.Reason, " ", p.Until.Format(time.DateOnly), " ", p.InForce, " ", filepath.Base(p.Origin)))
	}
	want := []string{"a.example  html-only law 2020-02-01 false a.example.toml:2", `a.example uri = "/news/" false letter 3000-01-01 true a.example.toml:8`}
	if got := strings.Join(all, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the permissions are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if w := c.Expired(time.Now()); len(w) != 1 || w[0].Key != "robots.until" {
		t.Errorf("expired: %v", w)
	}
}

// TestHostFilesCannotNameSecretsOfTheDaemon names the places of secrets of the main file in a host file. Whoever may
// write host files could otherwise have them sent to a host of their own.
func TestHostFilesCannotNameSecretsOfTheDaemon(t *testing.T) {
	t.Parallel()
	dir, path := withSecret(t)
	write := func(name, text string) {
		t.Helper()
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	main, err := os.ReadFile(path)
	check(t, err)
	write("secrets/s3", "key:secret\n")
	write("secrets/proxy", "user:secret\n")
	write("secrets/mail", "secret\n")
	write("arcrawl.toml", string(main)+"[upload]\nendpoint = \"https://s3.example\"\nbucket = \"archive\"\nsecret = \"file:s3\"\n"+
		"[network]\nproxies = [{ name = \"office\", address = \"socks5://10.0.0.1:1080\", secret = \"file:proxy\" }]\n"+
		"[mail]\npassword_file = \"secrets/mail\"\n")
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for setting, refused := range map[string]bool{
		"request.basic = \"file:s3\"": true, "request.basic = \"file:./s3\"": true, "request.basic = \"file:x/../proxy\"": true,
		"request.bearer = \"file:mail\"": true, "request.bearer = \"file:token\"": false,
		"[request]\nsecret_headers = [{ name = \"X\", secret = \"file:proxy\" }]": true,
		"[[when]]\nuri = \"/x\"\n[when.request]\nbearer = \"file:s3\"":            true,
	} {
		texts := c.Texts()
		texts["a.example.toml"] = []byte(setting + "\n")
		write("hosts.d/a.example.toml", setting+"\n")
		_, errStaged := config.LoadTexts(path, texts)
		_, errRead := config.Load(path)
		for what, err := range map[string]error{"proposed": errStaged, "on disk": errRead} {
			if (err != nil) != refused || refused && !strings.Contains(err.Error(), "a secret of the daemon itself") {
				t.Errorf("%s, %s: %v", setting, what, err)
			}
		}
	}
}
