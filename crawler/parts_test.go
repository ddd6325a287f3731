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
	if err != nil {
		t.Fatal(err)
	}
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

func TestRecordHasTheReasonOfTheVisit(t *testing.T) {
	t.Parallel()
	decided := frontier.History{Visits: 3, Why: "^text/: changed: 2h ÷ 1.5 = 1h20m"}
	for _, c := range []struct {
		name string
		r    frontier.Record
		want string
	}{
		{"a seed, for the first time", frontier.Record{}, "seed"},
		{"what was found, for the first time", frontier.Record{Via: "http://a.example/"}, "new"},
		{"what was visited before, in signs of ASCII", frontier.Record{Via: "http://a.example/", History: decided}, "^text/: changed: 2h / 1.5 = 1h20m"},
		{"what the operator asked for before it was visited", frontier.Record{History: frontier.History{Why: "the operator asked for it"}}, "the operator asked for it"},
	} {
		v := &aspects.Visit{Claim: frontier.Claim{Record: c.r}, Capture: new(fetch.Capture)}
		got := ""
		for _, f := range metadataOf(v, aspects.Kept{}) {
			if f.Name == "visitReason" {
				got = f.Value
			}
		}
		if got != c.want {
			t.Errorf("%s: visited because of %q, want %q", c.name, got, c.want)
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
