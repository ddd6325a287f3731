package config_test

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
)

// pemOf returns a certificate in PEM format.
func pemOf(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

// TestAHostFileChoosesAWay reads the ways of several hosts.
func TestAHostFileChoosesAWay(t *testing.T) {
	t.Parallel()
	root := pemOf(t)
	c := load(t, `[storage]
secrets = "keys"
[network]
proxies = [{ name = "office", address = "http://10.0.0.1:3128" }, { name = "abroad", address = "socks5://[2001:db8::1]:1080/" }]
dns = ["192.0.2.53", "[2001:db8::53]:5353"]
`,
		"a.example.toml", "[network]\nproxy = \"office\"\nsource = [\"192.0.2.7\", \"2001:db8::7\"]\n",
		"b.example.toml", "[network]\nsource = [\"192.0.2.7\", \"2001:db8::7\"]\nip = \"prefer-ipv6\"\n[tls]\nmin_version = \"1.0\"\nroots = ['''"+root+"''']\n",
		"c.example.toml", "[[when]]\nuri = '^http://[^/]*/old/'\nnetwork = { proxy = \"office\" }\n",
		"x.a.example.toml", "[network]\nproxy = \"\"\nsource = []\n")
	at := time.Now()
	for u, want := range map[string]string{
		"http://other.example/":  "dns=own",
		"http://a.example/":      "proxy=office+dns=own",
		"http://b.example/":      "source=192.0.2.7+source=2001:db8::7+ip=prefer-ipv6+dns=own+min-tls=1.0+roots=own",
		"http://c.example/":      "dns=own",
		"http://c.example/old/1": "proxy=office+dns=own",
		"http://x.a.example/":    "dns=own",
		"http://sub.a.example/":  "proxy=office+dns=own",
		"http://y.x.a.example/":  "dns=own",
	} {
		if got := c.For(config.About{URI: parse(t, u), Now: at}).Way.String(); got != want {
			t.Errorf("%s: %q, want %q", u, got, want)
		}
	}
	if c.Way().String() != "dns=own" || c.For(config.About{URI: parse(t, "http://y.example/"), Now: at}).Way != c.Way() {
		t.Error("a host without settings of its own does not go the usual way")
	}
	without := load(t, "[network]\nproxies = [{ name = \"office\", address = \"http://10.0.0.1:3128\" }]\n")
	if !c.UsesProxy("office") || c.UsesProxy("abroad") || without.UsesProxy("office") {
		t.Error("a proxy is used that no file chooses, or the other way round")
	}
	files, err := c.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.Contains(string(f.Data), "10.0.0.1") {
			t.Errorf("the published %s has the address of a proxy: %s", f.Name, f.Data)
		}
	}
	if load(t, "").Way() != nil {
		t.Error("without settings the way is not the usual one")
	}
}

// TestTheMainFileMayNameSecretsAndFilesOfItsWay reads a password and a root certificate from files.
func TestTheMainFileMayNameSecretsAndFilesOfItsWay(t *testing.T) {
	t.Parallel()
	path := folder(t, map[string]string{"keys/proxy": "arcrawl:s3cret\n", "root.pem": pemOf(t), "arcrawl.toml": operator + `[storage]
secrets = "keys"
[network]
proxies = [{ name = "office", address = "https://10.0.0.1:3128", secret = "file:proxy", roots = "root.pem" }]
proxy = "office"
[tls]
roots = ["root.pem"]
`})
	c, err := config.Load(path)
	check(t, err)
	p := c.ForHost("a.example", time.Now()).Network.Proxies[0]
	if p.User != "arcrawl" || p.Password != "s3cret" || p.Scheme != fetch.HTTPSProxy || len(p.Roots) != 1 || c.Way().String() != "proxy=office+roots=own" {
		t.Errorf("user %q, %d bytes of password, way %s", p.User, len(p.Password), c.Way())
	}
	check(t, os.WriteFile(filepath.Join(filepath.Dir(path), "keys/proxy"), []byte("nonsense\n"), 0o600))
	if _, err = config.Load(path); err == nil || strings.Contains(err.Error(), "nonsense") {
		t.Errorf("a secret without a user: %v", err)
	}
}
