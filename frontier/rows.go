package frontier

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// The rows are CBOR maps with integer keys. Keys are only ever added. Texts are byte strings, because servers send
// bytes that are no UTF-8 and CBOR refuses those in text strings. Times are µs since 1970 and due times ms, 0 for none;
// durations are ns.
type uriRow struct {
	URI         cbor.ByteString `cbor:"1,keyasint"`
	Hops        cbor.ByteString `cbor:"2,keyasint,omitempty"`
	Via         cbor.ByteString `cbor:"3,keyasint,omitempty"`
	Seed        cbor.ByteString `cbor:"4,keyasint,omitempty"`
	FirstSeen   int64           `cbor:"5,keyasint,omitempty"`
	LastVisit   int64           `cbor:"6,keyasint,omitempty"`
	LastCapture int64           `cbor:"7,keyasint,omitempty"`
	LastChange  int64           `cbor:"8,keyasint,omitempty"`
	Due         int64           `cbor:"9,keyasint,omitempty"`
	Visits      int             `cbor:"10,keyasint,omitempty"`
	Versions    int             `cbor:"11,keyasint,omitempty"`
	Failures    int             `cbor:"12,keyasint,omitempty"`
	Unread      int             `cbor:"13,keyasint,omitempty"`
	LastStatus  int             `cbor:"14,keyasint,omitempty"`
	Wait        int64           `cbor:"15,keyasint,omitempty"`
	ContentType cbor.ByteString `cbor:"16,keyasint,omitempty"`
	Status      int             `cbor:"17,keyasint,omitempty"`
	Location    cbor.ByteString `cbor:"18,keyasint,omitempty"`
	ETag        cbor.ByteString `cbor:"19,keyasint,omitempty"`
	LastMod     cbor.ByteString `cbor:"20,keyasint,omitempty"`
	Payload     cbor.ByteString `cbor:"21,keyasint,omitempty"`
	Comparison  cbor.ByteString `cbor:"22,keyasint,omitempty"`
	Rules       uint64          `cbor:"23,keyasint,omitempty"`
	Size        int64           `cbor:"24,keyasint,omitempty"`
	Origin      *originRow      `cbor:"25,keyasint,omitempty"`
	Forbidden   bool            `cbor:"26,keyasint,omitempty"`
	Sketch      uint64          `cbor:"27,keyasint,omitempty"`
	LastRead    int64           `cbor:"28,keyasint,omitempty"`
	Gone        int             `cbor:"29,keyasint,omitempty"`
	Recent      cbor.ByteString `cbor:"31,keyasint,omitempty"`
	Rate        float64         `cbor:"40,keyasint,omitempty"`
	Memory      cbor.ByteString `cbor:"30,keyasint,omitempty"`
	Held        bool            `cbor:"80,keyasint,omitempty"`
	Why         cbor.ByteString `cbor:"85,keyasint,omitempty"`
	Source      cbor.ByteString `cbor:"50,keyasint,omitempty"`
	Born        int64           `cbor:"51,keyasint,omitempty"`
	Urgent      bool            `cbor:"52,keyasint,omitempty"`
	Prompt      bool            `cbor:"53,keyasint,omitempty"`
	SaidChanged int64           `cbor:"54,keyasint,omitempty"`
	SaidNothing int64           `cbor:"55,keyasint,omitempty"`
}

// place is where the URI stands in the queue: nowhere while it is held.
func (w uriRow) place(fp fingerprint) place {
	if w.Held {
		return place{}
	}
	return placeOf(w.Due, fp)
}

type originRow struct {
	RecordID cbor.ByteString `cbor:"1,keyasint,omitempty"`
	URI      cbor.ByteString `cbor:"2,keyasint,omitempty"`
	Date     int64           `cbor:"3,keyasint,omitempty"`
	Payload  cbor.ByteString `cbor:"4,keyasint,omitempty"`
	File     cbor.ByteString `cbor:"5,keyasint,omitempty"`
	Offset   int64           `cbor:"6,keyasint,omitempty"`
	Length   int64           `cbor:"7,keyasint,omitempty"`
	Size     int64           `cbor:"8,keyasint,omitempty"`
}

