package crawllog

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Extra is the thirteenth column. The first six keys have the names that Heritrix and its deduplicator use. Keys whose
// values are empty or zero are left out.
type Extra struct {
	WARCFile            string `json:"warcFilename"`        // the file with the main record of the visit
	WARCOffset          int64  `json:"warcFileOffset"`      // of that record; written if there is a file
	ContentSize         int64  `json:"contentSize"`         // bytes of head and body
	RevisitRefersToURI  string `json:"RevisitRefersToURI"`  // target URI of the record that holds the payload
	RevisitRefersToDate string `json:"RevisitRefersToDate"` // the WARC-Date of that record
	RevisitProfile      string `json:"RevisitProfile"`      // the WARC-Profile of the revisit record

	ContentState  string    `json:"contentState"`  // "unknown", "unchanged" or "changed"
	ChangeReason  string    `json:"changeReason"`  // of the ChangeEvaluator
	WaitEvaluator string    `json:"waitEvaluator"` // the entry of the stack that decided
	WaitReason    string    `json:"waitReason"`    // of the wait evaluator
	Due           time.Time `json:"due"`           // time of the next visit, UTC, to the millisecond
	Misfortune    string    `json:"misfortune"`    // what went wrong on the web

	ChangesPerDay float64 `json:"changesPerDay"` // expected for the URI
	MissedShare   float64 `json:"missedShare"`   // expected share of the versions until the next visit that are missed
	NewVersions   float64 `json:"newVersions"`   // estimated number since the last judged visit

	FirstSeen time.Time `json:"firstSeen"` // when the URI became known, in the line of its first visit
	Born      time.Time `json:"born"`      // when the page was published, in the line of the visit that found it out
	Kind      int       `json:"kind"`      // the number of the class of similar URIs, in the line of the first capture
}

// The maximum lengths of texts in the JSON object, in bytes as written.
const (
	maxName = 255 // a file name
	maxText = 256 // a reason
	maxURI  = 8192

	// maxMisfortune has room for a misfortune that names a host of maximum length, whose end says what to do.
	maxMisfortune = 512
)

// appendTo writes the object with its keys in a fixed order. Blanks become \u0020, so that the object is one word.
func (x *Extra) appendTo(b []byte) []byte {
	b = append(b, '{')
	start := len(b)
	if x == nil {
		return append(b, '}')
	}
	text := func(key, value string, maxLength int) {
		if value != "" {
			b = appendKey(b, start, key)
			b = appendString(b, value, maxLength)
		}
	}
	number := func(key string, value int64) {
		b = appendKey(b, start, key)
		b = strconv.AppendInt(b, value, 10)
	}
	text("warcFilename", x.WARCFile, maxName)
	if x.WARCFile != "" {
		number("warcFileOffset", x.WARCOffset)
	}
	if x.ContentSize != 0 {
		number("contentSize", x.ContentSize)
	}
	text("RevisitRefersToURI", x.RevisitRefersToURI, maxURI)
	text("RevisitRefersToDate", x.RevisitRefersToDate, maxName)
	text("RevisitProfile", x.RevisitProfile, maxName)
	text("contentState", x.ContentState, maxText)
	text("changeReason", x.ChangeReason, maxText)
	text("waitEvaluator", x.WaitEvaluator, maxText)
	text("waitReason", x.WaitReason, maxText)
	moment := func(key string, t time.Time) {
		if t = writable(t); !t.IsZero() {
			b = appendKey(b, start, key)
			b = append(b, '"')
			b = appendTime(b, t)
			b = append(b, '"')
		}
	}
	moment("due", x.Due)
	text("misfortune", x.Misfortune, maxMisfortune)
	share := func(key string, value float64) {
		if value > 0 && !math.IsInf(value, 1) {
			b = appendKey(b, start, key)
			b = strconv.AppendFloat(b, value, 'g', 4, 64)
		}
	}
	share("changesPerDay", x.ChangesPerDay)
	share("missedShare", x.MissedShare)
	share("newVersions", x.NewVersions)
	moment("firstSeen", x.FirstSeen)
	moment("born", x.Born)
	if x.Kind > 0 {
		number("kind", int64(x.Kind))
	}
	return append(b, '}')
}

func appendKey(b []byte, start int, key string) []byte {
	if len(b) > start {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, key...)
	return append(b, '"', ':')
}

// appendString writes a JSON string without blanks, with at most maxLength bytes between its quotes. Bytes that are not
// UTF-8 become U+FFFD.
func appendString(b []byte, s string, maxLength int) []byte {
	b = append(b, '"')
	end := len(b) + maxLength
	for _, r := range s {
		before := len(b)
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r != ' ' && unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = appendEscape(appendEscape(b, high), low)
		default:
			b = appendEscape(b, r)
		}
		if len(b) > end {
			b = b[:before]
			break
		}
	}
	return append(b, '"')
}

func appendEscape(b []byte, r rune) []byte {
	return append(b, '\\', 'u', upperHex[r>>12&15], upperHex[r>>8&15], upperHex[r>>4&15], upperHex[r&15])
}

// parseExtra reads the rest of a line after its twelfth column, and ignores keys that it does not know. Heritrix 1
// writes the name of a file there.
func parseExtra(s string) (*Extra, error) {
	if s == "" || s == "-" {
		return nil, nil
	}
	if s[0] != '{' {
		return &Extra{WARCFile: s}, nil
	}
	var x Extra
	if err := json.Unmarshal([]byte(s), &x); err != nil {
		return nil, fmt.Errorf("not a valid JSON object: %w", err)
	}
	x.Due, x.FirstSeen, x.Born = writable(x.Due), writable(x.FirstSeen), writable(x.Born)
	if x == (Extra{}) {
		return nil, nil
	}
	return &x, nil
}
