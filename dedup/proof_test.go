package dedup_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
)

// An index of an earlier version has ten entries. The record of one is not a response, and another file is elsewhere.
func TestEntriesOfOtherRecordsAreRefused(t *testing.T) {
	t.Parallel()
	db := openStore(t, t.TempDir())
	old := openIndex(t, db)
	const records, bad, away = 10, 4, 7
	key := func(n int) dedup.Key {
		return dedup.Key{Payload: digest.Of([]byte(fmt.Sprint("payload", n))), Status: 200, MIME: "text/html"}
	}
	o := func(n int) digest.Origin { return origin(fmt.Sprint("payload", n), n) }
	for n := range records {
		if err := old.Put(key(n), o(n)); err != nil {
			t.Fatal(err)
		}
	}
	reads := 0
	open := func() *dedup.Index {
		i, err := dedup.Open(db, dedup.Options{Name: withoutWWW, IsOrigin: func(o digest.Origin) (bool, error) {
			if reads++; o.Offset == away {
				return false, errors.New("no such file")
			}
			return o.Offset != bad, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	i := open()
	want(t, i, key(bad), digest.Origin{}) // before anything was proven
	want(t, i, key(3), o(3))
	want(t, i, key(away), o(away))
	refused, more, err := i.Prove(4)
	if err != nil || !more {
		t.Fatalf("there is more: %t, %v", more, err)
	}
	i = open() // the next start continues
	for more {
		var again []digest.Origin
		if again, more, err = i.Prove(4); err != nil {
			t.Fatal(err)
		}
		refused = append(refused, again...)
	}
	if len(refused) != 1 || refused[0].Offset != bad {
		t.Errorf("refused %v, want the record at %d", refused, bad)
	}
	if err := i.FinishProof(); err != nil {
		t.Fatal(err)
	}
	i, reads = open(), 0
	for n := range records {
		if n == bad {
			want(t, i, key(n), digest.Origin{})
			continue
		}
		want(t, i, key(n), o(n))
	}
	if !i.Lost(o(bad)) || i.Lost(o(1)) || reads != 0 {
		t.Errorf("after the proof: the record is refused: %t, %d records were read", i.Lost(o(bad)), reads)
	}
	if err := i.Put(key(bad), origin(fmt.Sprint("payload", bad), 99)); err != nil {
		t.Fatal(err)
	}
	want(t, i, key(bad), origin(fmt.Sprint("payload", bad), 99))
}

func TestFalseOriginsAreFoundWithoutAChange(t *testing.T) {
	t.Parallel()
	i := openIndex(t, openStore(t, t.TempDir()))
	for n := range 3 {
		k := dedup.Key{Payload: digest.Of([]byte(fmt.Sprint(n))), Status: 200}
		if err := i.Put(k, origin(fmt.Sprint(n), n)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := i.FalseOrigins(t.Context(), 10, func(o digest.Origin) (bool, error) { return o.Offset != 1, nil })
	if err != nil || len(found) != 1 || found[0].Offset != 1 || i.Lost(found[0]) {
		t.Errorf("found %v, %v; want the record at 1, which stays in the index", found, err)
	}
}
