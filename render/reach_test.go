package render_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/render/chromium"
	"github.com/arcrawl/arcrawl/uri"
)

// TestAScriptReachesOnlyWhatEverybodyMayRead lets a script on a page request a URI of another host, which the crawl may
// get by other means than everybody: once the crawl does not know the URI, and once it has a fresh capture. The page
// must not get that capture, and the crawl must not visit the URI because of the page. What everybody may read is given
// to the page.
func TestAScriptReachesOnlyWhatEverybodyMayRead(t *testing.T) {
	t.Parallel()
	const (
		own     = "https://api.site.example/x.json"
		foreign = "https://www.other.example/x.json"
		basic   = "[request]\nbasic = \"file:pw\"\n"
		login   = "[login]\nuri = \"https://www.other.example/in\"\nsuccess = \"welcome\"\n" +
			"secret_fields = [{ name = \"pass\", secret = \"file:pw\" }]\n"
		proxies  = "[network]\nproxies = [{ name = \"office\", address = \"socks5://10.0.0.1:1080\" }]\n"
		embargo  = "[warc]\nseries = \"embargo\"\n"
		series   = "[warc]\nseries_names = [\"embargo\", \"other\"]\n"
		networks = "[fetch]\nallow_networks = [\"10.0.0.0/8\", \"192.168.7.0/24\"]\n"
	)
	for name, c := range map[string]struct {
		main    string
		hosts   map[string]string // files
		request string
		page    string // address of the server of the page
		server  string // address of the server of the URI that was captured
		asked   int    // the mark of the captures
		unknown bool   // the page may reach the URI if the crawl does not know it
		known   bool   // the page may read a fresh capture
	}{
		"a host like any other":         {request: foreign, unknown: true, known: true},
		"a password":                    {request: foreign, hosts: map[string]string{"www.other.example": basic}},
		"a password of the whole site":  {request: foreign, hosts: map[string]string{"other.example": basic}},
		"a password of the page's site": {request: own, hosts: map[string]string{"api.site.example": basic}, unknown: true, known: true},
		"a password of some pages": {
			request: foreign,
			hosts: map[string]string{
				"www.other.example": "[[when]]\nuri = \"/x\"\nrequest = { basic = \"file:pw\" }\n",
			},
		},
		"a token": {request: foreign, hosts: map[string]string{"www.other.example": "[request]\nbearer = \"file:pw\"\n"}},
		"a secret header": {request: foreign, hosts: map[string]string{
			"www.other.example": "[request]\nsecret_headers = [{ name = \"X-Api-Key\", secret = \"file:pw\" }]\n",
		}},
		"a header that everybody knows": {request: foreign, unknown: true, hosts: map[string]string{
			"www.other.example": "[request]\nheaders = [{ name = \"Accept-Language\", value = \"da\" }]\n",
		}, known: true},
		"a login":        {request: foreign, hosts: map[string]string{"www.other.example": login}},
		"a proxy":        {request: foreign, main: proxies, hosts: map[string]string{"www.other.example": "[network]\nproxy = \"office\"\n"}},
		"the same proxy": {request: foreign, main: proxies + "proxy = \"office\"\n", unknown: true, known: true},
		"a local address": {request: foreign, hosts: map[string]string{
			"www.other.example": "[network]\nsource = [\"192.0.2.7\"]\n",
		}},
		"an embargo":                   {request: foreign, main: series, hosts: map[string]string{"www.other.example": embargo}},
		"an embargo in the same site":  {request: own, main: series, hosts: map[string]string{"api.site.example": embargo}},
		"a page under an embargo":      {request: foreign, main: series, hosts: map[string]string{"www.site.example": embargo}, unknown: true, known: true},
		"a capture made with a secret": {request: foreign, asked: 7, unknown: true},
		"a private network":            {request: foreign, main: networks, page: "203.0.113.5", server: "10.1.2.3"},
		"a public host, with private networks": {
			request: foreign, main: networks, page: "203.0.113.5", server: "203.0.113.9", known: true,
		},
		"a private network other than the page's": {request: foreign, main: networks, page: "192.168.7.1", server: "10.1.2.3"},
		"the private network of the page": {
			request: foreign, main: "[fetch]\nallow_networks = [\"10.0.0.0/8\"]\n", page: "10.0.0.1", server: "10.1.2.3", unknown: true, known: true,
		},
		"a private network of that host": {
			request: foreign, main: "[fetch]\nallow_networks = [\"www.other.example=10.0.0.0/8\"]\n", page: "203.0.113.5", server: "10.1.2.3",
		},
	} {
		for _, captured := range []bool{false, true} {
			how := map[bool]string{false: ", not known", true: ", captured"}[captured]
			t.Run(name+how, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				write := func(name, text string) {
					file := filepath.Join(dir, name)
					if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				write("secrets/pw", "anna:s3cret")
				for host, text := range c.hosts {
					write("hosts.d/"+host+".toml", text)
				}
				synctest.Test(t, func(t *testing.T) {
					main := changed + "[storage]\nsecrets = \"secrets\"\n" + c.main
					w := openIn(t, dir, main, chromium.Request{URI: c.request, Kind: chromium.Script})
					defer w.close()
					w.servers = map[string]netip.Addr{}
					for u, address := range map[string]string{front: c.page, c.request: c.server} {
						if address != "" {
							w.servers[u] = netip.MustParseAddr(address)
						}
					}
					w.asked, w.player.hold = c.asked, make(chan struct{})
					json := func(r *frontier.Record) {
						if r.URI.String() == c.request {
							r.ContentType = "application/json"
						}
					}
					if captured {
						seed := frontier.Candidate{URI: uri.FromCanonical(c.request), Seed: front, Due: w.now()}
						if _, err := w.frontier.Add(w.now(), seed); err != nil {
							t.Fatal(err)
						}
						w.visit(json)
					}
					w.visit(json)
					time.Sleep(time.Minute)
					w.player.hold <- struct{}{}
					time.Sleep(time.Second)
					synctest.Wait()
					record, known, err := w.frontier.Get(uri.FromCanonical(c.request))
					if err != nil {
						t.Fatal(err)
					}
					if !captured {
						if known != c.unknown {
							t.Errorf("the page causes a visit: %v, want %v", known, c.unknown)
						}
						return
					}
					if got := len(w.player.answers[c.request].Body) > 0; got != c.known {
						t.Errorf("the page reads the capture: %v, want %v", got, c.known)
					}
					if visited := !record.Due.After(w.now()); visited && !c.unknown {
						t.Error("the page causes another visit")
					}
				})
			})
		}
	}
}
