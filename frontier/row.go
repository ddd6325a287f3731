package frontier

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// Rows are CBOR maps with integer keys. Keys are only ever added. Texts are byte strings, because servers send bytes
// that are not UTF-8, and CBOR refuses those in text strings.
//
// uriRow, the row of a URI, is in row_generated.go. The code that encodes and decodes uriRow, originRow and hostRow is
// in row_codec_generated.go.

// originRow is a [digest.Origin] within the row of a URI. Date is in µs since 1970.
type originRow struct {
	RecordID cbor.ByteString `cbor:"1,keyasint,omitempty"`
	URI      cbor.ByteString `cbor:"2,keyasint,omitempty"`
	Date     int64           `cbor:"3,keyasint,omitempty"`
	Payload  cbor.ByteString `cbor:"4,keyasint,omitempty"`
	File     cbor.ByteString `cbor:"5,keyasint,omitempty"`
	Offset   int64           `cbor:"6,keyasint,omitempty"`
	Length   int64           `cbor:"7,keyasint,omitempty"`
	Size     int64           `cbor:"8,keyasint,omitempty"`
	Strong   cbor.ByteString `cbor:"9,keyasint,omitempty"` // half of its SHA-256
	Framing  cbor.ByteString `cbor:"10,keyasint,omitempty"`
}

// hostRow is the part of a host that must outlive the process. Times are in ms since 1970.
type hostRow struct {
	Name      cbor.ByteString `cbor:"1,keyasint"`
	Wake      []int64         `cbor:"2,keyasint,omitempty"` // of each slot
	Rest      int64           `cbor:"3,keyasint,omitempty"`
	Failures  int             `cbor:"4,keyasint,omitempty"`
	Mark      cbor.ByteString `cbor:"5,keyasint,omitempty"` // the watermark of the queue
	URIs      int64           `cbor:"6,keyasint,omitempty"`
	Queued    int64           `cbor:"7,keyasint,omitempty"`
	Forbidden int64           `cbor:"8,keyasint,omitempty"`
	Held      int64           `cbor:"20,keyasint,omitempty"`
	Paused    int64           `cbor:"21,keyasint,omitempty"` // since when
	Asked     int64           `cbor:"22,keyasint,omitempty"` // end of the rest that the server asked for
	Counted   bool            `cbor:"23,keyasint,omitempty"` // the URIs of each folder are counted
	Usual     int64           `cbor:"24,keyasint,omitempty"` // last politeness delay, if longer than RestAfterCrash
	Asker     cbor.ByteString `cbor:"25,keyasint,omitempty"` // fingerprint of the URI that asked for the rest
	Met       int             `cbor:"26,keyasint,omitempty"` // a hostMet
	Error     cbor.ByteString `cbor:"30,keyasint,omitempty"` // why it could not be reached
}

// robotsRow is a [RobotsCopy] as it is stored. Times are in µs since 1970.
type robotsRow struct {
	Fetched     int64  `cbor:"1,keyasint,omitempty"`
	Expires     int64  `cbor:"2,keyasint,omitempty"`
	Status      int    `cbor:"3,keyasint,omitempty"`
	Unreachable bool   `cbor:"4,keyasint,omitempty"`
	Body        []byte `cbor:"5,keyasint,omitempty"`
}

// place returns where the URI is in the queue: nowhere while it is held.
func (w uriRow) place(fp fingerprint) place {
	if w.Held {
		return place{}
	}
	return newPlace(w.Due, fp)
}

func newOriginRow(o digest.Origin) *originRow {
	if o == (digest.Origin{}) {
		return nil
	}
	return &originRow{
		RecordID: bounded(o.RecordID), URI: bounded(o.URI), Date: micros(o.Date), Payload: sumBytes(o.Payload),
		File: bounded(o.File), Offset: o.Offset, Length: o.Length, Size: o.Size, Strong: cbor.ByteString(o.Strong.Bytes()),
		Framing: bounded(o.Framing),
	}
}

func (w *originRow) origin() (digest.Origin, error) {
	if w == nil {
		return digest.Origin{}, nil
	}
	payload, err := parseSum(w.Payload)
	strong, err2 := digest.HalfFrom(w.Strong)
	return digest.Origin{
		RecordID: string(w.RecordID), URI: string(w.URI), Date: fromMicros(w.Date), Payload: payload,
		File: string(w.File), Offset: w.Offset, Length: w.Length, Size: w.Size, Strong: strong,
		Framing: string(w.Framing),
	}, errors.Join(err, err2)
}

func newRobotsRow(c RobotsCopy) robotsRow {
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

// bounded returns a text as it is stored: empty if it is longer than [MaxText].
func bounded(s string) cbor.ByteString {
	if len(s) > MaxText {
		return ""
	}
	return cbor.ByteString(s)
}

// finite returns a rate as it is stored: zero, for unknown, if it is negative, infinite or not a number.
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

func parseSum(s cbor.ByteString) (digest.Digest, error) {
	var d digest.Digest
	if len(s) != 0 && len(s) != len(d) {
		return d, fmt.Errorf("digest of %d bytes, want %d", len(s), len(d))
	}
	copy(d[:], s)
	return d, nil
}

// micros returns a time in µs since 1970, 0 for the zero time.
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

// millis returns the first millisecond that is not before t.
func millis(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return ms
}

// maxAhead bounds due times. Nobody revisits a page that rarely; a later due time is a mistake, and the URI would never
// be visited again.
const maxAhead = 10 * 366 * 24 * time.Hour

// dueMillis returns the due time t in ms, at most maxAhead after now. It returns 0 for the zero time only.
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

// readRow decodes the value of a key into row; ok is false if there is no such key.
func readRow(txn *badger.Txn, k []byte, row any) (ok bool, err error) {
	item, err := txn.Get(k)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read key %q: %w", k, err)
	}
	return true, decodeRow(item, row)
}

// decodeRow decodes the value of an item into row, by generated code if possible.
func decodeRow(item *badger.Item, row any) error {
	return item.Value(func(v []byte) error {
		if fast, ok := row.(fastRow); ok && fast.read(v) {
			return nil
		}
		if err := cbor.Unmarshal(v, row); err != nil {
			return damaged(item.KeyCopy(nil), err)
		}
		return nil
	})
}

// writeRow encodes a row that has no code of its own.
func writeRow(txn *badger.Txn, k []byte, row any) error {
	v, err := cbor.Marshal(row)
	if err != nil {
		return fmt.Errorf("encode key %q: %w", k, err)
	}
	return txn.Set(k, v)
}

// uriRowAt reads the row of a URI by its fingerprint, and makes sure that the row is of that URI.
func uriRowAt(txn *badger.Txn, host uint32, fp fingerprint) (uriRow, bool, error) {
	var w uriRow
	k := uriKey(host, fp)
	ok, err := readRow(txn, k, &w)
	if err == nil && ok && newFingerprint(string(w.URI)) != fp {
		err = damaged(k, fmt.Errorf("holds %q, which has another fingerprint", w.URI))
	}
	return w, ok, err
}

// uriRowFor reads the row of a URI, and makes sure that the row is of that URI.
func uriRowFor(txn *badger.Txn, host uint32, fp fingerprint, u uri.URI) (uriRow, bool, error) {
	var w uriRow
	ok, err := readRow(txn, uriKey(host, fp), &w)
	if err == nil && ok && string(w.URI) != u.String() {
		err = fmt.Errorf("%s and %s: %w", u, w.URI, ErrCollision)
	}
	return w, ok, err
}