// hostRow is what must outlive the process of a host. Times are in ms.
type hostRow struct {
	Name      cbor.ByteString `cbor:"1,keyasint"`
	Wake      []int64         `cbor:"2,keyasint,omitempty"` // of each slot
	Rest      int64           `cbor:"3,keyasint,omitempty"`
	Failures  int             `cbor:"4,keyasint,omitempty"`
	Mark      cbor.ByteString `cbor:"5,keyasint,omitempty"`
	URIs      int64           `cbor:"6,keyasint,omitempty"`
	Queued    int64           `cbor:"7,keyasint,omitempty"`
	Forbidden int64           `cbor:"8,keyasint,omitempty"`
	Held      int64           `cbor:"20,keyasint,omitempty"`
	Paused    int64           `cbor:"21,keyasint,omitempty"` // since when
	Asked     int64           `cbor:"22,keyasint,omitempty"`
	Counted   bool            `cbor:"23,keyasint,omitempty"` // folders
	Usual     int64           `cbor:"24,keyasint,omitempty"` // the last politeness delay, if it is longer than Options.RestAfterCrash
}

type robotsRow struct {
	Fetched     int64  `cbor:"1,keyasint,omitempty"`
	Expires     int64  `cbor:"2,keyasint,omitempty"`
	Status      int    `cbor:"3,keyasint,omitempty"`
	Unreachable bool   `cbor:"4,keyasint,omitempty"`
	Body        []byte `cbor:"5,keyasint,omitempty"`
}

// textRow reads only the text of a uriRow, for those who ask whether a URI is known.
type textRow struct {
	URI cbor.ByteString `cbor:"1,keyasint"`
}

// rowOf is r as it is stored; due in ms.
func rowOf(r Record, due int64) uriRow {
	return uriRow{
		URI:         cbor.ByteString(r.URI.String()),
		Hops:        bounded(string(r.Hops)),
		Via:         bounded(r.Via),
		Seed:        bounded(r.Seed),
		FirstSeen:   micros(r.FirstSeen),
		LastVisit:   micros(r.LastVisit),
		LastCapture: micros(r.LastCapture),
		LastRead:    micros(r.LastRead),
		LastChange:  micros(r.LastChange),
		Due:         due,
		Visits:      r.Visits,
		Versions:    r.Versions,
		Failures:    r.Failures,
		Unread:      r.Unread,
		Gone:        r.Gone,
		LastStatus:  r.LastStatus,
		Wait:        int64(r.Wait),
		Rate:        finite(r.Rate),
		Memory:      cbor.ByteString(r.Memory),
		Why:         cbor.ByteString(r.Why[:min(len(r.Why), MaxWhy)]),
		Source:      bounded(r.Source),
		Born:        micros(r.Born),
		Urgent:      r.Urgent,
		Prompt:      r.Prompt,
		SaidChanged: micros(r.SaidChanged),
		SaidNothing: micros(r.SaidNothing),
		ContentType: bounded(r.ContentType),
		Status:      r.Status,
		Location:    bounded(r.Location),
		ETag:        bounded(r.Validators.ETag),
		LastMod:     bounded(r.Validators.LastModified),
		Payload:     sumBytes(r.Payload),
		Comparison:  sumBytes(r.Comparison.Sum),
		Rules:       r.Comparison.Rules,
		Sketch:      r.Comparison.Sketch,
		Recent:      cbor.ByteString(r.Recent.Bytes()),
		Size:        r.Size,
		Origin:      originRowOf(r.Origin),
	}
}

// record is the row as it is handed out.
func (w uriRow) record() (Record, error) {
	u := uri.FromCanonical(string(w.URI))
	payload, err1 := sumOf(w.Payload)
	comparison, err2 := sumOf(w.Comparison)
	origin, err3 := w.Origin.origin()
	if u.IsZero() || err1 != nil || err2 != nil || err3 != nil {
		return Record{}, errors.Join(fmt.Errorf("record of %q", w.URI), err1, err2, err3)
	}
	return Record{URI: u, Hops: uri.HopPath(w.Hops), Via: string(w.Via), Seed: string(w.Seed), History: History{
		FirstSeen:   fromMicros(w.FirstSeen),
		LastVisit:   fromMicros(w.LastVisit),
		LastCapture: fromMicros(w.LastCapture),
		LastRead:    fromMicros(w.LastRead),
		LastChange:  fromMicros(w.LastChange),
		Due:         fromMillis(w.Due),
		Visits:      w.Visits,
		Versions:    w.Versions,
		Failures:    w.Failures,
		Unread:      w.Unread,
		Gone:        w.Gone,
		LastStatus:  w.LastStatus,
		Wait:        time.Duration(w.Wait),
		Rate:        w.Rate,
		Memory:      string(w.Memory),
		Why:         string(w.Why),
		Source:      string(w.Source),
		Born:        fromMicros(w.Born),
		Urgent:      w.Urgent,
		Prompt:      w.Prompt,
		SaidChanged: fromMicros(w.SaidChanged),
		SaidNothing: fromMicros(w.SaidNothing),
		ContentType: string(w.ContentType),
		Status:      w.Status,
		Location:    string(w.Location),
		Validators:  evaluators.Validators{ETag: string(w.ETag), LastModified: string(w.LastMod)},
		Payload:     payload,
		Comparison:  digest.Comparison{Sum: comparison, Rules: w.Rules, Sketch: w.Sketch},
		Recent:      evaluators.RingOf([]byte(w.Recent)),
		Size:        w.Size,
		Origin:      origin,
	}}, nil
}

