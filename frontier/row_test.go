package frontier

import (
	"bytes"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// Arbitrary bytes are read as a record or return an error. A record that was read can be written and read again.
func FuzzRows(f *testing.F) {
	whole, err := cbor.Marshal(uriRow{
		URI: "http://a.example/", Due: 1, Payload: cbor.ByteString(make([]byte, 20)), Origin: &originRow{RecordID: "urn:uuid:1", Payload: cbor.ByteString(make([]byte, 20))},
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{
		nil, whole, whole[:len(whole)-1],
		{0xa1, 1, 0x41, 'x'},
		{0xbf, 0xff},
		bytes.Repeat([]byte{0x9f}, 100),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var h hostRow
		var r robotsRow
		if cbor.Unmarshal(b, &h) == nil && cbor.Unmarshal(b, &r) == nil {
			_ = r.copy()
		}
		var w uriRow
		if cbor.Unmarshal(b, &w) != nil {
			return
		}
		record, err := w.record()
		if err != nil {
			return
		}
		v, err := cbor.Marshal(newURIRow(record, w.Due))
		if err != nil {
			t.Fatal(err)
		}
		var again uriRow
		if err := cbor.Unmarshal(v, &again); err != nil {
			t.Fatalf("%x was read, but is not read again as %x: %v", b, v, err)
		}
		if same, err := again.record(); err != nil || same.URI != record.URI || !same.Due.Equal(record.Due) {
			t.Fatalf("%+v came back as %+v, %v", record, same, err)
		}
	})
}
