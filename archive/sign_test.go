package archive

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/foreign"
)

// authority is a certificate authority with a time-stamp server and a certificate for an institution, by openssl.
type authority struct {
	dir    string
	server *httptest.Server
}

// openssl runs openssl in the folder of the authority.
func (a *authority) openssl(t *testing.T, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("openssl", args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = a.dir, strings.NewReader(input), &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("openssl %s: %v\n%s%s", strings.Join(args, " "), err, &out, &errs)
	}
	return out.String()
}

// newAuthority makes an authority with keys of a kind.
func newAuthority(t *testing.T, keys string) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	archivetest.Must(t, os.WriteFile(filepath.Join(a.dir, "tsa.cnf"), []byte(`
[tsa]
default_tsa = own
[own]
serial = serial
signer_cert = tsa.pem
certs = root.pem
signer_key = tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
[stamps]
extendedKeyUsage = critical,timeStamping
keyUsage = critical,digitalSignature
`), 0o600))
	for _, args := range []string{
		"req -x509 " + keys + " -nodes -keyout root.key -out root.pem -days 3650 -subj /CN=Test-Root",
		"req " + keys + " -nodes -keyout tsa.key -out tsa.csr -subj /CN=Test-TSA",
		"x509 -req -in tsa.csr -CA root.pem -CAkey root.key -CAcreateserial -out tsa.pem -days 3650 -extfile tsa.cnf -extensions stamps",
		"ecparam -name secp384r1 -genkey -noout -out library.pem",
		"ec -in library.pem -pubout -out library.pub",
		"ecparam -name secp384r1 -genkey -noout -out other.pem",
		"ec -in other.pem -pubout -out other.pub",
	} {
		a.openssl(t, "", strings.Fields(args)...)
	}
	a.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, _ := io.ReadAll(r.Body)
		if r.Header.Get("Content-Type") != fixity.StampQuery {
			t.Errorf("the server receives %s", r.Header.Get("Content-Type"))
		}
		file := filepath.Join(a.dir, fmt.Sprintf("%x.tsq", sha256.Sum256(query)))
		archivetest.Must(t, os.WriteFile(file, query, 0o600))
		a.openssl(t, "", "ts", "-reply", "-config", "tsa.cnf", "-section", "own", "-queryfile", file, "-out", file+".reply")
		w.Header().Set("Content-Type", fixity.StampReply)
		http.ServeFile(w, r, file+".reply")
	}))
	t.Cleanup(a.server.Close)
	return a
}

const (
	rsa   = "-newkey rsa:2048"
	curve = "-newkey ec -pkeyopt ec_paramgen_curve:P-256"
)

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

// signedHeads returns the lines of the list of signed heads.
func signedHeads(t *testing.T, dir string) (all []fixity.SignedHead) {
	t.Helper()
	for line := range strings.Lines(archivetest.Read(t, filepath.Join(dir, fixity.SignedName))) {
		var s fixity.SignedHead
		archivetest.Must(t, json.Unmarshal([]byte(line), &s))
		all = append(all, s)
	}
	return all
}

// signing returns what signs an archive, by a clock that the test moves.
func (a *audited) signing(by *authority, now *time.Time, o config.Fixity) *signer {
	if o.SignKey != "" {
		o.SignKey = by.path(o.SignKey)
	}
	return newSigner(a.dir, "1.0", func() config.Fixity { return o }, func() time.Time { return *now }, zerolog.Nop())
}

// The daemon signs once a day, if files were added. openssl, which is not ours, confirms signature and time stamp.
func TestTheManifestIsSignedAndStamped(t *testing.T) {
	t.Parallel()
	a, by, now := newAudited(t, "page"), newAuthority(t, rsa), archivetest.Start.Add(24*time.Hour)
	s := a.signing(by, &now, config.Fixity{SignKey: "library.pem", Timestamp: by.server.URL})
	for range 3 { // nothing is added in the meantime
		archivetest.Must(t, s.step(t.Context()))
		now = now.Add(25 * time.Hour)
	}
	if n := len(signedHeads(t, a.dir)); n != 1 {
		t.Fatalf("the manifest was signed %d times, want 1", n)
	}
	// A crash leaves the list as it was or as it is after: the file is replaced, its bytes never change.
	list, before := filepath.Join(a.dir, fixity.SignedName), by.path("before")
	first := archivetest.Read(t, list)
	archivetest.Must(t, os.Link(list, before))
	m, err := fixity.Open(a.dir, now)
	archivetest.Must(t, err)
	archivetest.Must(t, errors.Join(m.Add(filepath.Base(a.files[0]), m.Entries[0], now), m.Close())) // once more
	for range 2 {
		archivetest.Must(t, s.step(t.Context()))
	}
	signed := signedHeads(t, a.dir)
	if len(signed) != 2 || signed[1].Head != headOf(t, a.dir) || signed[1].Lines != 7 {
		t.Fatalf("the list has %+v", signed)
	}
	if archivetest.Read(t, before) != first || !strings.HasPrefix(archivetest.Read(t, list), first) {
		t.Error("the list of signed heads was changed in place")
	}
	archivetest.Must(t, errors.Join(os.WriteFile(by.path("head.sig"), signed[1].Signature, 0o600),
		os.WriteFile(by.path("head.tsr"), signed[1].Stamp, 0o600)))
	last := strings.TrimSuffix(a.lines(t)[6], "\n")
	by.openssl(t, last, "dgst", "-sha256", "-verify", "library.pub", "-signature", "head.sig")
	by.openssl(t, "", "ts", "-verify", "-digest", signed[1].Head, "-in", "head.tsr", "-CAfile", "root.pem")

	for key, c := range map[string]line{
		"library.pub": {nil, cli.ExitOK, []string{"0 errors, 0 warnings", signed[0].Head + ", signed at 20", "by 1 later line"}},
		"other.pub":   {nil, cli.ExitDamaged, []string{"no head of a manifest here is signed with the key in"}},
		"library.pem": {nil, cli.ExitUsage, []string{"want an ECDSA public key"}},
		"none.pub":    {nil, cli.ExitUsage, []string{"no file with a public key"}},
	} {
		c.args = []string{"verify", "--manifest-head", by.path(key), a.dir}
		c.run(t)
	}
	a.forge(t, 1)
	a.rechain(t)
	line{[]string{"verify", a.dir}, cli.ExitDamaged, []string{"heads.jsonl: error: line 1 is of " + signed[0].Head}}.run(t)
}

