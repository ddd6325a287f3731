package config_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/arcrawl/arcrawl/config"
)

// TestFilesInForceArePublishedWithoutSecrets publishes the files of an archive. Each of their secrets is hush and a
// number.
func TestFilesInForceArePublishedWithoutSecrets(t *testing.T) {
	t.Parallel()
	const path = "testdata/published/secrets.txt"
	archive, err := txtar.ParseFile(path)
	check(t, err)
	publish := func(host string) (text, digest, public string) {
		t.Helper()
		c, err := config.Load(folder(t, map[string]string{
			"arcrawl.toml": string(archive.Files[0].Data), "hosts.d/news.example.toml": host,
		}))
		check(t, err)
		files, err := c.Redacted()
		check(t, err)
		for _, f := range files {
			text += "# " + f.Name + "\n" + string(f.Data)
		}
		public, err = c.PublicDigest()
		check(t, err)
		return text, c.Digest, public
	}
	host := string(archive.Files[1].Data)
	got, all, public := publish(host)
	if *update {
		archive.Files[2].Data = []byte(got)
		check(t, os.WriteFile(path, txtar.Format(archive), 0o644))
	}
	if diff := cmp.Diff(string(archive.Files[2].Data), got); diff != "" || strings.Contains(got, "hush") {
		t.Errorf("published with a secret, or otherwise (-want +got):\n%s", diff)
	}
	if _, a, p := publish(strings.ReplaceAll(host, "hush-6", "hush-7")); a == all || p != public {
		t.Errorf("after a secret was changed: digest %s (before %s), public digest %s (before %s)", a, all, p, public)
	}
}

func TestDefaultsAreWhatTheMainFileDoesNotSet(t *testing.T) {
	t.Parallel()
	defaults := map[string]string{}
	for _, s := range load(t, "[politeness]\nvalence = 2\n").Defaults() {
		defaults[s.Key] = s.Value
	}
	if defaults["crawl.workers"] != "50" || defaults["politeness.valence"] != "" || defaults["politeness.min_delay"] == "" {
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
