package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/config"
)

func TestFilesInForceArePublishedWithoutSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	main := `# the webhook was https://hooks.example/in-a-comment
[operator]
name = "Library"
contact = "https://library.example/crawl"
[admin]
webhook = "https://hooks.example/T0/B0/hush-1"
[mail]
server = "smtp.library.example:587"
from = "crawler@library.example"
user = "hush-2"
password_file = "mail.password"
to = ["hush-3@library.example"]
[index]
outbackcdx = "http://me:hush-4@index.example/arcrawl"
[storage]
elsewhere = ["https://me:hush-7@a@hush-7@store.example/warcs"]
[[wait]]
mime = "^text/.*$"
min = "10m"
`
	host := `note = "their admin, hush-8, wants no visits at night"
owner = "hush-10"
[fetch]
cookie = "session=hush-5"
[seeds]
uris = ["https://news.example/"]
about = [{ uri = "https://news.example/", labels = ["papers"], note = "call hush-9 first", owner = "hush-11" }]
[[when]]
uri = "/live/"
wait = [{ mime = "^text/html.*$", min = "5m" }]
fetch.cookie = "session=hush-6"
`
	if err := os.Mkdir(filepath.Join(dir, "hosts.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "arcrawl.toml")
	for name, text := range map[string]string{path: main, filepath.Join(dir, "hosts.d", "news.example.toml"): host} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	files, err := c.Redacted()
	if err != nil || len(files) != 2 || files[0].Name != "arcrawl.toml" || files[1].Name != "news.example.toml" {
		t.Fatalf("%v, files %v", err, files)
	}
	for _, f := range files {
		if s := string(f.Data); strings.Contains(s, "hush") || strings.Contains(s, "comment") {
			t.Errorf("%s is published with a secret:\n%s", f.Name, s)
		}
	}
	for text, in := range map[string]int{
		`contact = "https://library.example/crawl"`: 0, `webhook = "(redacted)"`: 0, `min = "10m"`: 0,
		`uris = ["https://news.example/"]`: 1, `uri = "/live/"`: 1, `cookie = "(redacted)"`: 1, `min = "5m"`: 1,
		`labels = ["papers"]`: 1,
	} {
		if !strings.Contains(string(files[in].Data), text) {
			t.Errorf("%s has lost %s:\n%s", files[in].Name, text, files[in].Data)
		}
	}
	digests := func(c *config.Config) (all, public string) {
		public, err := c.PublicDigest()
		if err != nil {
			t.Fatal(err)
		}
		return c.Digest, public
	}
	all, public := digests(c)
	other := strings.ReplaceAll(host, "hush-6", "hush-7")
	if err := os.WriteFile(filepath.Join(dir, "hosts.d", "news.example.toml"), []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	next, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if a, p := digests(next); a == all || p != public {
		t.Errorf("after a secret was changed: digest %s (before %s), public digest %s (before %s)", a, all, p, public)
	}
	defaults := map[string]string{}
	for _, s := range c.Defaults() {
		defaults[s.Key] = s.Value
	}
	if defaults["crawl.workers"] != "50" || defaults["admin.webhook"] != "" || defaults["politeness.min_delay"] == "" {
		t.Errorf("the defaults are %v", defaults)
	}
}

// open are the keys that sound secret and are not: what they hold may be published.
var open = map[string]string{
	"admin.token_file": "a path", "admin.user_file": "a path", "mail.password_file": "a path", "admin.tls_key": "a path", "admin.tls_cert": "a path",
	"warc.sealed_command": "a program", "labels": "no addresses", "admin.listen": "an address of the own network",
	"request.basic": "a place", "request.bearer": "a place", "request.secret_headers": "names and places",
	"request.secrets_over_http": "yes or no", "request.archive_secrets": "yes or no", "storage.secrets": "a path", "upload.secret": "a place",
	"network.proxy": "a name", "fetch.cookies": "a choice",
	"login.uri": "an address", "login.success": "an expression", "login.secret_fields": "names and places",
}

// A new key with a secret must be marked, because what is in an archive cannot be taken back.
func TestKeysThatSoundSecretAreMarked(t *testing.T) {
	t.Parallel()
	sounds := regexp.MustCompile(`(?i)password|token|secret|credential|cookie|user name|recipients|receives`)
	marked := 0
	for _, k := range config.Keys() {
		if k.Secret {
			marked++
		}
		_, isOpen := open[k.Name]
		if sounds.MatchString(k.Name+" "+k.Doc) && !k.Secret && !isOpen {
			t.Errorf("%s sounds secret (%q): mark it with secret(…), or add it to the list of open keys", k.Name, k.Doc)
		}
	}
	if marked < 6 {
		t.Errorf("only %d keys are marked", marked)
	}
}
