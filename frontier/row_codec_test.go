package frontier

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/internal/slow"
)

// fillRow sets about half of the fields to small values or to values at which the encoded length changes.
func fillRow(rnd *rand.Rand, v reflect.Value) {
	for i := range v.NumField() {
		if rnd.IntN(2) == 0 {
			continue
		}
		lengths := []int64{0, 1, 20, 23, 24, 255, 256, 65535, 65536, math.MaxInt32 + 1, math.MaxInt64}
		n := lengths[rnd.IntN(len(lengths))]
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(strings.Repeat("\xff", int(min(n, 65536))))
		case reflect.Int, reflect.Int64:
			f.SetInt(n * int64(1-2*rnd.IntN(2)))
		case reflect.Uint64:
			f.SetUint(uint64(n) * uint64(1+rnd.IntN(2)))
		case reflect.Float64:
			f.SetFloat([]float64{0, 1, 0.1, math.MaxFloat64}[rnd.IntN(4)])
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			for range rnd.IntN(30) {
				f.Set(reflect.Append(f, reflect.ValueOf(n)))
			}
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
			fillRow(rnd, f.Elem())
		default:
			panic(f.Kind())
		}
	}
}

// The generated code writes and reads the encoding that the tags describe. It appends to the bytes in the buffer. The
// URI is read without the other fields, if it is whole.
func TestGeneratedCodecAgreesWithTheTags(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	rows := 2000
	if slow.Reduced() {
		rows = 200
	}
	for range rows {
		for _, w := range []interface {
			fastRow
			appendTo(b []byte) (row, buffer []byte)
		}{&uriRow{}, &hostRow{}} {
			fillRow(rnd, reflect.ValueOf(w).Elem())
			want, err := cbor.Marshal(w)
			noErr(t, err)
			got, buffer := w.appendTo([]byte("before"))
			if !bytes.Equal(got, want) || !bytes.HasPrefix(buffer, []byte("before")) || !bytes.HasSuffix(buffer, want) {
				t.Fatalf("%+v\nis %x\nnot %x", w, got, want)
			}
			again := reflect.New(reflect.TypeOf(w).Elem()).Interface().(fastRow)
			if !again.read(want) || !reflect.DeepEqual(again, w) {
				t.Fatalf("%+v came back as\n%+v", w, again)
			}
			if u, ok := w.(*uriRow); ok && u.URI != "" {
				text, ok := rowText(want)
				if _, cut := rowText(want[:len(u.URI)]); !ok || string(text) != string(u.URI) || cut {
					t.Fatalf("the URI of %x is %q, %t; of a part of the row %t", want, text, ok, cut)
				}
			}
		}
	}
}

// Arbitrary bytes are read as by the general decoder, or left to that decoder, which reads them or returns an error. A
// record that was read can be written and read again.
func FuzzRows(f *testing.F) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 10 {
		var w uriRow
		fillRow(rnd, reflect.ValueOf(&w).Elem())
		row, _ := w.appendTo(nil)
		f.Add(row)
		var h hostRow
		fillRow(rnd, reflect.ValueOf(&h).Elem())
		row, _ = h.appendTo(nil)
		f.Add(row)
	}
	sum := cbor.ByteString(make([]byte, 20))
	w := uriRow{URI: "http://a.example/", Due: 1, Payload: sum, Origin: &originRow{RecordID: "urn:uuid:1", Payload: sum}}
	whole, _ := w.appendTo(nil)
	for _, odd := range []string{
		"", "\xa1\x01\x41x", "\xbf\xff", "\xa1\x18\x28\xf9\x3c\x00", "\xa1\x18\x19\xa1\x18\x63\x00", "\xa1\x18\x1a\xf6",
		"\xa1\x05\x1b\xff\xff\xff\xff\xff\xff\xff\xff", string(whole), string(whole[:len(whole)-1]), strings.Repeat("\x9f", 100),
	} {
		f.Add([]byte(odd))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r robotsRow
		if cbor.Unmarshal(b, &r) == nil {
			_ = r.copy()
		}
		for _, pair := range [][2]fastRow{{&uriRow{}, &uriRow{}}, {&hostRow{}, &hostRow{}}} {
			got, want := pair[0], pair[1]
			read, err := got.read(b), cbor.Unmarshal(b, want)
			switch {
			case !read && !reflect.ValueOf(got).Elem().IsZero():
				t.Fatalf("%x is not read, but left %+v", b, got)
			case read && (err != nil || !reflect.DeepEqual(got, want)):
				t.Fatalf("%x is %+v, %v\nand was read as\n%+v", b, want, err, got)
			}
			if w, ok := want.(*uriRow); ok && err == nil {
				comesBack(t, w)
			}
		}
	})
}

