package wacz

import (
	"archive/zip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// Check compares a package with its manifest. It returns the WARC files of the package, and findings without file and
// offset.
func Check(file string) (members []warc.File, found []warc.Finding) {
	fault := func(s warc.Severity, k warc.Kind, format string, args ...any) {
		found = append(found, warc.Finding{Severity: s, Kind: k, Text: fmt.Sprintf(format, args...)})
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		fault(warc.Error, warc.Manifest, "this is no WACZ package: %s", warc.Cause(err))
		return nil, found
	}
	defer z.Close() //nolint:errcheck // nothing was written
	sums, sizes, texts := map[string]string{}, map[string]int64{}, map[string][]byte{}
	var names []string
	for _, m := range z.File {
		if strings.HasSuffix(m.Name, "/") {
			continue
		}
		text, sum, size, err := readMember(m)
		if err != nil {
			fault(warc.Error, warc.Manifest, "%s cannot be read: %v", m.Name, err)
			continue
		}
		names, sums[m.Name], sizes[m.Name], texts[m.Name] = append(names, m.Name), sum, size, text
		if path.Dir(m.Name) == "archive" && warc.IsArchive(m.Name) {
			members = append(members, warc.PackedFile(file, m))
		}
	}
	listed := []string{descriptorName, descriptorDigestName}
	var d datapackage
	if err := json.Unmarshal(texts[descriptorName], &d); err != nil {
		fault(warc.Error, warc.Manifest, "its %s cannot be read: %v", descriptorName, err)
		return members, found
	}
	for _, r := range d.Resources {
		listed = append(listed, r.Path)
		switch sum, there := sums[r.Path]; {
		case !there:
			fault(warc.Error, warc.Manifest, "%s is in the manifest and is not in the package", r.Path)
		case r.Hash != sum:
			fault(warc.Error, warc.Manifest, "%s has the hash %s, the manifest says %s", r.Path, sum, r.Hash)
		case r.Bytes != sizes[r.Path]:
			fault(warc.Error, warc.Manifest, "%s has %d bytes, the manifest says %d", r.Path, sizes[r.Path], r.Bytes)
		}
	}
	for _, name := range names {
		if !slices.Contains(listed, name) {
			fault(warc.Warning, warc.Manifest, "%s is in the package and not in the manifest", name)
		}
	}
	checkDigest(texts[descriptorDigestName], sums[descriptorName], fault)
	return members, found
}

// checkDigest compares the manifest with the file of its digest, and checks the signature there.
func checkDigest(text []byte, sum string, fault func(warc.Severity, warc.Kind, string, ...any)) {
	var digest descriptorDigest
	switch err := json.Unmarshal(text, &digest); {
	case text == nil:
		fault(warc.Warning, warc.Manifest, "%s is missing, so nothing proves the manifest", descriptorDigestName)
	case err != nil || digest.Hash != sum:
		fault(warc.Error, warc.Manifest, "%s says that the manifest has the hash %s, it has %s",
			descriptorDigestName, digest.Hash, sum)
	case digest.SignedData != nil:
		err := digest.SignedData.check(digest.Hash)
		switch {
		case errors.Is(err, errUnknownKey):
			fault(warc.Warning, warc.Manifest, "the signature of the package cannot be checked: %v", err)
		case err != nil:
			fault(warc.Error, warc.Manifest, "the signature of the package is wrong: %v", err)
		}
	}
}

// maxDescriptor is the maximum size of a manifest, in bytes.
const maxDescriptor = 64 << 20

// readMember returns the hash and size of a file of a package, and the text of the manifest and its digest.
func readMember(m *zip.File) (text []byte, sum string, size int64, err error) {
	r, err := m.Open()
	if err != nil {
		return nil, "", 0, err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	h := sha256.New()
	in := io.TeeReader(r, h)
	if m.Name == descriptorName || m.Name == descriptorDigestName {
		if text, err = io.ReadAll(io.LimitReader(in, maxDescriptor)); err != nil {
			return nil, "", 0, err
		}
	}
	n, err := io.Copy(h, r)
	return text, "sha256:" + hex.EncodeToString(h.Sum(nil)), n + int64(len(text)), err
}

// authVersion is the version of the draft "WACZ Signing and Verification".
const authVersion = "0.1.0"

// signedData is the signature of a package: of the hash of its manifest, as the draft defines it. A signature with a
// domain has a certificate instead of a public key; only other tools write it.
type signedData struct {
	Hash       string `json:"hash"`
	Created    string `json:"created"`
	Software   string `json:"software"`
	Version    string `json:"version"`
	Signature  string `json:"signature"`
	PublicKey  string `json:"publicKey,omitempty"`
	DomainCert string `json:"domainCert,omitempty"`
}

// descriptorDigest is the file with the digest of the manifest.
type descriptorDigest struct {
	Path       string      `json:"path"`
	Hash       string      `json:"hash"`
	SignedData *signedData `json:"signedData,omitempty"`
}

// maxKey is the maximum size of a key file, in bytes.
const maxKey = 64 << 10

// ReadKey reads the private key with which packages are signed: a PEM file with an ECDSA key on the curve P-384, as
// `openssl ecparam -name secp384r1 -genkey -noout` makes it. Replay tools accept no other curve.
func ReadKey(file string) (*ecdsa.PrivateKey, error) {
	text, err := warc.ReadFile(file, maxKey)
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	wrong := fmt.Errorf("read the signing key %s: want an ECDSA key on the curve P-384 in PEM; "+
		"make one with: openssl ecparam -name secp384r1 -genkey -noout -out %[1]s", file)
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		key, err := x509.ParseECPrivateKey(block.Bytes)
		if err != nil {
			any, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				continue
			}
			key, _ = any.(*ecdsa.PrivateKey)
		}
		if key != nil && key.Curve == elliptic.P384() {
			return key, nil
		}
	}
	return nil, wrong
}

