package wacz

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// authVersion is the version of the draft "WACZ Signing and Verification".
const authVersion = "0.1.0"

// signedData is the signature of a package: of the hash of its manifest, as the draft defines it. An anonymous
// signature has a public key. The signature of a domain has its certificates instead, and a time stamp of its text.
type signedData struct {
	Hash          string `json:"hash"`
	Created       string `json:"created"`
	Software      string `json:"software"`
	Version       string `json:"version"`
	Signature     string `json:"signature"`
	PublicKey     string `json:"publicKey,omitempty"`
	Domain        string `json:"domain,omitempty"`
	DomainCert    string `json:"domainCert,omitempty"`
	TimeSignature string `json:"timeSignature,omitempty"`
	TimestampCert string `json:"timestampCert,omitempty"`
}

// Stamp is a time stamp by RFC 3161.
type Stamp struct {
	Answer []byte // of the server
	Time   time.Time
	Chain  []*x509.Certificate // of the authority, its own first
}

// StampReader reads the answer of a time-stamp server, which may lack the certificates that the package has of the
// authority. It returns an error if that is no time stamp of a SHA-256.
type StampReader func(answer []byte, sum [sha256.Size]byte, chain []*x509.Certificate) (Stamp, error)

// Identity is a domain that signs packages.
type Identity struct {
	Chain []*x509.Certificate // of the domain, its own first
	Stamp func(sum [sha256.Size]byte) (Stamp, error)
}

// domain returns the name that a certificate is for, as other tools choose it.
func domain(c *x509.Certificate) string {
	if c.Subject.CommonName == "" && len(c.DNSNames) > 0 {
		return c.DNSNames[0]
	}
	return c.Subject.CommonName
}

// inPEM returns certificates as text, with empty lines between them, where replay tools split it.
func inPEM(chain []*x509.Certificate) string {
	var all []string
	for _, c := range chain {
		all = append(all, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})))
	}
	return strings.Join(all, "\n")
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
	if key := keyIn(text); key != nil && key.Curve == elliptic.P384() {
		return key, nil
	}
	return nil, wrong
}

// keyIn returns the first ECDSA key in a text; nil if there is none.
func keyIn(text []byte) *ecdsa.PrivateKey {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
			return key
		}
		if any, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			if key, ok := any.(*ecdsa.PrivateKey); ok {
				return key
			}
		}
	}
	return nil
}

// ReadIdentity reads the key of a domain, on any curve, and its certificate with the certificates of its issuers from
// one PEM file. The chain is empty if the file has no certificate.
func ReadIdentity(file string) (key *ecdsa.PrivateKey, chain []*x509.Certificate, err error) {
	text, err := warc.ReadFile(file, maxKey)
	if err != nil {
		return nil, nil, fmt.Errorf("read the signing key: %w", err)
	}
	if chain, err = certificates(text); err != nil || len(chain) == 0 {
		return nil, nil, err
	}
	key = keyIn(text)
	if key == nil || !key.PublicKey.Equal(chain[0].PublicKey) {
		return nil, nil, fmt.Errorf("read the signing key %s: its first certificate is not of an ECDSA key in it; "+
			"write the key, the certificate of the domain, and the certificates of its issuers into it, in this order", file)
	}
	return key, chain, nil
}

// certificates returns the certificates in a PEM text.
func certificates(text []byte) (chain []*x509.Certificate, err error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("read a certificate: %w", err)
		}
		chain = append(chain, c)
	}
	return chain, nil
}

// signAs signs as a domain, and returns the time of the time stamp too. The signature is in DER, as authsign writes it.
func signAs(
	id *Identity, key *ecdsa.PrivateKey, hash, software string, created time.Time,
) (s *signedData, stamped time.Time, err error) {
	sum := sha256.Sum256([]byte(hash))
	signature, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	if err != nil {
		return nil, stamped, fmt.Errorf("sign the package: %w", err)
	}
	s = &signedData{
		Hash: hash, Created: timestamp(created), Software: software, Version: authVersion,
		Signature: base64.StdEncoding.EncodeToString(signature), Domain: domain(id.Chain[0]), DomainCert: inPEM(id.Chain),
	}
	stamp, err := id.Stamp(sha256.Sum256([]byte(s.Signature)))
	if err != nil {
		return nil, stamped, fmt.Errorf("sign the package: %w", err)
	}
	s.TimeSignature, s.TimestampCert = base64.StdEncoding.EncodeToString(stamp.Answer), inPEM(stamp.Chain)
	return s, stamp.Time, nil
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

// check returns what is wrong with a signature of the manifest with a hash. It does not check whether the signer and
// the authority of the time stamp can be trusted.
func (s signedData) check(hash string, stamped StampReader) error {
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
	if s.PublicKey != "" || stamped == nil {
		return nil
	}
	return s.checkDomain(stamped)
}

// maxDelay is the maximum time between the date of a signature and its time stamp.
const maxDelay = 10 * time.Minute

// checkDomain checks the certificates and the time stamp of the signature of a domain.
func (s signedData) checkDomain(stamped StampReader) error {
	chain, err := certificates([]byte(s.DomainCert))
	if err != nil || len(chain) == 0 {
		return errors.Join(errors.New("it has no certificate of the domain"), err)
	}
	for i, c := range chain[:len(chain)-1] {
		if err := c.CheckSignatureFrom(chain[i+1]); err != nil {
			return fmt.Errorf("certificate %d of the domain is not issued by the next one: %w", i+1, err)
		}
	}
	if s.Domain == "" || s.Domain != domain(chain[0]) && chain[0].VerifyHostname(s.Domain) != nil {
		return fmt.Errorf("its certificate is for %s and not for %s", domain(chain[0]), s.Domain)
	}
	answer, err := base64.StdEncoding.DecodeString(s.TimeSignature)
	if err != nil {
		return errors.New("its time stamp is not in base64")
	}
	authority, err := certificates([]byte(s.TimestampCert))
	if err != nil {
		return fmt.Errorf("its time stamp: %w", err)
	}
	stamp, err := stamped(answer, sha256.Sum256([]byte(s.Signature)), authority)
	if err != nil {
		return fmt.Errorf("its time stamp is wrong: %w", err)
	}
	created, err := time.Parse(time.RFC3339, s.Created)
	switch delay := stamp.Time.Sub(created); {
	case err != nil || delay.Abs() > maxDelay:
		return fmt.Errorf("it was created at %s, and its time stamp is of %s", s.Created, timestamp(stamp.Time))
	case stamp.Time.Before(chain[0].NotBefore) || stamp.Time.After(chain[0].NotAfter):
		return fmt.Errorf("the certificate of the domain was not valid at %s", timestamp(stamp.Time))
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