// comesBack writes the record of a row, if it has one, and reads it again.
func comesBack(t *testing.T, w *uriRow) {
	t.Helper()
	record, err := w.record()
	if err != nil {
		return
	}
	is := newURIRow(record, w.Due)
	row, _ := is.appendTo(nil)
	var again uriRow
	if !again.read(row) {
		t.Fatalf("%+v was read, but is not read again as %x", w, row)
	}
	if same, err := again.record(); err != nil || same.URI != record.URI || !same.Due.Equal(record.Due) {
		t.Fatalf("%+v came back as %+v, %v", record, same, err)
	}
}

// The format of stored rows never changes. Each row is read and written again with the same
// bytes, and its export has the same text.
func TestRowsAreReadAndWrittenByteForByte(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/rows-format-1.txt")
	noErr(t, err)
	defer file.Close()
	rows := map[string]int{}
	in := bufio.NewScanner(file)
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		if strings.HasPrefix(in.Text(), "#") {
			continue
		}
		kind, rest, _ := strings.Cut(in.Text(), " ")
		digits, export, _ := strings.Cut(rest, " ")
		row, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		switch kind {
		case "uri":
			err = checkGoldenURI(row, export)
		case "host":
			err = checkGoldenHost(row)
		case "robots":
			err = checkGoldenRobots(row)
		default:
			err = fmt.Errorf("unknown kind %q", kind)
		}
		if err != nil {
			t.Errorf("line %d: %v", n, err)
		}
		rows[kind]++
	}
	if err := in.Err(); err != nil || rows["uri"] < 90 || rows["host"] < 40 || rows["robots"] < 20 {
		t.Errorf("read %v, %v", rows, err)
	}
}

// checkGoldenURI reads a row in three ways: with the generated code, by the tags, and from the export.
func checkGoldenURI(row []byte, export string) error {
	var direct, byTags uriRow
	if !direct.read(row) {
		return fmt.Errorf("row %x was not read", row)
	}
	if err := cbor.Unmarshal(row, &byTags); err != nil {
		return err
	}
	var imported Entry
	if err := json.Unmarshal([]byte(export), &imported); err != nil {
		return err
	}
	fromExport := newURIRow(imported.Record, direct.Due)
	fromExport.Held, fromExport.Forbidden = imported.Held, imported.Forbidden
	for _, w := range []uriRow{direct, byTags, fromExport} {
		r, err := w.record()
		if err != nil {
			return err
		}
		again := newURIRow(r, w.Due)
		again.Held, again.Forbidden = w.Held, w.Forbidden
		if got, _ := again.appendTo(nil); !bytes.Equal(got, row) {
			return fmt.Errorf("wrote %x, want %x", got, row)
		}
		text, err := json.Marshal(Entry{Record: r, Held: w.Held, Forbidden: w.Forbidden})
		if err != nil {
			return err
		}
		if string(text) != export {
			return fmt.Errorf("exported %s, want %s", text, export)
		}
	}
	return nil
}

func checkGoldenHost(row []byte) error {
	var direct, byTags hostRow
	if !direct.read(row) {
		return fmt.Errorf("row %x was not read", row)
	}
	if err := cbor.Unmarshal(row, &byTags); err != nil {
		return err
	}
	for _, w := range []hostRow{direct, byTags} {
		if got, _ := w.appendTo(nil); !bytes.Equal(got, row) {
			return fmt.Errorf("wrote %x, want %x", got, row)
		}
	}
	return nil
}

func checkGoldenRobots(row []byte) error {
	var w robotsRow
	if err := cbor.Unmarshal(row, &w); err != nil {
		return err
	}
	got, err := cbor.Marshal(newRobotsRow(w.copy()))
	if err != nil || !bytes.Equal(got, row) {
		return fmt.Errorf("wrote %x, %v; want %x", got, err, row)
	}
	return nil
}
