package history

import (
	"strings"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/frontier"
)

// signs replaces the signs in reasons that are not ASCII. ASCII can be read without knowing an encoding, and short
// ASCII records have a compression of their own, see package warcout.
var signs = strings.NewReplacer("×", "x", "÷", "/", "→", "->")

// ASCII returns a reason as it is written in the archive.
func ASCII(reason string) string {
	for i := range len(reason) {
		if reason[i] >= utf8.RuneSelf {
			return signs.Replace(reason)
		}
	}
	return reason // as nearly all are; the replacer would copy it
}

// VisitReason returns why a URI was visited now: what decided its due time.
func VisitReason(r frontier.Record) string {
	switch {
	case r.Visits == 0 && r.Via == "" && r.Why == "":
		return "seed"
	case r.Visits == 0 && r.Why == "":
		return "new"
	}
	return r.Why
}