// Whoever forges must also forge the list of signed heads.
func TestForgedSignaturesAndStampsAreFound(t *testing.T) {
	t.Parallel()
	a, by, now := newAudited(t, "page"), newAuthority(t, curve), archivetest.Start
	o := config.Fixity{SignKey: "library.pem", Timestamp: by.server.URL}
	archivetest.Must(t, a.signing(by, &now, o).step(t.Context()))
	was := signedHeads(t, a.dir)[0]
	changed := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 1
		return b
	}
	for name, c := range map[string]struct {
		forge func(s *fixity.SignedHead)
		want  string
	}{
		"the signature":           {func(s *fixity.SignedHead) { s.Signature = changed(s.Signature, 40) }, "does not fit"},
		"the key":                 {func(s *fixity.SignedHead) { s.Key = s.Key[:20] }, "does not fit"},
		"another head":            {func(s *fixity.SignedHead) { s.Head = a.noted }, "does not fit"},
		"another head, no signer": {func(s *fixity.SignedHead) { s.Head, s.Signature = a.noted, nil }, "is of another text"},
		"the stamp": {
			func(s *fixity.SignedHead) { s.Stamp = changed(s.Stamp, len(s.Stamp)-9) },
			"was not signed by a certificate",
		},
		"half a stamp": {func(s *fixity.SignedHead) { s.Stamp = s.Stamp[:len(s.Stamp)/2] }, "not a time stamp"},
		"nothing":      {func(s *fixity.SignedHead) { s.Signature, s.Stamp = nil, nil }, "cannot be read"},
	} {
		s := was
		c.forge(&s)
		text, err := json.Marshal(s)
		archivetest.Must(t, errors.Join(err, os.WriteFile(filepath.Join(a.dir, fixity.SignedName), text, 0o600)))
		if out, _ := (line{[]string{"verify", a.dir}, cli.ExitDamaged, []string{c.want}}).run(t); t.Failed() {
			t.Fatalf("%s:\n%s", name, out)
		}
	}
}

