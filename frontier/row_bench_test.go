package frontier

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// visitedRow returns a row with most fields of a visited URI.
func visitedRow() uriRow {
	var w uriRow
	fillRow(rand.New(rand.NewPCG(5, 6)), reflect.ValueOf(&w).Elem())
	v := reflect.ValueOf(&w).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.String {
			f.SetString("https://www.example.org/section/an-article.html")
		}
	}
	w.Origin = &originRow{RecordID: "<urn:uuid:0f9619ff-8b86-4d01-b42d-00cf4fc964ff>", URI: w.URI, Payload: w.Payload, File: "a.warc.gz", Offset: 1}
	return w
}

// BenchmarkRow compares the generated codec of rows with the general one.
func BenchmarkRow(b *testing.B) {
	w := visitedRow()
	row, buffer := w.appendTo(nil)
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, buffer = w.appendTo(buffer[:0])
		}
	})
	b.Run("write by tags", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = cbor.Marshal(w)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var got uriRow
			got.read(row)
		}
	})
	b.Run("read by tags", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var got uriRow
			_ = cbor.Unmarshal(row, &got)
		}
	})
}
