package schema_test

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

// secretField returns a place as a field of a host file. folder holds its secrets.
func secretField(t *testing.T, folder, value string) schema.Field {
	t.Helper()
	doc := schema.Parse([]byte("[request]\nbasic = "+value), "hosts.d/a.example.toml")
	if doc.Root == nil {
		t.Fatal(doc.Faults)
	}
	doc.Secrets = folder
	f, _ := doc.Setting("", "request.basic")
	return f
}

// TestFaultsNeverShowASecret reads secrets from every wrong place. Each is a fault with file and line that does not
// repeat the secret.
func TestFaultsNeverShowASecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"two-lines": password + "\n" + password + "\n", "cr": password + "\r" + password, "nocolon": password,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ value, want string }{
		{`"` + password + `"`, "not the place of a secret"},
		{`"Bearer:` + password + `"`, "not the place of a secret"},
		{`"file:../` + password + `"`, "outside the folder storage.secrets"},
		{`"file:/etc/` + password + `"`, "outside the folder storage.secrets"},
		{`"env:PATH"`, "does not begin with ARCRAWL_"},
		{`"credential:../x"`, "not a path"},
		{`5`, "not the place of a secret"},
		{`"file:missing"`, "which does not exist"},
		{`"file:two-lines"`, filepath.Join(dir, "two-lines") + ", which has a line end inside the secret, at the end of its line 1"},
		{`"file:cr"`, "a line end inside"},
		{`"file:nocolon"`, "no user name and password"},
	} {
		f := secretField(t, dir, c.value)
		schema.ReadCredentials(f)
		got := schema.Faults(f.Doc.Faults).Error()
		if len(f.Doc.Faults) != 1 || !strings.Contains(got, c.want) || !strings.HasPrefix(got, "hosts.d/a.example.toml:2:") {
			t.Errorf("%s: the faults are %q, want one with %q", c.value, got, c.want)
		}
		if strings.Contains(got, password) {
			t.Errorf("%s: the fault shows the secret: %s", c.value, got)
		}
	}
}

// TestASecretIsShownAsItsPlace prints and encodes a secret in every usual way.
func TestASecretIsShownAsItsPlace(t *testing.T) {
	t.Setenv("ARCRAWL_TEST_SECRET", "maria:"+password)
	s, ok := schema.ReadCredentials(secretField(t, "", `"env:ARCRAWL_TEST_SECRET"`))
	if !ok || s.Reveal() != "maria:"+password {
		t.Fatalf("the secret is %q, %t", s.Reveal(), ok)
	}
	all := struct {
		One  schema.Secret
		More []schema.Secret
	}{s, []schema.Secret{s}}
	encoded, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%v %+v %#v %s %q %x %s", all, all, all, s, s, all.One, encoded)
	if hex := fmt.Sprintf("%x", password); strings.Contains(text, password) || strings.Contains(text, hex) {
		t.Errorf("the secret is shown: %s", text)
	}
	if !strings.Contains(text, "env:ARCRAWL_TEST_SECRET") {
		t.Errorf("the place is not shown: %s", text)
	}
}
