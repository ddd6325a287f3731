package wacz

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// packedAs packs files into a package named out.
func packedAs(t testing.TB, out string, paths []string, o Options) Summary {
	t.Helper()
	o.Out, o.Now, o.Software, o.Title = out, archivetest.Start, "arcrawl/test", "Test"
	sum, err := Write(context.Background(), paths, o, noFinding)
	archivetest.Must(t, err)
	return sum
}

func packed(t *testing.T, paths []string, o Options) (*zip.ReadCloser, Summary) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "x.wacz")
	sum := packedAs(t, out, paths, o)
	z, err := zip.OpenReader(out)
	archivetest.Must(t, err)
	t.Cleanup(func() {
		if err := z.Close(); err != nil {
			t.Error(err)
		}
	})
	return z, sum
}

func member(t *testing.T, z *zip.ReadCloser, name string) []byte {
	t.Helper()
	f, err := z.Open(name)
	archivetest.Must(t, err)
	b, err := io.ReadAll(f)
	archivetest.Must(t, err)
	return b
}

// TestAPackageAgreesWithItsManifest reads a package back by the specification.
func TestAPackageAgreesWithItsManifest(t *testing.T) {
	t.Parallel()
	l, names := archivetest.Three(t)
	z, sum := packed(t, l.Files()[1:], Options{From: Sources{Paths: []string{l.Dir}}})
	var d datapackage
	archivetest.Must(t, json.Unmarshal(member(t, z, "datapackage.json"), &d))
	if d.Profile != "data-package" || d.Version != "1.1.1" || d.Created != "2026-11-21T09:00:00Z" {
		t.Errorf("the descriptor is %+v", d)
	}
	listed := map[string]bool{"datapackage.json": true, "datapackage-digest.json": true}
	for _, r := range d.Resources {
		b := member(t, z, r.Path)
		if got := fmt.Sprintf("sha256:%x", sha256.Sum256(b)); got != r.Hash || int64(len(b)) != r.Bytes || filepath.Base(r.Path) != r.Name {
			t.Errorf("%+v: the file has %d bytes and the digest %s", r, len(b), got)
		}
		listed[r.Path] = true
	}
	for _, f := range z.File {
		if !listed[f.Name] {
			t.Errorf("%s is not listed", f.Name)
		}
		if strings.HasSuffix(f.Name, ".gz") != (f.Method == zip.Store) {
			t.Errorf("%s is packed with method %d", f.Name, f.Method)
		}
	}
	var digest map[string]string
	archivetest.Must(t, json.Unmarshal(member(t, z, "datapackage-digest.json"), &digest))
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(member(t, z, "datapackage.json"))); digest["hash"] != want || digest["path"] != "datapackage.json" {
		t.Errorf("digest %v, want %s", digest, want)
	}
	hash, size, err := warc.HashFile(l.Files()[0])
	archivetest.Must(t, err)
	want := Require{Filename: names[0], Hash: hash, Size: size, Revisits: 2}
	if d.Relation == nil || len(d.Relation.Requires) != 1 || d.Relation.Requires[0] != want {
		t.Errorf("the relation is %+v, want two revisits that need %s", d.Relation, names[0])
	}
	if sum.Files != 2 || sum.Captures != 6 || sum.Pages != 3 {
		t.Errorf("the summary is %+v", sum)
	}
	pages := strings.Split(strings.TrimSpace(string(member(t, z, "pages/pages.jsonl"))), "\n")
	const second = `"url":"http://b.example/two","ts":"2026-11-21T12:00:00.123Z","text":"two, in chunks"`
	if len(pages) != 4 || !strings.Contains(pages[0], `"format":"json-pages-1.0"`) || !strings.Contains(pages[2], second) {
		t.Errorf("the pages are %v", pages)
	}
}

