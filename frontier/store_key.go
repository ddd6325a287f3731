package frontier

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// The kinds of keys, by their first byte. They are stored and never change. The letter 'd' belongs to package dedup.
//
//	m | name                              a property of the whole store
//	n | host name                         → host number, 4 bytes big-endian
//	h | host(4)                           → hostRow
//	u | host(4) | fp(12)                  → uriRow
//	q | host(4) | due ms(8) | fp(12)      → a hint, or nothing: a place in the queue
//	r | host(4) | scheme                  → robotsRow, one for each origin of the host
//	r | host(4) | fp(12)                  → robotsRow of a URI that replaces a robots.txt
//	f | host(4) | fp(12)                  → what a feed or sitemap has listed
//	x | host(4) | fp(12)                  → scheme: forbidden by robots.txt
//	p | d | host(4) | fp(12) of a folder  → the number of its URIs, 8 bytes big-endian
//	p | n | hash(16) of a canonical name  → the URI that has the name
//	p | o | host(4) | fp(12)              → nothing: found out of scope at the last visit
//
// Other packages have keys of kind p too, with other second letters, and a cluster has the key mmirror.
const (
	kindMeta      = 'm'
	kindName      = 'n'
	kindHost      = 'h'
	kindURI       = 'u'
	kindQueue     = 'q'
	kindRobots    = 'r'
	kindForbidden = 'x'
	kindSeen      = 'f'
	kindAside     = 'p'
)

// The second letters of kind p.
const (
	asideDirectory = 'd'
	asideName      = 'n'
	asideOutside   = 'o'
)

// The keys of kind m.
const (
	metaVersion = "mformat"  // the format of the store, one byte
	metaClean   = "mclean"   // present while the store is properly closed
	metaRest    = "mrest"    // ms, 8 bytes big-endian: hosts known at the last opening are not visited before
	metaQuiet   = "mquiet"   // present until something is claimed; see startRest
	metaLoading = "mloading" // present while Load fills the store from another one

	metaUnreleased = "mversion" // in stores of before the first release: their format, one byte
)

// numbered begin the keys that continue with the number of a host.
var numbered = []string{"h", "u", "q", "r", "x", "f", "pd", "po"}

// NumberAt returns where a key has the number of a host, 4 bytes big-endian; 0 if it has none.
func NumberAt(key []byte) int {
	for _, kind := range numbered {
		if len(key) >= len(kind)+4 && string(key[:len(kind)]) == kind {
			return len(kind)
		}
	}
	return 0
}

const (
	hostPrefix     = 1 + 4
	fingerprintLen = 12
	placeLen       = 8 + fingerprintLen
)

// fingerprint is the first 96 bits of the SHA-256 of a canonical URI. Rows hold the text too, so that two URIs with
// the same fingerprint would be noticed and not confused.
type fingerprint [fingerprintLen]byte

func newFingerprint(text string) fingerprint {
	sum := sha256.Sum256([]byte(text))
	return fingerprint(sum[:fingerprintLen])
}

func key(kind byte, host uint32, rest []byte) []byte {
	k := make([]byte, hostPrefix, hostPrefix+len(rest))
	k[0] = kind
	binary.BigEndian.PutUint32(k[1:], host)
	return append(k, rest...)
}

func uriKey(host uint32, fp fingerprint) []byte       { return key(kindURI, host, fp[:]) }
func queueKey(host uint32, at place) []byte           { return key(kindQueue, host, at[:]) }
func forbiddenKey(host uint32, fp fingerprint) []byte { return key(kindForbidden, host, fp[:]) }
func seenKey(host uint32, fp fingerprint) []byte      { return key(kindSeen, host, fp[:]) }
func hostKey(host uint32) []byte                      { return key(kindHost, host, nil) }
func nameKey(name uri.Host) []byte                    { return append([]byte{kindName}, name...) }

func asideKey(letter byte, host uint32, fp fingerprint) []byte {
	k := binary.BigEndian.AppendUint32([]byte{kindAside, letter}, host)
	return append(k, fp[:]...)
}

// robotsKey returns the key of the copy of a robots.txt, or of a URI that replaces one.
func robotsKey(host uint32, file uri.URI) []byte {
	if isRobotsFile(file) {
		return key(kindRobots, host, []byte(file.Scheme()))
	}
	fp := newFingerprint(file.String())
	return key(kindRobots, host, fp[:])
}

// isRobotsFile reports whether a URI is the robots.txt of its origin.
func isRobotsFile(u uri.URI) bool { return u.RequestTarget() == "/robots.txt" }

// split splits a key into the number of a host and a remainder: a place in kind q, nothing in kind h, and a fingerprint
// in kinds u, x and f. The other kinds are not for split.
func split(k []byte) (host uint32, rest []byte, err error) {
	length := hostPrefix + fingerprintLen
	switch k[0] {
	case kindHost:
		length = hostPrefix
	case kindQueue:
		length = hostPrefix + placeLen
	}
	if len(k) != length {
		return 0, nil, damaged(k, fmt.Errorf("length %d, want %d", len(k), length))
	}
	return binary.BigEndian.Uint32(k[1:hostPrefix]), k[hostPrefix:], nil
}

// foundKey is a key that scan has found.
type foundKey struct {
	host uint32
	rest []byte // a place or a fingerprint; valid until the next key
	item *badger.Item
}

func (k foundKey) fp() fingerprint { return fingerprint(k.rest) }

// prefetched is how many values a scan reads ahead that needs them.
const prefetched = 100

// scan goes through the keys that have a prefix, beginning at a key, or at the first one if that is nil; [split] says
// for which kinds. It reads a number of values ahead.
func scan(txn *badger.Txn, prefix, from []byte, ahead int) iter.Seq2[foundKey, error] {
	return func(yield func(foundKey, error) bool) {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix, PrefetchValues: ahead > 0, PrefetchSize: ahead})
		defer it.Close()
		for it.Seek(from); it.Valid(); it.Next() {
			item := it.Item()
			k := item.Key()
			if k[0] == kindAside {
				k = k[1:] // what follows its second letter is as in kind u
			}
			host, rest, err := split(k)
			if !yield(foundKey{host, rest, item}, err) {
				return
			}
		}
	}
}

// describeKey says in words what a key of the store holds. A fingerprint is written as 24 hexadecimal digits, a host
// as its number.
func describeKey(key []byte) string {
	if len(key) == 0 {
		return "the empty key"
	}
	kind, ok := map[byte]string{
		kindHost: "the record of", kindURI: "the history of a URI of", kindQueue: "a place in the queue of",
		kindRobots: "the robots.txt of", kindForbidden: "an entry in the list of forbidden URIs of",
		kindSeen: "what a feed has listed on",
	}[key[0]]
	switch {
	case key[0] == kindMeta:
		return fmt.Sprintf("the store's own entry %q", key[1:])
	case key[0] == kindName:
		return fmt.Sprintf("the number of host %s", key[1:])
	case !ok || len(key) < hostPrefix:
		return fmt.Sprintf("key %q", key)
	}
	text := fmt.Sprintf("%s host %d", kind, binary.BigEndian.Uint32(key[1:]))
	switch rest := key[hostPrefix:]; {
	case key[0] == kindQueue && len(rest) == placeLen:
		at := place(rest)
		text += fmt.Sprintf(", due %s, fingerprint %x", fromMillis(at.due()).Format("2006-01-02T15:04:05.000Z"), at.fp())
	case key[0] == kindRobots && len(rest) < fingerprintLen:
		text += " for " + string(rest)
	case len(rest) > 0:
		text += fmt.Sprintf(", fingerprint %x", rest)
	}
	return text
}
