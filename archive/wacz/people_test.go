package wacz

import (
	"archive/zip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

func TestPagesHaveTitlesAndTexts(t *testing.T) {
	t.Parallel()
	l := archivetest.New(t)
	body := "<html><title>A  caf\xe9</title><script>no</script><p>Text of\nthe <b>caf\xe9</b></html>"
	origin := l.Page("http://a.example/", "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=windows-1252", body)
	l.Page("http://a.example/long", archivetest.HTMLHead, "<p>"+strings.Repeat("é", maxPageText))
	l.Page("http://a.example/packed", archivetest.HTMLHead+"\r\nContent-Encoding: br", archivetest.Coded(t, "br", "<title>Br</title>x"))
	l.Page("http://a.example/broken", archivetest.HTMLHead+"\r\nContent-Encoding: gzip", "no gzip")
	l.Page("http://a.example/picture", "HTTP/1.1 200 OK\r\nContent-Type: image/png", "png")
	l.Revisit("http://a.example/copy", archivetest.HTMLHead, origin)
	l.Revisit("http://a.example/copy", archivetest.HTMLHead, origin)
	l.Revisit("http://a.example/", archivetest.HTMLHead, origin)
	l.Seal()
	z, sum := packed(t, l.Files(), Options{})
	got := map[string]page{}
	lines := strings.Split(strings.TrimSpace(string(member(t, z, "pages/pages.jsonl"))), "\n")
	for _, line := range lines[1:] {
		var p page
		archivetest.Must(t, json.Unmarshal([]byte(line), &p))
		got[strings.TrimPrefix(p.URL, "http://a.example")] = p
	}
	if len(got) != 5 || sum.Pages != 5 || len(lines) != 6 {
		t.Fatalf("%d pages, want 5: %q", sum.Pages, lines)
	}
	for path, want := range map[string][2]string{
		"/": {"A café", "A café Text of the café"}, "/packed": {"Br", "Br x"}, "/broken": {}, "/copy": {},
		"/long": {"", strings.Repeat("é", maxPageText/2)},
	} {
		if p := got[path]; p.Title != want[0] || p.Text != want[1] {
			t.Errorf("%s has the title %q and the text %.50q, want %.50q", path, p.Title, p.Text, want)
		}
	}
	z, _ = packed(t, l.Files(), Options{NoText: true})
	if pages := string(member(t, z, "pages/pages.jsonl")); strings.Contains(pages, "caf") || strings.Contains(pages, "hasText") {
		t.Errorf("the pages without text are %s", pages)
	}
}

// newKey writes a new key in a PEM file.
func newKey(t *testing.T, curve elliptic.Curve, marshal func(*ecdsa.PrivateKey) ([]byte, error)) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	archivetest.Must(t, err)
	der, err := marshal(key)
	archivetest.Must(t, err)
	parameters := &pem.Block{Type: "EC PARAMETERS", Bytes: []byte{1}}
	text := append(pem.EncodeToMemory(parameters), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})...)
	return archivetest.Save(t, "key.pem", text)
}

func pkcs8(key *ecdsa.PrivateKey) ([]byte, error) { return x509.MarshalPKCS8PrivateKey(key) }

