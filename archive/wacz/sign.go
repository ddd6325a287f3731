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
	"io"
	"math/big"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

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
	Domain     string `json:"domain,omitempty"`
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
	f, _, err := warc.OpenRegular(file)
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, maxKey))
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

// sign returns the signature of the hash of a manifest.
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

// key returns the public key of a signature.
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
