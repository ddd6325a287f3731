package fixity

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// SignedName is the name of the list of signed heads, next to the manifest.
const SignedName = "heads.jsonl"

// SignedHead is one line of the list: somebody signed the head of the manifest, or an authority stamped it. What is
// signed is the last line of the manifest at that time, without its line end; its SHA-256 is the head.
type SignedHead struct {
	Head      string    `json:"head"`
	Lines     int       `json:"lines"` // of the manifest at that time
	At        time.Time `json:"at"`
	Key       []byte    `json:"key,omitempty"`       // the public key: PKIX, DER
	Signature []byte    `json:"signature,omitempty"` // ECDSA with SHA-256, DER
	Stamp     []byte    `json:"timestamp,omitempty"` // answer of a time-stamp server by RFC 3161
}

// LastSigned returns the last signed head of a folder; the zero value if there is none.
func LastSigned(dir string) (last SignedHead, err error) {
	err = eachSigned(dir, func(_ int, s SignedHead, _ error) error { last = s; return nil })
	return last, err
}

// Sign signs the head of the manifest of a folder, has it stamped, and adds that to the list of the folder. Without a
// key it is only stamped; stamp may be nil. It does nothing if the manifest lists no file.
func Sign(
	dir string, key *ecdsa.PrivateKey, stamp func(sum [sha256.Size]byte) ([]byte, error), now time.Time,
) (err error) {
	m, err := Read(dir)
	switch {
	case err != nil:
		return fmt.Errorf("read the manifest of the WARC files: %w", err)
	case len(m.Faults) > 0:
		return fmt.Errorf("%w: %s: %s; it is not signed", warc.ErrDamaged, filepath.Join(dir, FileName), m.Faults[0])
	case len(m.Entries) == 0:
		return nil
	}
	s := SignedHead{Head: m.last, Lines: len(m.lines), At: now.UTC().Truncate(time.Second)}
	sum, err := hex.DecodeString(m.last)
	if err == nil && key != nil {
		if s.Key, err = x509.MarshalPKIXPublicKey(&key.PublicKey); err == nil {
			s.Signature, err = ecdsa.SignASN1(rand.Reader, key, sum)
		}
	}
	if err == nil && stamp != nil {
		s.Stamp, err = stamp([sha256.Size]byte(sum))
	}
	var line, before []byte
	path := filepath.Join(dir, SignedName)
	if err == nil {
		line, err = json.Marshal(s)
	}
	if err == nil {
		before, err = os.ReadFile(path)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = fileio.Write(path, append(before, append(line, '\n')...), 0o644)
	}
	if err != nil {
		return fmt.Errorf("sign the head of the manifest: %w", err)
	}
	return nil
}

// fault returns what is wrong with a signed head.
func (s SignedHead) fault(m *Manifest) error {
	sum, err := hex.DecodeString(s.Head)
	switch {
	case err != nil || len(sum) != sha256.Size || s.Signature == nil && s.Stamp == nil:
		return errors.New("cannot be read")
	case m.lineOf(s.Head) == 0:
		return fmt.Errorf("is of %s, signed at %s, and no line of the manifest has this SHA-256: lines were changed, "+
			"removed or replaced", s.Head, s.At.Format(time.RFC3339))
	}
	if s.Signature != nil {
		key, err := x509.ParsePKIXPublicKey(s.Key)
		public, ok := key.(*ecdsa.PublicKey)
		if err != nil || !ok || !ecdsa.VerifyASN1(public, sum, s.Signature) {
			return errors.New("has a signature that does not fit its head and its key")
		}
	}
	if s.Stamp != nil {
		if _, err := ReadStamp(s.Stamp, [sha256.Size]byte(sum)); err != nil {
			return fmt.Errorf("has a wrong time stamp: %w", err)
		}
	}
	return nil
}

// isBy reports whether a head was signed with the key of somebody.
func (s SignedHead) isBy(signer *ecdsa.PublicKey) bool {
	key, err := x509.ParsePKIXPublicKey(s.Key)
	return err == nil && s.Signature != nil && signer.Equal(key)
}

// eachSigned calls see with each line of the list of a folder, and with the error of a line that cannot be read. There
// may be no list.
func eachSigned(dir string, see func(n int, s SignedHead, err error) error) error {
	f, err := os.Open(filepath.Join(dir, SignedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16*maxLine) // a time stamp has certificates
	for n := 1; lines.Scan(); n++ {
		var s SignedHead
		err := json.Unmarshal(lines.Bytes(), &s)
		if err := see(n, s, err); err != nil {
			return err
		}
	}
	return lines.Err()
}

// checkSigned compares the signed heads of a folder with its manifest. It adds the heads of known signers to c.
func (m *Manifest) checkSigned(noted []Noted, c *Checked, report func(warc.Finding) error) error {
	path := filepath.Join(m.dir, SignedName)
	var reporting error
	err := eachSigned(m.dir, func(n int, s SignedHead, err error) error {
		if err == nil {
			err = s.fault(m)
		}
		if err != nil {
			reporting = report(finding(path, warc.Error, "line %d %v", n, err))
			return reporting
		}
		for _, n := range noted {
			if n.Signer != nil && s.isBy(n.Signer) {
				c.Held = append(c.Held, Held{n.Text, s.Head, len(m.lines) - m.lineOf(s.Head), s.At})
			}
		}
		return nil
	})
	if err != nil && reporting == nil {
		return report(finding(path, warc.Error, "cannot be read: %v", err))
	}
	return err
}
