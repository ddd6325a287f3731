package dedup

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/digest"
)

func names(n uint32) (string, bool) { return "a.warc.gz", n == 7 }

// FuzzDecodeCompact checks that decoding ends for all input, and that a decoded entry can be encoded and decoded again.
func FuzzDecodeCompact(f *testing.F) {
	payload := digest.Of([]byte("p"))
	for _, o := range []digest.Origin{
		{RecordID: "urn:uuid:00000000-0000-4000-8000-000000000001", URI: "http://a.example/", Date: time.Unix(1, 0), Size: 300},
		{RecordID: "urn:x:1", Date: time.Unix(1, 1000)},
	} {
		o.Payload = payload
		for _, file := range []uint32{0, 7} {
			v := encodeCompact(entry{o, 3}, file)
			f.Add(v[1 : len(v)-checkLen])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v := append([]byte{compact}, b...)
		sum := check(payload, v)
		v = append(v, byte(sum>>8), byte(sum)) // without a valid checksum, hardly any input would pass the check
		e, err := decodeCompact(payload, v, names)
		if err != nil {
			return
		}
		file := uint32(0)
		if v[1]&markNumber != 0 {
			file = 7
		}
		again, err := decodeCompact(payload, encodeCompact(e, file), names)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, again, cmp.AllowUnexported(entry{})); diff != "" {
			t.Errorf("%x: -first +again:\n%s", v, diff)
		}
	})
}
