package archive

import (
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// Key is the key of a URI in an index, as pywb and its relatives look it up.
func Key(text string) string { return uri.ReplayKey(text) }

// cutBefore cuts s before the first of the characters.
func cutBefore(s, chars string) (before, after string) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}
