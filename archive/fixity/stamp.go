package fixity

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha512" // signatures of time-stamp authorities
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

// Types of the requests and answers of time-stamp servers over HTTP: RFC 3161, section 3.4.
const (
	StampQuery = "application/timestamp-query"
	StampReply = "application/timestamp-reply"
)

// Stamp says that an authority has seen a digest at a time.
type Stamp struct {
	Time         time.Time
	Certificates []*x509.Certificate // of the authority, its own first, and each of the issuer of the one before it
}

// imprint is the digest of what is stamped.
type imprint struct {
	Algorithm pkix.AlgorithmIdentifier
	Sum       []byte
}

// The identifiers of the digests, of the content of a time stamp, and of the attribute with its digest.
var (
	oidSHA256 = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidSHA384 = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}
	oidSHA512 = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}
	oidStamp  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	oidDigest = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	errStamp  = errors.New("not a time stamp by RFC 3161")
)

// StampRequest returns the request for a time stamp of a SHA-256, with the certificates of the authority.
func StampRequest(sum [sha256.Size]byte) ([]byte, error) {
	return asn1.Marshal(struct {
		Version  int
		Imprint  imprint
		WithCert bool
	}{1, imprint{pkix.AlgorithmIdentifier{Algorithm: oidSHA256, Parameters: asn1.NullRawValue}, sum[:]}, true})
}

// The parts of an answer that are read: RFC 3161, section 2.4.2, and RFC 5652, section 5. Elements behind the last
// field of a sequence are ignored.
type (
	stampAnswer struct {
		Status struct {
			Status int
			Text   []string       `asn1:"optional"`
			Reason asn1.BitString `asn1:"optional"`
		}
		Token asn1.RawValue `asn1:"optional"`
	}
	content struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue `asn1:"explicit,optional,tag:0"`
	}
	signedContent struct {
		Version      int
		Digests      []pkix.AlgorithmIdentifier `asn1:"set"`
		Content      content
		Certificates asn1.RawValue `asn1:"optional,tag:0"`
		Revoked      asn1.RawValue `asn1:"optional,tag:1"`
		Signers      []stampSigner `asn1:"set"`
	}
	stampSigner struct {
		Version    int
		ID         asn1.RawValue
		Digest     pkix.AlgorithmIdentifier
		Attributes asn1.RawValue `asn1:"optional,tag:0"`
		Algorithm  pkix.AlgorithmIdentifier
		Signature  []byte
	}
	attribute struct {
		Type   asn1.ObjectIdentifier
		Values []asn1.RawValue `asn1:"set"`
	}
	stampInfo struct {
		Version int
		Policy  asn1.ObjectIdentifier
		Imprint imprint
		Serial  *big.Int
		Time    time.Time `asn1:"generalized"`
	}
)

// ReadStamp reads the answer of a time-stamp server. It checks that the stamp is of a SHA-256, and was signed with a
// certificate that is for time stamps: one in it, or one of others that were kept with it. Whether the authority can be
// trusted is for the reader to say.
func ReadStamp(answer []byte, sum [sha256.Size]byte, others ...*x509.Certificate) (s Stamp, err error) {
	var a stampAnswer
	if _, err := asn1.Unmarshal(answer, &a); err != nil {
		return s, fmt.Errorf("%w: %w", errStamp, err)
	}
	if a.Status.Status > 1 { // granted, granted with changes
		return s, fmt.Errorf("the server refuses: %s (status %d)", strings.Join(a.Status.Text, "; "), a.Status.Status)
	}
	var token content
	var signed signedContent
	var text []byte
	var info stampInfo
	for _, step := range []struct {
		from *[]byte
		to   any
	}{
		{&a.Token.FullBytes, &token},
		{&token.Content.Bytes, &signed},
		{&signed.Content.Content.Bytes, &text},
		{&text, &info},
	} {
		if _, err := asn1.Unmarshal(*step.from, step.to); err != nil {
			return s, fmt.Errorf("%w: %w", errStamp, err)
		}
	}
	switch {
	case !signed.Content.Type.Equal(oidStamp) || len(signed.Signers) != 1:
		return s, errStamp
	case !info.Imprint.Algorithm.Algorithm.Equal(oidSHA256) || !bytes.Equal(info.Imprint.Sum, sum[:]):
		return s, errors.New("the time stamp is of another text")
	}
	s.Time = info.Time.UTC()
	all, err := x509.ParseCertificates(signed.Certificates.Bytes)
	if err != nil {
		return s, fmt.Errorf("read the certificates of the time stamp: %w", err)
	}
	all = append(all, others...)
	signer := slices.IndexFunc(all, func(c *x509.Certificate) bool {
		return slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageTimeStamping) && signed.Signers[0].isBy(c, text)
	})
	if signer < 0 {
		return s, errors.New("the time stamp was not signed by a certificate with it that is for time stamps")
	}
	s.Certificates = chainOf(all[signer], all)
	return s, nil
}

// chainOf returns a certificate, and the certificates of its issuers that are there.
func chainOf(c *x509.Certificate, all []*x509.Certificate) []*x509.Certificate {
	chain := []*x509.Certificate{c}
	for range all {
		issuer := slices.IndexFunc(all, func(other *x509.Certificate) bool {
			return !slices.ContainsFunc(chain, other.Equal) && c.CheckSignatureFrom(other) == nil
		})
		if issuer < 0 {
			break
		}
		c = all[issuer]
		chain = append(chain, c)
	}
	return chain
}

// isBy reports whether a certificate signed a text.
func (s stampSigner) isBy(c *x509.Certificate, text []byte) bool {
	var hash crypto.Hash
	switch id := s.Digest.Algorithm; {
	case id.Equal(oidSHA256):
		hash = crypto.SHA256
	case id.Equal(oidSHA384):
		hash = crypto.SHA384
	case id.Equal(oidSHA512):
		hash = crypto.SHA512
	default:
		return false
	}
	digest := func(b []byte) []byte {
		h := hash.New()
		h.Write(b) //nolint:errcheck // a hash never fails
		return h.Sum(nil)
	}
	if len(s.Attributes.FullBytes) == 0 {
		return false
	}
	set := slices.Clone(s.Attributes.FullBytes) // RFC 5652, section 5.4: the tag of a set is signed
	set[0] = asn1.TagSet | 0x20
	var all []attribute
	if _, err := asn1.UnmarshalWithParams(set, &all, "set"); err != nil {
		return false
	}
	if !slices.ContainsFunc(all, func(a attribute) bool {
		var of []byte
		if !a.Type.Equal(oidDigest) || len(a.Values) != 1 {
			return false
		}
		_, err := asn1.Unmarshal(a.Values[0].FullBytes, &of)
		return err == nil && bytes.Equal(of, digest(text))
	}) {
		return false
	}
	switch key := c.PublicKey.(type) {
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, hash, digest(set), s.Signature) == nil
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, digest(set), s.Signature)
	}
	return false
}