func originRowOf(o digest.Origin) *originRow {
	if o == (digest.Origin{}) {
		return nil
	}
	return &originRow{
		RecordID: bounded(o.RecordID), URI: bounded(o.URI), Date: micros(o.Date), Payload: sumBytes(o.Payload),
		File: bounded(o.File), Offset: o.Offset, Length: o.Length, Size: o.Size,
	}
}

func (w *originRow) origin() (digest.Origin, error) {
	if w == nil {
		return digest.Origin{}, nil
	}
	payload, err := sumOf(w.Payload)
	return digest.Origin{
		RecordID: string(w.RecordID), URI: string(w.URI), Date: fromMicros(w.Date), Payload: payload,
		File: string(w.File), Offset: w.Offset, Length: w.Length, Size: w.Size,
	}, err
}

func robotsRowOf(c RobotsCopy) robotsRow {
	return robotsRow{
		Fetched: micros(c.Fetched), Expires: micros(c.Expires), Status: c.Status, Unreachable: c.Unreachable,
		Body: c.Body[:min(len(c.Body), MaxRobots)],
	}
}

func (w robotsRow) copy() RobotsCopy {
	return RobotsCopy{
		Fetched: fromMicros(w.Fetched), Expires: fromMicros(w.Expires), Status: w.Status, Unreachable: w.Unreachable,
		Body: w.Body,
	}
}

func bounded(s string) cbor.ByteString {
	if len(s) > MaxText {
		return ""
	}
	return cbor.ByteString(s)
}

// finite is a rate as it is kept: what is no number, or negative, is unknown.
func finite(rate float64) float64 {
	if rate > 0 && rate <= math.MaxFloat64 {
		return rate
	}
	return 0
}

func sumBytes(d digest.Digest) cbor.ByteString {
	if d.IsZero() {
		return ""
	}
	return cbor.ByteString(d[:])
}

func sumOf(s cbor.ByteString) (digest.Digest, error) {
	var d digest.Digest
	if len(s) != 0 && len(s) != len(d) {
		return d, fmt.Errorf("digest of %d bytes, want %d", len(s), len(d))
	}
	copy(d[:], s)
	return d, nil
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// millis is the first millisecond that is not before t.
func millis(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return ms
}

// maxAhead bounds due times. Nobody revisits a page that rarely; a later due time is a mistake that would exile it.
const maxAhead = 10 * 366 * 24 * time.Hour

// dueMillis is the due time t in ms, bounded as seen from now; 0 for the zero time and for no other.
func dueMillis(t, now time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	if latest := now.Add(maxAhead); t.After(latest) {
		t = latest
	}
	if t.Unix() < 0 {
		return 1
	}
	return min(max(millis(t), 1), math.MaxInt64-1)
}

// read decodes the value of a key into row; ok is false when the key is not there.
func read(txn *badger.Txn, k []byte, row any) (ok bool, err error) {
	item, err := txn.Get(k)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read key %q: %w", k, err)
	}
	return true, decode(item, row)
}

func decode(item *badger.Item, row any) error {
	return item.Value(func(v []byte) error {
		if q, ok := row.(quick); ok && q.read(v) {
			return nil
		}
		if err := cbor.Unmarshal(v, row); err != nil {
			return damaged(item.KeyCopy(nil), err)
		}
		return nil
	})
}

func write(txn *badger.Txn, k []byte, row any) error {
	v, err := cbor.Marshal(row)
	if err != nil {
		return fmt.Errorf("encode key %q: %w", k, err)
	}
	return txn.Set(k, v)
}
