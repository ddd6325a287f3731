package crawler

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/uri"
)

const (
	kb = int64(1e3)
	mb = int64(1e6)
	gb = int64(1e9)
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// disk is a disk with a number of free bytes, of which 1 GB must stay free.
type disk struct {
	spaceLedger
	free int64
	log  strings.Builder
}

func newDisk(free int64) *disk {
	d := &disk{free: free}
	d.freeSpace, d.minFree = func() (int64, error) { return d.free, nil }, func() int64 { return gb }
	d.spaceLedger.log = zerolog.New(&d.log)
	return d
}

func (d *disk) begin(now time.Time, host string, quota int64) *spaceVisit {
	return d.Begin(now, uri.FromCanonical("http://"+host+"/"), quota)
}

// archive makes a visit that archives a body of n bytes.
func (d *disk) archive(now time.Time, host string, quota, n int64) error {
	v := d.begin(now, host, quota)
	err := v.Reserve(n)
	if err == nil {
		d.free -= n
		v.Wrote(n)
	} else {
		v.Wrote(kb) // its head
	}
	v.End()
	return err
}

func TestReservationsCannotFillTheDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(101 * gb)
	granted := int64(0)
	for n := range 100 { // bodies of a hundred domains at the same time
		v := d.begin(noon, fmt.Sprintf("big%d.example", n), 0)
		for v.Reserve(gb) == nil {
			granted += gb
		}
	}
	// Each byte is on disk three times: as received, compressed, and in the WARC file.
	if granted > 100*gb/3 || granted < 30*gb {
		t.Errorf("%d bytes were granted, want 33 GB of the 100 that are free", granted)
	}
	if err := d.begin(noon, "healthy.example", 0).Reserve(smallBody); err != nil {
		t.Errorf("a small body was refused: %v", err)
	}
}

func TestAReservationEndsWithItsVisit(t *testing.T) {
	t.Parallel()
	d := newDisk(11 * gb)
	for range 100 {
		v := d.begin(noon, "big.example", 0)
		if err := v.Reserve(2 * gb); err != nil {
			t.Fatal(err)
		}
		v.End() // for example because the payload was a duplicate
		v.End()
	}
	if n := d.Reserved(); n != 0 {
		t.Errorf("%d bytes are reserved, want none", n)
	}
}

func TestADomainMayNotTakeTheWholeDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(101 * gb)
	taken := int64(0)
	for n := 0; d.archive(noon, fmt.Sprintf("h%d.greedy.example", n), 0, 100*mb) == nil; n++ {
		taken += 100 * mb
	}
	if taken < 24*gb || taken > 25*gb {
		t.Errorf("a domain took %d bytes, want a quarter of the 100 GB that were free", taken)
	}
	if err := d.archive(noon, "h.greedy.example", 0, 50*kb); err != nil {
		t.Errorf("a page of the domain was refused: %v", err)
	}
	if err := d.archive(noon, "healthy.example", 0, gb); err != nil {
		t.Errorf("another domain was refused: %v", err)
	}
	if lines := strings.Count(d.log.String(), "\n"); lines != 1 {
		t.Errorf("%d lines of log, want one:\n%s", lines, d.log.String())
	}
}

func TestADomainHasAQuotaForEachDay(t *testing.T) {
	t.Parallel()
	d := newDisk(1000 * gb)
	const quota = gb
	use := func(now time.Time, n int64) (total int64) {
		for total < 10*gb {
			if err := d.archive(now, "news.example", quota, n); err != nil {
				if !errors.Is(err, errBodyRefused) || !strings.Contains(err.Error(), "fetch.max_per_day") {
					t.Fatal(err)
				}
				return total
			}
			total += n
		}
		return total
	}
	if n := use(noon, mb); n < 890*mb || n > 900*mb {
		t.Errorf("large bodies of %d bytes were archived, want nine tenths of the quota", n)
	}
	if n := use(noon, 100*kb); n < 99*mb || n > 100*mb {
		t.Errorf("then small bodies of %d bytes were archived, want the last tenth", n)
	}
	if n := use(noon.Add(11*time.Hour), mb); n != 0 {
		t.Errorf("%d bytes were archived later that day, want none", n)
	}
	if n := use(noon.Add(12*time.Hour), mb); n < 890*mb || n > 900*mb {
		t.Errorf("%d bytes were archived on the next day, want nine tenths of the quota", n)
	}
}

// A domain with bodies in progress keeps their reservations at midnight.
func TestReservationsSurviveMidnight(t *testing.T) {
	t.Parallel()
	d := newDisk(1000 * gb)
	v := d.begin(noon, "a.example", 0)
	if err := v.Reserve(gb); err != nil {
		t.Fatal(err)
	}
	if err := d.archive(noon.Add(24*time.Hour), "b.example", 0, mb); err != nil {
		t.Fatal(err)
	}
	if d.Reserved() != gb {
		t.Errorf("%d bytes are reserved, want 1 GB", d.Reserved())
	}
	v.End()
	if d.Reserved() != 0 {
		t.Errorf("%d bytes are reserved after the end, want none", d.Reserved())
	}
}

func TestTheLedgerIsBounded(t *testing.T) {
	t.Parallel()
	d := newDisk(1000 * gb)
	if err := d.archive(noon, "greedy.example", gb, 800*mb); err != nil {
		t.Fatal(err)
	}
	for n := range 120_000 {
		if err := d.archive(noon, fmt.Sprintf("d%d.example", n), gb, 10*kb); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(d.domains); n > 50_000 {
		t.Errorf("%d domains are remembered", n)
	}
	if err := d.archive(noon, "greedy.example", gb, 200*mb); err == nil {
		t.Error("what a domain with much has used was forgotten")
	}
}
