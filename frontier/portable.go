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
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// line is an [Entry] as JSON. Names are only ever added. Times are RFC 3339 in UTC, intervals are written as Go does, as
// 36h0m0s.
type line struct {
	URI  uri.URI `json:"uri"`
	Hops text    `json:"hops,omitempty"`
	Via  text    `json:"via,omitempty"`
	Seed text    `json:"seed,omitempty"`

	Due        *time.Time `json:"due,omitempty"`
	Held       bool       `json:"held,omitempty"`
	Forbidden  bool       `json:"forbidden,omitempty"`
	InProgress bool       `json:"in_progress,omitempty"`

	FirstSeen   *time.Time `json:"first_seen,omitempty"`
	LastVisit   *time.Time `json:"last_visit,omitempty"`
	LastCapture *time.Time `json:"last_capture,omitempty"`
	LastRead    *time.Time `json:"last_read,omitempty"`
	LastChange  *time.Time `json:"last_change,omitempty"`
	Visits      int        `json:"visits,omitempty"`
	Versions    int        `json:"versions,omitempty"`
	Failures    int        `json:"failures,omitempty"`
	Unread      int        `json:"unread,omitempty"`
	Gone        int        `json:"gone,omitempty"`
	LastStatus  int        `json:"last_status,omitempty"`
	Wait        span       `json:"wait,omitempty"`
	Rate        float64    `json:"rate,omitempty"`
	Memory      text       `json:"memory,omitempty"`
	Why         text       `json:"why,omitempty"`
	Source      text       `json:"source,omitempty"`
	Born        *time.Time `json:"born,omitempty"`
	Urgent      bool       `json:"urgent,omitempty"`
	Prompt      bool       `json:"prompt,omitempty"`
	SaidChanged *time.Time `json:"said_changed,omitempty"`
	SaidNothing *time.Time `json:"said_nothing,omitempty"`

	ContentType  text        `json:"content_type,omitempty"`
	Status       int         `json:"status,omitempty"`
	Location     text        `json:"location,omitempty"`
	ETag         text        `json:"etag,omitempty"`
	LastModified text        `json:"last_modified,omitempty"`
	Payload      sha         `json:"payload,omitzero"`
	Comparison   *comparison `json:"comparison,omitempty"`
	Recent       []byte      `json:"recent,omitempty"`
	Size         int64       `json:"size,omitempty"`
	Origin       *origin     `json:"origin,omitempty"`
}

type comparison struct {
	Sum    sha    `json:"sum,omitzero"`
	Rules  number `json:"rules,omitempty"`
	Sketch number `json:"sketch,omitempty"`
}

type origin struct {
	RecordID text       `json:"record_id,omitempty"`
	URI      text       `json:"uri,omitempty"`
	Date     *time.Time `json:"date,omitempty"`
	Payload  sha        `json:"payload,omitzero"`
	File     text       `json:"file,omitempty"`
	Offset   int64      `json:"offset,omitempty"`
	Length   int64      `json:"length,omitempty"`
	Size     int64      `json:"size,omitempty"`
}

// text is a string of any bytes: a JSON string when it is UTF-8, and {"base64": "…"} when it is not.
type text string

type bytesText struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON loses no byte.
func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(bytesText{Base64: []byte(t)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *text) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("{")) {
		var raw bytesText
		err := json.Unmarshal(b, &raw)
		*t = text(raw.Base64)
		return err
	}
	var s string
	err := json.Unmarshal(b, &s)
	*t = text(s)
	return err
}

// span is an interval, as text.
type span time.Duration

// MarshalText writes 36h0m0s.
func (s span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// UnmarshalText reads what [time.ParseDuration] does.
func (s *span) UnmarshalText(b []byte) error {
	d, err := time.ParseDuration(string(b))
	*s = span(d)
	return err
}

// number is 64 bits that mean no quantity, as hexadecimal digits: a JSON number would lose some.
type number uint64

// MarshalText writes 16 hexadecimal digits.
func (n number) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(n)), nil }

