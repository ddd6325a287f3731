package frontier

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/digest"
)

// The lines of an export are entryLine in row_generated.go. Names are only ever added. Times are RFC 3339 in UTC;
// intervals are written as Go writes them, such as 36h0m0s.

// MarshalJSON returns the entry as one line, with all that is remembered of it. Fields that are zero are left out.
func (e Entry) MarshalJSON() ([]byte, error) { return json.Marshal(newEntryLine(e)) }

// UnmarshalJSON reads what MarshalJSON writes; an unknown name is an error. The URI need not be canonical.
func (e *Entry) UnmarshalJSON(b []byte) error {
	in := json.NewDecoder(bytes.NewReader(b))
	in.DisallowUnknownFields()
	var l entryLine
	if err := in.Decode(&l); err != nil {
		return err
	}
	if l.URI.IsZero() {
		return errors.New("the uri is missing")
	}
	if l.negative() {
		return fmt.Errorf("%s: a number is negative", l.URI)
	}
	*e = l.entry()
	return nil
}

// comparisonLine is a [digest.Comparison] within the line of an entry.
type comparisonLine struct {
	Sum    jsonDigest `json:"sum,omitzero"`
	Rules  jsonBits   `json:"rules,omitempty"`
	Sketch jsonBits   `json:"sketch,omitempty"`
}

// originLine is a [digest.Origin] within the line of an entry.
type originLine struct {
	RecordID jsonText   `json:"record_id,omitempty"`
	URI      jsonText   `json:"uri,omitempty"`
	Date     time.Time  `json:"date,omitzero"`
	Payload  jsonDigest `json:"payload,omitzero"`
	File     jsonText   `json:"file,omitempty"`
	Offset   int64      `json:"offset,omitempty"`
	Length   int64      `json:"length,omitempty"`
	Size     int64      `json:"size,omitempty"`
	Strong   []byte     `json:"sha256_half,omitempty"`
	Framing  jsonText   `json:"framing,omitempty"`
}

func newOriginLine(o digest.Origin) originLine {
	return originLine{
		Strong: o.Strong.Bytes(), Framing: jsonText(o.Framing),
		RecordID: jsonText(o.RecordID), URI: jsonText(o.URI), Date: o.Date.UTC(), Payload: jsonDigest(o.Payload),
		File: jsonText(o.File), Offset: o.Offset, Length: o.Length, Size: o.Size,
	}
}

func (o originLine) value() digest.Origin {
	strong, _ := digest.HalfFrom(o.Strong) // without it, the payload is compared with its SHA-1 alone
	return digest.Origin{
		Strong: strong, Framing: string(o.Framing),
		RecordID: string(o.RecordID), URI: string(o.URI), Date: o.Date.UTC(), Payload: digest.Digest(o.Payload),
		File: string(o.File), Offset: o.Offset, Length: o.Length, Size: o.Size,
	}
}

// jsonText is a string of any bytes: a JSON string if it is UTF-8, otherwise {"base64": "…"}.
type jsonText string

type base64Text struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON loses no byte.
func (t jsonText) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(base64Text{Base64: []byte(t)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *jsonText) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("{")) {
		var raw base64Text
		err := json.Unmarshal(b, &raw)
		*t = jsonText(raw.Base64)
		return err
	}
	var s string
	err := json.Unmarshal(b, &s)
	*t = jsonText(s)
	return err
}

// jsonDuration is an interval as text.
type jsonDuration time.Duration

// MarshalText writes the interval as 36h0m0s.
func (d jsonDuration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads an interval as [time.ParseDuration] does.
func (d *jsonDuration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = jsonDuration(v)
	return err
}

// jsonBits is 64 bits that are not a quantity, as hexadecimal digits. A JSON number would lose some of them.
type jsonBits uint64

// MarshalText writes 16 hexadecimal digits.
func (n jsonBits) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(n)), nil }

// UnmarshalText reads hexadecimal digits.
func (n *jsonBits) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 16, 64)
	*n = jsonBits(v)
	return err
}

// jsonDigest is a digest as [digest.Digest] writes itself.
type jsonDigest digest.Digest

// MarshalText writes sha1: and base32.
func (d jsonDigest) MarshalText() ([]byte, error) { return []byte(digest.Digest(d).String()), nil }

// UnmarshalText reads a digest as [digest.Parse] does.
func (d *jsonDigest) UnmarshalText(b []byte) error {
	v, err := digest.Parse(string(b))
	*d = jsonDigest(v)
	return err
}

// IsZero reports whether there is no digest.
func (d jsonDigest) IsZero() bool { return digest.Digest(d).IsZero() }

// Imported is the result of an import.
type Imported struct {
	New        int `json:"new"`
	Known      int `json:"known"` // not changed
	Replaced   int `json:"replaced"`
	InProgress int `json:"in_progress"` // not replaced because they are being visited
	Refused    int `json:"refused"`     // their host has its maximum number of URIs
	Foreign    int `json:"foreign"`     // their hosts belong to other nodes of the cluster
}

// Plus returns the sum of two results.
func (i Imported) Plus(j Imported) Imported {
	return Imported{
		New: i.New + j.New, Known: i.Known + j.Known, Replaced: i.Replaced + j.Replaced,
		InProgress: i.InProgress + j.InProgress, Refused: i.Refused + j.Refused,
		Foreign: i.Foreign + j.Foreign,
	}
}

// Import adds entries with all their history. Known URIs do not change, unless replace is set; so an import may be
// interrupted and repeated. Import writes batches of some dozens of entries. After an error some of them may be known
// already.
func (f *Frontier) Import(now time.Time, replace bool, entries ...Entry) (Imported, error) {
	var total Imported
	err := updateAll(f, entries, steerBatch, func(c *change, some []Entry) error {
		done, err := c.importAll(now, replace, some)
		c.after(func() { total = total.Plus(done) })
		return err
	})
	if err != nil {
		return total, fmt.Errorf("import into the frontier: %w", err)
	}
	return total, nil
}

func (c *change) importAll(now time.Time, replace bool, entries []Entry) (done Imported, err error) {
	for _, e := range entries {
		if e.URI.IsZero() {
			return done, errors.New("an entry has no URI")
		}
		if c.f.IsForeign(e.URI.Host()) {
			done.Foreign++
			continue
		}
		d := c.draft(e.URI.Host())
		fp := newFingerprint(e.URI.String())
		was, ok, err := uriRowFor(c.txn, d.h.id, fp, e.URI)
		if errors.Is(err, ErrCollision) {
			done.Known++
			c.f.collisions.Add(1)
			continue
		}
		full := false
		if err == nil && !ok {
			full, err = c.countURI(d, e.URI)
		}
		switch {
		case err != nil:
			return done, err
		case full:
			done.Refused++
			continue
		case ok && !replace:
			done.Known++
			continue
		case d.slotClaiming(fp) != nil:
			done.InProgress++
			continue
		case ok:
			done.Replaced++
		default:
			done.New++
		}
		is := newURIRow(e.Record, dueMillis(e.Due, now))
		is.Held, is.Forbidden = e.Held, e.Forbidden
		if err := c.putURI(d, fp, was, is); err != nil {
			return done, err
		}
	}
	return done, nil
}
