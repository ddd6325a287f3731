package crawler

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// namesOf returns the names of some steps, in their order.
func namesOf[F any](steps []step[F]) string {
	names := make([]string, 0, len(steps))
	for _, s := range steps {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// TestTheDocumentsHaveTheOrder compares the table of precedence in docs/scheduling.md with the list of the crawler.
func TestTheDocumentsHaveTheOrder(t *testing.T) {
	t.Parallel()
	c := new(Crawler)
	c.aspects.rendered = notRendered{}
	o := c.listOrder()
	want := "| question | who is asked, in this order |\n|---|---|\n" +
		"| May the URI be visited now? The first who refuses ends the visit. | " + namesOf(o.gates) + " |\n" +
		"| What is sent? Each may change the request. | " + namesOf(o.askers) + " |\n" +
		"| What does the answer mean? Until one has decided. | " + namesOf(o.judges) + " |\n" +
		"| What does the content announce? All are asked. | " + namesOf(o.readers) + " |\n" +
		"| How long is the wait? The first who decides. | " + namesOf(o.waits) + " |\n" +
		"| Only after the stack: each may change its wait. | " + namesOf(o.shorten) + " |\n" +
		"| In every case: each may change the due time. | " + namesOf(o.overrule) + " |\n"
	page, err := os.ReadFile("../docs/scheduling.md")
	must(t, err)
	if !strings.Contains(string(page), want) {
		t.Errorf("docs/scheduling.md does not have the order of crawler/order.go:\n%s", want)
	}
}

func TestOnlyDamageEndsTheEviction(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := zerolog.New(&text)
	if err := reportRoom(log, 1, errors.New("the disk is full")); err != nil {
		t.Errorf("a full disk ends the eviction: %v", err)
	}
	if err := reportRoom(log, 0, frontier.ErrCorrupt); !errors.Is(err, frontier.ErrCorrupt) {
		t.Errorf("a damaged store does not end the eviction: %v", err)
	}
	if !strings.Contains(text.String(), "the disk is full") || !strings.Contains(text.String(), `"hosts":1`) {
		t.Errorf("the log has\n%s", &text)
	}
}

// TestALookupIsArchivedOnceAndWhenItChanges looks hosts up at several times.
func TestALookupIsArchivedOnceAndWhenItChanges(t *testing.T) {
	t.Parallel()
	var h resolvedHosts
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	one, two := []netip.Addr{netip.MustParseAddr("192.0.2.1")}, []netip.Addr{netip.MustParseAddr("192.0.2.2")}
	for i, c := range []struct {
		host  string
		found []netip.Addr
		after time.Duration
		want  bool
	}{
		{"a.example", one, 0, true},
		{"a.example", one, 48 * time.Hour, false},
		{"b.example", one, 48 * time.Hour, true},
		{"a.example", two, 49 * time.Hour, true},
		{"a.example", one, 49*time.Hour + time.Minute, false}, // other addresses at each look-up
		{"a.example", one, 51 * time.Hour, true},
	} {
		if got := h.Changed(c.host, c.found, now.Add(c.after)); got != c.want {
			t.Errorf("look-up %d: %t, want %t", i, got, c.want)
		}
	}
	h.Forget("a.example") // it could not be archived
	if !h.Changed("a.example", one, now.Add(51*time.Hour)) {
		t.Error("a look-up that could not be archived is not archived later")
	}
	for i := range maxHosts + 100 {
		h.Changed(fmt.Sprint(i), one, now)
	}
	if len(h.known) > maxHosts {
		t.Errorf("%d hosts are remembered, more than %d", len(h.known), maxHosts)
	}
}

func TestRecordHasTheReasonOfTheVisitAndTheWait(t *testing.T) {
	t.Parallel()
	decided := frontier.History{Visits: 3, Wait: 80 * time.Minute, Why: "^text/: changed: 2h ÷ 1.5 = 1h20m"}
	for _, c := range []struct {
		name       string
		r          frontier.Record
		want, wait string
	}{
		{"a seed, for the first time", frontier.Record{}, "seed", ""},
		{"what was found, for the first time", frontier.Record{Via: "http://a.example/"}, "new", ""},
		{"what was visited before, in signs of ASCII", frontier.Record{Via: "http://a.example/", History: decided}, "^text/: changed: 2h / 1.5 = 1h20m", "4800"},
		{"what the operator asked for before it was visited", frontier.Record{History: frontier.History{Why: "the operator asked for it"}}, "the operator asked for it", ""},
	} {
		v := &aspects.Visit{Claim: frontier.Claim{Record: c.r}, Capture: new(fetch.Capture)}
		got := map[string]string{}
		for _, f := range metadataOf(v, aspects.Kept{}) {
			got[f.Name] = f.Value
		}
		if got["visitReason"] != c.want || got["waitSec"] != c.wait {
			t.Errorf("%s: visited because of %q after %q s, want %q and %q", c.name, got["visitReason"], got["waitSec"], c.want, c.wait)
		}
	}
}

func TestOnlyJumpsOfTheClockMoveRests(t *testing.T) {
	t.Parallel()
	var k clockWatch
	start, got := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), []time.Duration{}
	for _, row := range []struct{ clock, running time.Duration }{
		{0, time.Hour},
		{time.Minute, time.Hour + time.Minute},
		{65 * time.Second, time.Hour + time.Minute}, // corrected by 5 seconds
		{6 * time.Hour, time.Hour + 2*time.Minute},
		{7 * time.Hour, 2*time.Hour + 2*time.Minute},
		{6 * time.Hour, 2 * time.Hour}, // another worker looked before
		{time.Hour, 2*time.Hour + 3*time.Minute},
	} {
		if by := k.jump(start.Add(row.clock), row.running); by != 0 {
			got = append(got, by)
		}
	}
	want := []time.Duration{6*time.Hour - 65*time.Second - time.Minute, -6*time.Hour - time.Minute}
	if !slices.Equal(got, want) {
		t.Errorf("jumps %v, want %v", got, want)
	}
}

// The clock is 40 days ahead for a day. Visits before, during and after it are compared with the time that passed.
func TestJumpsBetweenTwoVisitsAreKnown(t *testing.T) {
	t.Parallel()
	var k clockWatch
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const hour, ahead = time.Hour, 40 * 24 * time.Hour
	at := func(clock, running time.Duration) time.Time {
		k.jump(start.Add(clock), running)
		return start.Add(clock)
	}
	before := at(0, 0)
	if d := k.Jumped(before, at(hour, hour)); d != 0 {
		t.Errorf("before any jump: %v", d)
	}
	during := at(2*hour+ahead, 2*hour)
	if d := k.Jumped(before, during); d != ahead {
		t.Errorf("from before to during: %v, want %v", d, ahead)
	}
	if d := k.Jumped(during, at(3*hour+ahead, 3*hour)); d != 0 {
		t.Errorf("during: %v, want none", d)
	}
	after := at(4*hour, 4*hour)
	if d := k.Jumped(during, after); d != -ahead {
		t.Errorf("from during to after: %v, want %v", d, -ahead)
	}
	if d := k.Jumped(before, after); d != 0 {
		t.Errorf("from before to after: %v, want none", d)
	}
	if d := k.Jumped(time.Time{}, after); d != 0 {
		t.Errorf("never visited: %v", d)
	}
	for i := range time.Duration(3 * maxSpans) {
		at(4*hour+i%2*ahead+i*time.Minute, 4*hour+i*time.Minute)
	}
	if n := len(k.spans); n > maxSpans {
		t.Errorf("%d spans are remembered, more than %d", n, maxSpans)
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

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
		must(t, v.Reserve(2*gb))
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
	must(t, v.Reserve(gb))
	must(t, d.archive(noon.Add(24*time.Hour), "b.example", 0, mb))
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
	must(t, d.archive(noon, "greedy.example", gb, 800*mb))
	for n := range 120_000 {
		must(t, d.archive(noon, fmt.Sprintf("d%d.example", n), gb, 10*kb))
	}
	if n := len(d.domains); n > 50_000 {
		t.Errorf("%d domains are remembered", n)
	}
	if err := d.archive(noon, "greedy.example", gb, 200*mb); err == nil {
		t.Error("what a domain with much has used was forgotten")
	}
}