func TestSignaturesAreChecked(t *testing.T) {
	t.Parallel()
	l, _ := archivetest.Three(t)
	key, err := ReadKey(newKey(t, elliptic.P384(), x509.MarshalECPrivateKey))
	archivetest.Must(t, err)
	pack := filepath.Join(t.TempDir(), "x.wacz")
	packedAs(t, pack, l.Files(), Options{Key: key})
	if _, found := Check(pack); len(found) > 0 {
		t.Errorf("a signed package has the findings %v", found)
	}
	other, err := ReadKey(newKey(t, elliptic.P384(), pkcs8))
	archivetest.Must(t, err)
	for name, edit := range map[string]func(*descriptorDigest){
		"another signature": func(d *descriptorDigest) {
			first := map[bool]string{true: "B", false: "A"}[d.SignedData.Signature[0] == 'A']
			d.SignedData.Signature = first + d.SignedData.Signature[1:]
		},
		"another key": func(d *descriptorDigest) {
			s, err := sign(other, "sha256:0", "x", archivetest.Start)
			archivetest.Must(t, err)
			d.SignedData.PublicKey = s.PublicKey
		},
		"a signature of another hash": func(d *descriptorDigest) { d.SignedData.Hash = "sha256:0" },
		"no key":                      func(d *descriptorDigest) { d.SignedData.PublicKey = "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := filepath.Join(t.TempDir(), "changed.wacz")
			copyPackage(t, pack, changed, edit)
			if _, found := Check(changed); len(found) != 1 || !strings.Contains(found[0].Text, "signature of the package is wrong") {
				t.Errorf("found %v", found)
			}
		})
	}
	for name, file := range map[string]string{
		"another curve": newKey(t, elliptic.P256(), pkcs8), "no key": archivetest.Save(t, "key.pem", []byte("-----BEGIN")), "no file": "none.pem",
	} {
		if _, err := ReadKey(file); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// copyPackage copies a package with another digest of its manifest.
func copyPackage(t *testing.T, from, to string, edit func(*descriptorDigest)) {
	t.Helper()
	z, err := zip.OpenReader(from)
	archivetest.Must(t, err)
	defer z.Close() //nolint:errcheck // nothing was written
	out, err := os.Create(to)
	archivetest.Must(t, err)
	w := zip.NewWriter(out)
	for _, m := range z.File {
		text := member(t, z, m.Name)
		if m.Name == descriptorDigestName {
			var d descriptorDigest
			archivetest.Must(t, json.Unmarshal(text, &d))
			edit(&d)
			text, err = json.Marshal(d)
			archivetest.Must(t, err)
		}
		part, err := w.CreateHeader(&zip.FileHeader{Name: m.Name, Method: m.Method})
		archivetest.Must(t, err)
		_, err = part.Write(text)
		archivetest.Must(t, err)
	}
	archivetest.Must(t, errors.Join(w.Close(), out.Close()))
}

// inParts packs an archive of versions into signed packages, and returns the folder and the parts.
func inParts(t *testing.T, l *archivetest.Archive) (dir string, sum Summary) {
	t.Helper()
	key, err := ReadKey(newKey(t, elliptic.P384(), pkcs8))
	archivetest.Must(t, err)
	dir = t.TempDir()
	sum = packedAs(t, filepath.Join(dir, "x.wacz"), l.Files(), Options{MaxSize: 90_000, Key: key})
	return dir, sum
}

func TestPartsRequireEachOther(t *testing.T) {
	t.Parallel()
	l := archivetest.Versioned(t)
	dir, sum := inParts(t, l)
	if len(sum.Parts) != 3 || sum.Files != len(l.Files()) || sum.Errors > 0 || len(sum.Requires) > 0 {
		t.Fatalf("the summary is %+v, want 3 parts", sum)
	}
	list, err := readList(filepath.Join(dir, "x.json"))
	archivetest.Must(t, err)
	if list.Profile != listProfile || list.Title != "Test" || len(list.Resources) != 3 {
		t.Errorf("the list is %+v", list)
	}
	for n, r := range list.Resources {
		path := filepath.Join(dir, r.Path)
		hash, size, err := warc.HashFile(path)
		if err != nil || r.Hash != hash || r.Bytes != size || r.Name != fmt.Sprintf("x-%03d.wacz", n+1) {
			t.Errorf("part %d is %+v, %v; the file has %s", n, r, err, hash)
		}
		if _, found := Check(path); len(found) > 0 {
			t.Errorf("part %d has the findings %v", n, found)
		}
		z, err := zip.OpenReader(path)
		archivetest.Must(t, err)
		var d datapackage
		archivetest.Must(t, json.Unmarshal(member(t, z, "datapackage.json"), &d))
		archivetest.Must(t, z.Close())
		if want := fmt.Sprintf("Test (part %d of 3)", n+1); d.Title != want {
			t.Errorf("the title is %s, want %s", d.Title, want)
		}
		if n > 0 && (d.Relation == nil || d.Relation.Requires[0].Hash != list.Resources[n-1].Hash) {
			t.Errorf("part %d requires %+v, want the part before", n, d.Relation)
		}
	}
	o := Options{Out: filepath.Join(dir, "x.wacz"), Now: archivetest.Start, MaxSize: 60_000}
	if _, err := Write(t.Context(), l.Files(), o, noFinding); !errors.Is(err, fs.ErrExist) {
		t.Errorf("packing again returns %v", err)
	}
}

// TestReplayEngineShowsTheParts loads a list of signed packages in the engine of ReplayWeb.page: every capture has its
// version, also if its original is in another part. The engine accepts the signatures, and has titles and texts to
// search in.
func TestReplayEngineShowsTheParts(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	worker := foreign.ReplayWorker(t)
	l := archivetest.Versioned(t)
	all := everyCapture(t, l)
	dir, _ := inParts(t, l)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch name := filepath.Base(r.URL.Path); {
		case r.URL.Path == "/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, player)
		case name == "sw.js":
			http.ServeFile(w, r, worker)
		default:
			http.ServeFile(w, r, filepath.Join(dir, name))
		}
	}))
	t.Cleanup(site.Close)
	p := browser.Open(t, 200, 100)
	p.Go(site.URL)
	if got := p.Eval(`load("/x.json")`); got != `"loaded"` {
		t.Fatalf("the loaded list is %s", got)
	}
	text, err := json.Marshal(all)
	archivetest.Must(t, err)
	var wrong []string
	archivetest.Must(t, json.Unmarshal([]byte(p.Eval(fmt.Sprintf(replayed, text))), &wrong))
	for i, w := range wrong {
		t.Errorf("capture %d of %d that differ, of %d: %s", i+1, len(wrong), len(all), w)
	}
	var pages []struct{ Title string }
	listed := p.Eval(`fetch("/w/api/c/test?all=1").then(r => r.json()).then(c => c.pages)`)
	archivetest.Must(t, json.Unmarshal([]byte(listed), &pages))
	if len(pages) < 7*archivetest.Versions || pages[0].Title == "" {
		t.Errorf("the engine has %d pages: %.300s", len(pages), listed)
	}
	if got := p.Eval(signatures); got != "[true,true,true]" {
		t.Errorf("the engine accepts the signatures of the parts as %s", got)
	}
	if found := p.Eval(`fetch("/w/api/c/test/textIndex").then(r => r.text())`); !strings.Contains(found, "page-br 4") {
		t.Errorf("the text index is %.300s", found)
	}
}

// signatures is a script that returns for each package whether the engine has accepted its signature. The engine's API
// does not tell it: it counts each signature as valid.
const signatures = `new Promise((done, failed) => {
	const open = indexedDB.open("db:test");
	open.onerror = failed;
	open.onsuccess = () => {
		const all = open.result.transaction("verification").objectStore("verification").getAll();
		all.onsuccess = () => done(all.result.filter(r => r.id.endsWith(":signature")).map(r => r.matched));
	};
})`
