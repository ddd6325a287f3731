package frontier

import (
	"encoding/binary"
	"fmt"
)

// Describe says in words what a key of the store holds. A fingerprint is written as 24 hexadecimal digits, a host by its
// number.
func Describe(key []byte) string {
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
	case key[0] == kindRobots:
		text += " for " + string(rest)
	case len(rest) > 0:
		text += fmt.Sprintf(", fingerprint %x", rest)
	}
	return text
}