// UnmarshalText reads hexadecimal digits.
func (n *number) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 16, 64)
	*n = number(v)
	return err
}

// sha is a digest, as [digest.Digest] writes itself.
type sha digest.Digest

// MarshalText writes sha1: and base32.
func (d sha) MarshalText() ([]byte, error) { return []byte(digest.Digest(d).String()), nil }

// UnmarshalText reads what [digest.Parse] does.
func (d *sha) UnmarshalText(b []byte) error {
	v, err := digest.Parse(string(b))
	*d = sha(v)
	return err
}

// IsZero tells that there is none.
func (d sha) IsZero() bool { return digest.Digest(d).IsZero() }

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// MarshalJSON writes the entry on one line, with all that is remembered of it. Nothing that is zero is written.
func (e Entry) MarshalJSON() ([]byte, error) {
	h := e.History
	l := line{
		URI: e.URI, Hops: text(e.Hops), Via: text(e.Via), Seed: text(e.Seed),
		Due: moment(h.Due), Held: e.Held, Forbidden: e.Forbidden, InProgress: e.InProgress,
		FirstSeen: moment(h.FirstSeen), LastVisit: moment(h.LastVisit), LastCapture: moment(h.LastCapture),
		LastRead: moment(h.LastRead), LastChange: moment(h.LastChange),
		Visits: h.Visits, Versions: h.Versions, Failures: h.Failures, Unread: h.Unread, Gone: h.Gone,
		LastStatus: h.LastStatus, Wait: span(h.Wait), Rate: finite(h.Rate), Memory: text(h.Memory), Why: text(h.Why),
		Source: text(h.Source), Born: moment(h.Born), Urgent: h.Urgent, Prompt: h.Prompt,
		SaidChanged: moment(h.SaidChanged), SaidNothing: moment(h.SaidNothing),
		ContentType: text(h.ContentType), Status: h.Status, Location: text(h.Location),
		ETag: text(h.Validators.ETag), LastModified: text(h.Validators.LastModified),
		Payload: sha(h.Payload), Recent: h.Recent.Bytes(), Size: h.Size,
	}
	if h.Comparison != (digest.Comparison{}) {
		l.Comparison = &comparison{Sum: sha(h.Comparison.Sum), Rules: number(h.Comparison.Rules), Sketch: number(h.Comparison.Sketch)}
	}
	if o := h.Origin; o != (digest.Origin{}) {
		l.Origin = &origin{
			RecordID: text(o.RecordID), URI: text(o.URI), Date: moment(o.Date), Payload: sha(o.Payload),
			File: text(o.File), Offset: o.Offset, Length: o.Length, Size: o.Size,
		}
	}
	return json.Marshal(l)
}

// UnmarshalJSON reads what MarshalJSON writes, and only that: a name that it does not know is a mistake. The URI need not
// be canonical.
func (e *Entry) UnmarshalJSON(b []byte) error {
	in := json.NewDecoder(bytes.NewReader(b))
	in.DisallowUnknownFields()
	var l line
	if err := in.Decode(&l); err != nil {
		return err
	}
	if l.URI.IsZero() {
		return errors.New("the uri is missing")
	}
	if l.Visits < 0 || l.Versions < 0 || l.Failures < 0 || l.Unread < 0 || l.Gone < 0 || l.Size < 0 || l.Wait < 0 {
		return fmt.Errorf("%s: a number is negative", l.URI)
	}
	*e = Entry{
		Record: Record{URI: l.URI, Hops: uri.HopPath(l.Hops), Via: string(l.Via), Seed: string(l.Seed), History: l.history()},
		Held:   l.Held, Forbidden: l.Forbidden, InProgress: l.InProgress,
	}
	return nil
}

