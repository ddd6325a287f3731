package frontier

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/arcrawl/arcrawl/uri"
)

// The kinds of keys, by their first byte. They stand in stores and never change. The letter 'd' belongs to another room.
//
//	m | name                          what concerns the whole store
//	n | host name                     → host number, 4 bytes big-endian
//	h | host(4)                       → hostRow
//	u | host(4) | fp(12)           → uriRow
//	q | host(4) | due ms(8) | fp(12)  → a hint, or nothing: a place in the queue
//	r | host(4) | scheme              → robotsRow, one for each origin of the host
//	f | host(4) | fp(12)           → what a feed or sitemap has listed
//	x | host(4) | fp(12)           → scheme: forbidden by robots.txt
//	p | d | host(4) | fp(12) of a folder → how many of its URIs were taken, 8 bytes big-endian
//	p | n | fp(12) of a canonical name  → the URI that has it
//
// Other rooms have keys of the kind p too, with other second letters.
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
)

// The keys of kind m.
const (
	metaVersion = "mversion" // the format of the store, one byte
	metaClean   = "mclean"   // present while the store is properly closed
	metaRest    = "mrest"    // ms, 8 bytes big-endian: no host that was known by the last opening is visited before
)

const (
	hostPrefix     = 1 + 4
	fingerprintLen = 12
	placeLen       = 8 + fingerprintLen
)

// fingerprint is the first 96 bits of the SHA-256 of a canonical URI. Rows hold the text too, so that two URIs of one fingerprint
// would be seen and not confused.
type fingerprint [fingerprintLen]byte

func fingerprintOf(text string) fingerprint {
	sum := sha256.Sum256([]byte(text))
	return fingerprint(sum[:fingerprintLen])
}

// place is where a URI stands in the queue of its host: its due time in ms, then its fingerprint. Places compare as bytes.
// The zero place is none; no URI is due at 0.
type place [placeLen]byte

// lastPlace is above all places of URIs, the watermark of an empty queue.
var lastPlace = place(bytes.Repeat([]byte{0xff}, placeLen))

func placeOf(due int64, fp fingerprint) place {
	if due <= 0 {
		return place{}
	}
	var at place
	binary.BigEndian.PutUint64(at[:8], uint64(due))
	copy(at[8:], fp[:])
	return at
}

func (p place) isNone() bool        { return p == place{} }
func (p place) due() int64          { return int64(binary.BigEndian.Uint64(p[:8])) }
func (p place) fp() fingerprint     { return fingerprint(p[8:]) }
func (p place) compare(q place) int { return bytes.Compare(p[:], q[:]) }
func (p place) before(q place) bool { return p.compare(q) < 0 }

// earlier is the lower one of two places, of which either may be none.
func earlier(p, q place) place {
	if p.isNone() || !q.isNone() && q.before(p) {
		return q
	}
	return p
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

func robotsKey(host uint32, origin uri.URI) []byte {
	return key(kindRobots, host, []byte(origin.Scheme()))
}

// split takes apart a key of the kinds h, u, q, x, whose remainder must have the given length.
func split(k []byte, length int) (host uint32, rest []byte, err error) {
	if len(k) != hostPrefix+length {
		return 0, nil, damaged(k, fmt.Errorf("length %d, want %d", len(k), hostPrefix+length))
	}
	return binary.BigEndian.Uint32(k[1:hostPrefix]), k[hostPrefix:], nil
}