// TestTheIndexOfAPackagePointsToItsRecords follows the second-level index to the first, and the first to the records.
func TestTheIndexOfAPackagePointsToItsRecords(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	var records []string
	for i := range 2*blockLines + 10 {
		records = append(records, archivetest.Response(fmt.Sprint(i), fmt.Sprintf("http://a.example/%d", i), archivetest.HTMLHead, fmt.Sprint(i)))
	}
	path := filepath.Join(dir, "many.warc.gz")
	archivetest.Must(t, os.WriteFile(path, archivetest.Zipped(t, records...), 0o644))
	z, _ := packed(t, []string{path}, Options{})
	cdx, warc := member(t, z, "indexes/index.cdx.gz"), member(t, z, "archive/many.warc.gz")
	seen := 0
	var unzip gzip.Reader
	second := strings.Split(strings.TrimSpace(string(member(t, z, "indexes/index.idx"))), "\n")
	if len(second) != 4 || !strings.HasPrefix(second[0], "!meta 0 ") {
		t.Fatalf("the second index has %d lines, want 4: %q", len(second), second[0])
	}
	for _, line := range second[1:] {
		key, object, _ := strings.Cut(line, " {")
		var block struct{ Offset, Length int64 }
		archivetest.Must(t, json.Unmarshal([]byte("{"+object), &block))
		r, err := gzip.NewReader(strings.NewReader(string(cdx[block.Offset : block.Offset+block.Length])))
		archivetest.Must(t, err)
		text, err := io.ReadAll(r)
		if err != nil || !strings.HasPrefix(string(text), key+" {") {
			t.Fatalf("block at %d begins with %.60q, %v, want %q", block.Offset, text, err, key)
		}
		for line := range strings.Lines(string(text)) {
			e, err := index.ParseEntry(line)
			archivetest.Must(t, err)
			archivetest.Must(t, unzip.Reset(bytes.NewReader(warc[e.Offset:e.Offset+e.Length])))
			record, err := io.ReadAll(&unzip)
			if err != nil || !strings.Contains(string(record), "WARC-Target-URI: "+e.URL+"\r\n") {
				t.Fatalf("%s at %d: %v", e.URL, e.Offset, err)
			}
			seen++
		}
	}
	if seen != len(records) {
		t.Errorf("%d entries, want %d", seen, len(records))
	}
}

// TestDatapackageAcceptsThePackage lets npm's datapackage validate the descriptor, and checks that it reports an
// invalid one.
func TestDatapackageAcceptsThePackage(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	l, _ := archivetest.Three(t)
	z, _ := packed(t, l.Files()[1:], Options{From: Sources{Paths: []string{l.Dir}}})
	text := member(t, z, "datapackage.json")
	if faults := foreign.DataPackage(t, archivetest.Save(t, "datapackage.json", text)); len(faults) > 0 {
		t.Errorf("datapackage reports %q for %s", faults, text)
	}
	if got := resourceName("archive/NLX Köln_1.warc.gz"); got != "nlx-k-ln_1.warc.gz" {
		t.Errorf("the name of a resource is %s", got)
	}
	bad := bytes.Replace(text, []byte(`"name": "index.cdx.gz"`), []byte(`"name": "Index CDX"`), 1)
	if faults := foreign.DataPackage(t, archivetest.Save(t, "datapackage.json", bad)); len(faults) == 0 {
		t.Error("datapackage accepts an invalid name")
	}
}

// noFinding fails on the first finding.
func noFinding(f warc.Finding) error { return &f }

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
	if _, found := Check(pack, nil); len(found) > 0 {
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
			if _, found := Check(changed, nil); len(found) != 1 || !strings.Contains(found[0].Text, "signature of the package is wrong") {
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

// certified returns the certificate of a domain with a key, signed by the key of an issuer.
func certified(
	t *testing.T, domain string, key *ecdsa.PrivateKey, issuer *x509.Certificate, by *ecdsa.PrivateKey,
) *x509.Certificate {
	t.Helper()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(domain))), Subject: pkix.Name{CommonName: domain}, DNSNames: []string{domain},
		NotBefore: archivetest.Start.Add(-time.Hour), NotAfter: archivetest.Start.Add(time.Hour),
		IsCA: issuer == nil, BasicConstraintsValid: true,
	}
	if issuer == nil {
		issuer = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, issuer, &key.PublicKey, by)
	archivetest.Must(t, err)
	c, err = x509.ParseCertificate(der)
	archivetest.Must(t, err)
	return c
}