func (l line) history() History {
	h := History{
		FirstSeen: timeOf(l.FirstSeen), LastVisit: timeOf(l.LastVisit), LastCapture: timeOf(l.LastCapture),
		LastRead: timeOf(l.LastRead), LastChange: timeOf(l.LastChange), Due: timeOf(l.Due),
		Visits: l.Visits, Versions: l.Versions, Failures: l.Failures, Unread: l.Unread, Gone: l.Gone,
		LastStatus: l.LastStatus, Wait: time.Duration(l.Wait), Rate: l.Rate, Memory: string(l.Memory), Why: string(l.Why),
		Source: string(l.Source), Born: timeOf(l.Born), Urgent: l.Urgent, Prompt: l.Prompt,
		SaidChanged: timeOf(l.SaidChanged), SaidNothing: timeOf(l.SaidNothing),
		ContentType: string(l.ContentType), Status: l.Status, Location: string(l.Location),
		Validators: evaluators.Validators{ETag: string(l.ETag), LastModified: string(l.LastModified)},
		Payload:    digest.Digest(l.Payload), Recent: evaluators.RingOf(l.Recent), Size: l.Size,
	}
	if c := l.Comparison; c != nil {
		h.Comparison = digest.Comparison{Sum: digest.Digest(c.Sum), Rules: uint64(c.Rules), Sketch: uint64(c.Sketch)}
	}
	if o := l.Origin; o != nil {
		h.Origin = digest.Origin{
			RecordID: string(o.RecordID), URI: string(o.URI), Date: timeOf(o.Date), Payload: digest.Digest(o.Payload),
			File: string(o.File), Offset: o.Offset, Length: o.Length, Size: o.Size,
		}
	}
	return h
}

// Imported says what became of imported entries.
type Imported struct {
	New        int // became known
	Known      int // were known, and stay exactly as they are
	Replaced   int // were known, and are as the entry says now
	InProgress int // were not replaced because they are being visited
	Refused    int // their host has as many URIs as it may have
}

// Plus is the sum of two results.
func (i Imported) Plus(j Imported) Imported {
	return Imported{
		New: i.New + j.New, Known: i.Known + j.Known, Replaced: i.Replaced + j.Replaced,
		InProgress: i.InProgress + j.InProgress, Refused: i.Refused + j.Refused,
	}
}

// Import makes entries known, with all their history. Known ones stay exactly as they are, unless replace is set; so it can
// be broken off and begun again. It is written in portions of some dozens: after an error some may be known already.
func (f *Frontier) Import(now time.Time, replace bool, entries ...Entry) (Imported, error) {
	var total Imported
	for len(entries) > 0 {
		n := min(len(entries), steerBatch)
		err := inPortions(entries[:n], func(some []Entry) error {
			done, err := f.importBatch(now, replace, some)
			if err == nil {
				total = total.Plus(done)
			}
			return err
		})
		if err != nil {
			return total, fmt.Errorf("import into the frontier: %w", err)
		}
		entries = entries[n:]
	}
	return total, nil
}

func (f *Frontier) importBatch(now time.Time, replace bool, entries []Entry) (done Imported, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return done, ErrClosed
	}
	c := f.begin()
	defer c.discard()
	for _, e := range entries {
		if e.URI.IsZero() {
			return done, errors.New("an entry has no URI")
		}
		d := c.draft(e.URI.Host())
		fp := fingerprintOf(e.URI.String())
		was, ok, err := rowFor(c.txn, d.h.id, fp, e.URI)
		full := false
		if err == nil && !ok {
			full, err = c.full(d, e.URI)
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
		case d.taker(fp) != nil:
			done.InProgress++
			continue
		case ok:
			done.Replaced++
		default:
			done.New++
		}
		is := rowOf(e.Record, dueMillis(e.Due, now))
		is.Held, is.Forbidden = e.Held, e.Forbidden
		if err := c.put(d, fp, was, is); err != nil {
			return done, err
		}
	}
	return done, c.commit()
}