func sign(key *ecdsa.PrivateKey, hash, software string, now time.Time) (*signedData, error) {
	sum := sha256.Sum256([]byte(hash))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return nil, fmt.Errorf("sign the package: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("sign the package: %w", err)
	}
	half := (key.Curve.Params().BitSize + 7) / 8
	raw := make([]byte, 2*half)
	r.FillBytes(raw[:half])
	s.FillBytes(raw[half:])
	return &signedData{
		Hash: hash, Created: timestamp(now), Software: software, Version: authVersion,
		Signature: base64.StdEncoding.EncodeToString(raw), PublicKey: base64.StdEncoding.EncodeToString(public),
	}, nil
}

// check returns what is wrong with a signature of the manifest with a hash. It does not check whether the signer can be
// trusted.
func (s signedData) check(hash string) error {
	if s.Hash != hash {
		return fmt.Errorf("it is of the hash %s", s.Hash)
	}
	signature, err := base64.StdEncoding.DecodeString(s.Signature)
	if err != nil {
		return errors.New("it is not in base64")
	}
	key, err := s.key()
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(hash))
	var pair struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(signature, &pair); err != nil || len(rest) > 0 { // the form of WebCrypto
		half := len(signature) / 2
		pair.R, pair.S = new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:])
	}
	if !ecdsa.Verify(key, sum[:], pair.R, pair.S) {
		return errors.New("it does not fit the manifest and the public key")
	}
	return nil
}

// errUnknownKey says that a signature has another kind of key than ECDSA.
var errUnknownKey = errors.New("its key is not one of ECDSA but")

func (s signedData) key() (*ecdsa.PublicKey, error) {
	var public any
	der, err := base64.StdEncoding.DecodeString(s.PublicKey)
	if block, _ := pem.Decode([]byte(s.DomainCert)); s.PublicKey == "" && block != nil {
		var c *x509.Certificate
		if c, err = x509.ParseCertificate(block.Bytes); err == nil {
			public = c.PublicKey
		}
	} else if err == nil {
		public, err = x509.ParsePKIXPublicKey(der)
	}
	if key, ok := public.(*ecdsa.PublicKey); ok && err == nil {
		return key, nil
	}
	if public != nil && err == nil {
		return nil, fmt.Errorf("%w %T", errUnknownKey, public)
	}
	return nil, errors.New("its public key cannot be read")
}