// A domain signs a package, and an authority, which the test plays, stamps the signature.
func TestSignaturesOfDomainsAreChecked(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	archivetest.Must(t, err)
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	archivetest.Must(t, err)
	root := certified(t, "root", other, nil, other)
	id := Identity{Chain: []*x509.Certificate{certified(t, "archive.library.example", key, root, other), root}}
	now := archivetest.Start
	id.Stamp = func(sum [sha256.Size]byte) (Stamp, error) { return Stamp{sum[:], now, []*x509.Certificate{root}}, nil }
	stamped := func(answer []byte, sum [sha256.Size]byte, _ []*x509.Certificate) (Stamp, error) {
		if !bytes.Equal(answer, sum[:]) {
			return Stamp{}, errors.New("of another text")
		}
		return Stamp{Time: now}, nil
	}
	signed, _, err := signAs(&id, key, "sha256:0", "test", now)
	archivetest.Must(t, err)
	for want, edit := range map[string]func(s *signedData){
		"": func(*signedData) {},
		"is for archive.library.example and not for www.example": func(s *signedData) { s.Domain = "www.example" },
		"does not fit the manifest":                              func(s *signedData) { s.DomainCert = inPEM([]*x509.Certificate{root}) },
		"certificate 1 of the domain is not issued": func(s *signedData) {
			s.DomainCert = inPEM([]*x509.Certificate{id.Chain[0], certified(t, "root", key, nil, key)})
		},
		"its time stamp is wrong: of another text": func(s *signedData) { s.TimeSignature = "" },
		"not in base64":            func(s *signedData) { s.TimeSignature = "?" },
		"and its time stamp is of": func(s *signedData) { s.Created = timestamp(now.Add(-11 * time.Minute)) },
		"it has no certificate of the domain": func(s *signedData) {
			s.DomainCert = strings.ReplaceAll(s.DomainCert, "CERTIFICATE", "X")
		},
	} {
		s := *signed
		edit(&s)
		if err := s.check("sha256:0", stamped); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	now = now.Add(2 * time.Hour)
	late, _, err := signAs(&id, key, "sha256:0", "test", now)
	archivetest.Must(t, err)
	if err := late.check("sha256:0", stamped); err == nil || !strings.Contains(err.Error(), "was not valid at") {
		t.Errorf("a signature with an expired certificate: %v", err)
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
		if _, found := Check(path, nil); len(found) > 0 {
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
		all.onsuccess = () => done(all.result.filter(r => /(^|:)signature$/.test(r.id)).map(r => r.matched));
	};
})`

// line returns a line of a crawl log. The visit began at the beginning of a minute of the day of the archive, unless
// nothing was sent.
func line(logged, began, status, uri string) string {
	return "2026-11-21T" + logged + ":30.000Z " + status + " 5 " + uri + " - - text/html #001 " + began + " sha1:X " + uri + " -\n"
}

func TestPackagesHaveTheLogOfTheirPeriod(t *testing.T) {
	t.Parallel()
	l := archivetest.Small(t)
	first, last := archivetest.Start, l.Now.Add(-time.Hour) // of the captures
	at := func(d time.Time) string { return strings.Replace(d.Format("20060102150405.000"), ".", "", 1) + "+12" }
	page := "http://www.a.example/"
	before := line("00:00", "20261101000000000+1", "  200", page)
	in := line("23:59", at(first), "  200", page)
	other := line("23:59", at(last), "  200", "http://b.example/")
	failed := strings.Replace(line("00:00", "-", "   -2", "http://dead.example/"), "2026-11-21T00:00:30.000Z",
		first.Format("2006-01-02T15:04:05.000Z"), 1)
	after := line("23:59", "20270101000000000+1", "  200", page)
	log := archivetest.Save(t, "crawl.log", []byte("noise\n"+before+in+other+failed+after))
	zipped := archivetest.Save(t, "crawl.log.1.gz", archivetest.Zipped(t, in))
	empty := archivetest.Save(t, "crawl.log.2", []byte(before))

	z, _ := packed(t, l.Files(), Options{Logs: Logs{Files: []string{log, zipped, empty}}})
	if got := string(member(t, z, "logs/crawl.log")); got != in+other+failed {
		t.Errorf("the log of the captures is\n%swant\n%s", got, in+other+failed)
	}
	if got := string(member(t, z, "logs/crawl.log.1")); got != in {
		t.Errorf("the compressed log is\n%swant\n%s", got, in)
	}
	if f, err := z.Open("logs/crawl.log.2"); err == nil {
		_ = f.Close()
		t.Error("the package has a log without lines")
	}
	if d := string(member(t, z, "datapackage.json")); !strings.Contains(d, `"path": "logs/crawl.log"`) {
		t.Errorf("the manifest does not list the log:\n%s", d)
	}
	z, _ = packed(t, l.Files(), Options{Logs: Logs{
		Files: []string{log}, To: last.AddDate(1, 0, 0),
		Select: func(uri string, _ time.Time) bool { return uri == page },
	}})
	if got := string(member(t, z, "logs/crawl.log")); got != in+after {
		t.Errorf("the log of a page, also after the last capture, is\n%swant\n%s", got, in+after)
	}
}

// The log of a crawl with an embargoed host goes into a package without that host.
func TestTheLogOfAPackageHasOnlyItsHosts(t *testing.T) {
	t.Parallel()
	l := archivetest.Small(t)
	at := func(d time.Duration) string {
		return strings.Replace(archivetest.Start.Add(d).Format("20060102150405.000"), ".", "", 1) + "+12"
	}
	page := line("23:59", at(0), "  200", "http://www.a.example/")
	lookUp := line("23:59", at(time.Second), "    1", "dns:www.a.example")
	failed := line("23:59", at(time.Minute), "   -2", "http://www.a.example/gone")
	embargoed := line("23:59", at(time.Hour), "  200", "http://embargo.example/")
	moved := line("23:59", at(5*time.Hour+time.Minute), "  200", "http://www.a.example/secret") // after its last capture
	log := archivetest.Save(t, "crawl.log", []byte(page+lookUp+failed+embargoed+moved))
	z, _ := packed(t, l.Files(), Options{Logs: Logs{Files: []string{log}, ByHost: true}})
	if got, want := string(member(t, z, "logs/crawl.log")), page+lookUp+failed; got != want {
		t.Errorf("the log is\n%swant\n%s", got, want)
	}
}

func TestLogsOfOneNameAreRefused(t *testing.T) {
	t.Parallel()
	l := archivetest.Small(t)
	a, b := archivetest.Save(t, "crawl.log", []byte("x\n")), archivetest.Save(t, "crawl.log.gz", archivetest.Zipped(t, "x\n"))
	_, err := Write(t.Context(), l.Files(), Options{Out: t.TempDir() + "/x.wacz", Logs: Logs{Files: []string{a, b}}}, noFinding)
	if err == nil || !strings.Contains(err.Error(), "have the same name") {
		t.Errorf("two logs of one name: %v", err)
	}
}

// FuzzCheck checks arbitrary packages of partners. Nothing may panic, and a member is a WARC file.
func FuzzCheck(f *testing.F) {
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for name, text := range map[string]string{
		descriptorName:       `{"resources":[{"path":"archive/a.warc","hash":"sha256:00","bytes":3}]}`,
		"archive/a.warc":     "abc",
		descriptorDigestName: `{"hash":"x"}`,
	} {
		w, err := z.Create(name)
		archivetest.Must(f, err)
		if _, err = w.Write([]byte(text)); err != nil {
			f.Fatal(err)
		}
	}
	archivetest.Must(f, z.Close())
	f.Add(packed.Bytes())
	f.Add([]byte("PK\x05\x06" + string(make([]byte, 18))))
	path := filepath.Join(f.TempDir(), "f.wacz")
	f.Fuzz(func(t *testing.T, content []byte) {
		archivetest.Must(t, os.WriteFile(path, content, 0o600))
		if members, found := Check(path, nil); len(members) == 0 && len(found) == 0 {
			t.Errorf("a package of %d bytes without members has no fault", len(content))
		}
	})
}

// signedFor packs a small archive, signed for a domain with a time stamp of a time.
func signedFor(t *testing.T, stamped time.Time) (pack string, cert *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	archivetest.Must(t, err)
	cert = certified(t, "archive.library.example", key, nil, key)
	pack = filepath.Join(t.TempDir(), "x.wacz")
	packedAs(t, pack, archivetest.Small(t).Files(), Options{Key: key, Identity: &Identity{
		Chain: []*x509.Certificate{cert},
		Stamp: func([sha256.Size]byte) (Stamp, error) {
			return Stamp{[]byte("x"), stamped, []*x509.Certificate{cert}}, nil
		},
	}})
	return pack, cert
}

// py-wacz refuses a signature of another date than its package, authsign one after the time stamp or long before it.
func TestASignatureHasTheDateOfThePackage(t *testing.T) {
	t.Parallel()
	for stamped, want := range map[time.Duration]time.Duration{
		0: 0, 9 * time.Minute: 0, 11 * time.Minute: 11 * time.Minute, -2 * time.Second: -2 * time.Second,
	} {
		pack, _ := signedFor(t, archivetest.Start.Add(stamped))
		z, err := zip.OpenReader(pack)
		archivetest.Must(t, err)
		var d datapackage
		var proof descriptorDigest
		text := member(t, z, descriptorName)
		archivetest.Must(t, json.Unmarshal(text, &d))
		archivetest.Must(t, json.Unmarshal(member(t, z, descriptorDigestName), &proof))
		archivetest.Must(t, z.Close())
		if want := timestamp(archivetest.Start.Add(want)); d.Created != want || proof.SignedData.Created != want {
			t.Errorf("stamped after %v: the package is of %s and its signature of %s, want %s",
				stamped, d.Created, proof.SignedData.Created, want)
		}
		if sum := sha256.Sum256(text); proof.SignedData.Hash != fmt.Sprintf("sha256:%x", sum) {
			t.Errorf("stamped after %v: the signature is of %s", stamped, proof.SignedData.Hash)
		}
	}
}

// TestReplayEngineShowsTheDomain loads a package that a domain has signed. ReplayWeb.page shows the domain and its
// certificate. It cannot verify the signature, because it knows only the form of anonymous ones, and does not say so:
// it counts each signature as valid, and two files that it has not compared as invalid.
func TestReplayEngineShowsTheDomain(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	worker := foreign.ReplayWorker(t)
	pack, cert := signedFor(t, archivetest.Start)
	p := browser.Open(t, 200, 100)
	p.Go(serve(t, worker, "x.wacz", pack))
	if got := p.Eval(`load("/x.wacz")`); got != `"loaded"` {
		t.Fatalf("the loaded package is %s", got)
	}
	type shown struct {
		Domain, CertFingerprint, Created string
		NumValid, NumInvalid             int
	}
	var got shown
	archivetest.Must(t, json.Unmarshal([]byte(p.Eval(`fetch("/w/api/c/test?all=1").then(r => r.json()).then(c => c.verify)`)), &got))
	sum := sha256.Sum256(cert.Raw)
	if want := (shown{"archive.library.example", hex.EncodeToString(sum[:]), timestamp(archivetest.Start), 1, 2}); got != want {
		t.Errorf("the engine shows %+v, want %+v", got, want)
	}
	if got := p.Eval(signatures); got != "[false]" {
		t.Errorf("the engine now finds %s in the signature of a domain; docs/archive.md and decision 0021 say otherwise", got)
	}
}