// What a server stamps wrongly, or refuses, is not kept, and tried again.
func TestAWrongTimeStampIsNotKept(t *testing.T) {
	t.Parallel()
	a, other, by, now := newAudited(t, "page"), newAudited(t, "other"), newAuthority(t, curve), archivetest.Start
	archivetest.Must(t, other.signing(by, &now, config.Fixity{Timestamp: by.server.URL}).step(t.Context()))
	stamp := signedHeads(t, other.dir)[0].Stamp
	refusal := "\x30\x0b\x30\x09\x02\x01\x02\x30\x04\x0c\x02no" // PKIStatusInfo: rejection, "no"
	for want, answer := range map[string]func(w http.ResponseWriter){
		"the time stamp is of another text": func(w http.ResponseWriter) { _, _ = w.Write(stamp) },
		"status 503: busy":                  func(w http.ResponseWriter) { http.Error(w, "busy", http.StatusServiceUnavailable) },
		"the server refuses: no (status 2)": func(w http.ResponseWriter) { _, _ = io.WriteString(w, refusal) },
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
		err := a.signing(by, &now, config.Fixity{Timestamp: server.URL}).step(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		server.Close()
	}
	for key, want := range map[string]string{"none.pem": "fixity.sign_key: ", "library.pub": "want an ECDSA key"} {
		err := a.signing(by, &now, config.Fixity{SignKey: key}).step(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(a.dir, fixity.SignedName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a wrong time stamp is in the list: %v", err)
	}
}

// The time stamp in this package of py-wacz has no certificate: the package has them apart.
func TestSignaturesOfAuthsignAreVerified(t *testing.T) {
	t.Parallel()
	pack := filepath.Join("testdata", "samples", "py-wacz-signed.wacz")
	line{[]string{"verify", pack}, cli.ExitOK, []string{"0 errors, 1 warning"}}.run(t)
}

// A package that is signed for a domain, as "WACZ Signing and Verification" 0.1.0 says. openssl confirms the signature,
// the chain of certificates and the time stamp.
func TestADomainSignsPackages(t *testing.T) {
	t.Parallel()
	by, lib := newAuthority(t, curve), archivetest.Small(t)
	for _, args := range []string{
		"ecparam -name prime256v1 -genkey -noout -out domain.key",
		"req -new -key domain.key -out domain.csr -subj /CN=archive.library.example",
		"x509 -req -in domain.csr -CA root.pem -CAkey root.key -CAcreateserial -out domain.pem -days 3650",
	} {
		by.openssl(t, "", strings.Fields(args)...)
	}
	key, cert, root := archivetest.Read(t, by.path("domain.key")), archivetest.Read(t, by.path("domain.pem")), archivetest.Read(t, by.path("root.pem"))
	for name, text := range map[string]string{"domain.all": key + cert + root, "swapped.all": key + root + cert} {
		archivetest.Must(t, os.WriteFile(by.path(name), []byte(text), 0o600))
	}
	stamped, _ := daemontest.Configure(t, daemontest.Settled+"[fixity]\ntimestamp = \""+by.server.URL+"\"\n")
	unstamped, _ := daemontest.Configure(t, daemontest.Settled)
	out := filepath.Join(t.TempDir(), "signed.wacz")
	pack := func(conf, key string) []string {
		return []string{"wacz", "-c", conf, "-o", out, "--sign-key", by.path(key), lib.Dir}
	}
	line{pack(unstamped, "domain.all"), cli.ExitUsage, []string{"set fixity.timestamp"}}.run(t)
	line{pack(stamped, "swapped.all"), cli.ExitUsage, []string{"its first certificate is not of an ECDSA key in it"}}.run(t)
	line{pack(stamped, "domain.all"), cli.ExitOK, nil}.run(t)
	line{[]string{"verify", out}, cli.ExitOK, []string{"0 errors, 0 warnings"}}.run(t)

	z, err := zip.OpenReader(out)
	archivetest.Must(t, err)
	defer z.Close() //nolint:errcheck // nothing was written
	text, err := fs.ReadFile(z, "datapackage-digest.json")
	archivetest.Must(t, err)
	var digest struct {
		Hash       string
		SignedData struct {
			Hash, Signature, Domain, DomainCert, TimeSignature, TimestampCert, PublicKey string
			Created                                                                      time.Time
		}
	}
	archivetest.Must(t, json.Unmarshal(text, &digest))
	s := digest.SignedData
	if s.Domain != "archive.library.example" || s.Hash != digest.Hash || s.PublicKey != "" || time.Since(s.Created).Abs() > time.Hour ||
		s.DomainCert != cert+"\n"+root || !strings.HasSuffix(s.TimestampCert, root) {
		t.Errorf("the package has %+v", s)
	}
	for name, text := range map[string]string{"sig": s.Signature, "tsr": s.TimeSignature} {
		b, err := base64.StdEncoding.DecodeString(text)
		archivetest.Must(t, errors.Join(err, os.WriteFile(by.path(name), b, 0o600)))
	}
	archivetest.Must(t, errors.Join(os.WriteFile(by.path("chain.pem"), []byte(s.DomainCert), 0o600), os.WriteFile(by.path("text"), []byte(s.Signature), 0o600)))
	by.openssl(t, "", "verify", "-CAfile", "root.pem", "chain.pem")
	archivetest.Must(t, os.WriteFile(by.path("domain.pub"), []byte(by.openssl(t, "", "x509", "-in", "chain.pem", "-pubkey", "-noout")), 0o600))
	by.openssl(t, s.Hash, "dgst", "-sha256", "-verify", "domain.pub", "-signature", "sig")
	by.openssl(t, "", "ts", "-verify", "-data", "text", "-in", "tsr", "-CAfile", "root.pem")

	t.Run("authsign", func(t *testing.T) {
		t.Parallel()
		_, sum, _ := strings.Cut(by.openssl(t, "", "x509", "-in", "root.pem", "-noout", "-fingerprint", "-sha256"), "=")
		sum = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(sum), ":", ""))
		roots := fmt.Sprintf("domain_cert_roots: [%q]\ntimestamp_cert_roots: [%q]\n", sum, sum)
		archivetest.Must(t, os.WriteFile(by.path("roots.yaml"), []byte(roots), 0o600))
		said, errs, err := foreign.Program(t, "wacz-auth", by.path("roots.yaml"), "validate", "--verify-auth", "-f", out)
		if err != nil || !strings.Contains(said, "Successfully verified signature") {
			t.Errorf("py-wacz with authsign says %s%s: %v", said, errs, err)
		}
	})
}
