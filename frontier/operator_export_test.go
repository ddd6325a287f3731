package frontier_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// fillAny sets every field to a nonzero value.
func fillAny(t *testing.T, r *rand.Rand, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *uri.URI:
		*x = parse(t, "http://a.example/"+string(rune('a'+r.IntN(26))))
		return
	case *time.Time:
		*x = at(time.Duration(r.IntN(1e9)+1) * time.Millisecond)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillAny(t, r, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fillAny(t, r, v.Index(i))
		}
	case reflect.String:
		v.SetString(string([]byte{byte(1 + r.IntN(127)), byte(r.IntN(256)), byte(r.IntN(256))}))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(r.Float64() + 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(1 + r.IntN(1<<30)))
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(uint64(1 + r.IntN(255)))
	case reflect.Uint64:
		v.SetUint(r.Uint64() | 1)
	default:
		t.Fatalf("fillAny cannot set a field of kind %s; add a case for it", v.Kind())
	}
}

// Every field of a record is stored and exported. The test fails for a field that was added without its tags.
func TestExportsHoldEverything(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var want frontier.Entry
		fillAny(t, r, reflect.ValueOf(&want).Elem())
		want.InProgress = false
		b, err := json.Marshal(want)
		must(t, err)
		if bytes.ContainsAny(b, "\n\r") {
			t.Fatalf("the export of an entry has more than one line: %s", b)
		}
		var got frontier.Entry
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		same(t, got, want)

		w := newWorld(t)
		if done, err := w.Import(day, false, got); err != nil || done.New != 1 {
			t.Fatal(done, err)
		}
		w.reopen(day)
		list, _, err := w.List(day, frontier.Selection{}, "", 1)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		same(t, list[0], want)
	}
}

func TestImportIsIdempotent(t *testing.T) {
	t.Parallel()
	from, to := newWorld(t), newWorld(t)
	from.add(day, pages("a.example", 100)...)
	from.add(day, pages("b.example", 3)...)
	list, _, err := from.List(day, frontier.Selection{}, "", 1000)
	must(t, err)
	list[3].Held, list[7].Forbidden = true, true
	for i, want := range []frontier.Imported{{New: 103}, {Known: 103}} {
		if got, err := to.Import(day, false, list...); err != nil || got != want {
			t.Fatalf("import %d = %+v, %v; want %+v", i+1, got, err, want)
		}
		to.reopen(day)
	}
	again, _, err := to.List(day, frontier.Selection{}, "", 1000)
	must(t, err)
	same(t, again, list)
	list[0].Visits = 77
	if got, err := to.Import(day, true, list...); err != nil || got.Replaced != 103 {
		t.Fatal(got, err)
	}
	if got := to.get(list[0].URI.String()); got.Visits != 77 {
		t.Errorf("the record was not replaced: %+v", got)
	}
}

func TestInvalidEntriesAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no URI":                `{"visits":1}`,
		"no canonical URI":      `{"uri":"ftp://a.example/"}`,
		"an unknown name":       `{"uri":"http://a.example/","vists":1}`,
		"a number too low":      `{"uri":"http://a.example/","visits":-1}`,
		"an unclear time":       `{"uri":"http://a.example/","due":"tomorrow"}`,
		"a wait without a unit": `{"uri":"http://a.example/","wait":"36"}`,
		"no digest":             `{"uri":"http://a.example/","payload":"sha1:xyz"}`,
		"no JSON":               `uri: http://a.example/`,
	} {
		var e frontier.Entry
		if err := json.Unmarshal([]byte(text), &e); err == nil {
			t.Errorf("%s: %s gave %+v", name, text, e)
		}
	}
}

func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"uri":"http://a.example/","etag":{"base64":"/w=="},"wait":"36h0m0s","comparison":{"rules":"ff"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var e, again frontier.Entry
		if json.Unmarshal(b, &e) != nil {
			return
		}
		out, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%s was read, but cannot be written: %v", b, err)
		}
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatalf("%s was written, but cannot be read: %v", out, err)
		}
		same(t, again, e)
	})
}
