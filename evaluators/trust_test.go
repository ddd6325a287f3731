package evaluators_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

const (
	monday  = "Mon, 02 Jan 2006 15:04:05 GMT"
	tuesday = "Tue, 03 Jan 2006 15:04:05 GMT"
	html    = "text/html; charset=utf-8"
)

var bar = evaluators.Threshold{Proof: 3, Precision: 0.98}

// The ancestors' table for one header, and what does not go into it.
func TestEachObservationGoesIntoItsFieldOfTheTable(t *testing.T) {
	t.Parallel()
	tag := func(s string) evaluators.Validators { return evaluators.Validators{ETag: s} }
	for _, row := range []struct {
		name string
		see  evaluators.Observation
		of   evaluators.Witness
		want evaluators.Standing
	}{
		{
			"same ETag, same body: no change, rightly",
			evaluators.Observation{Before: tag(`"a"`), Now: tag(`"a"`), State: evaluators.Unchanged},
			evaluators.WitnessETag,
			evaluators.Standing{SameRight: 1, Known: 1},
		},
		{
			"same ETag, other body: no change, falsely",
			evaluators.Observation{Before: tag(`"a"`), Now: tag(`"a"`), State: evaluators.Changed},
			evaluators.WitnessETag,
			evaluators.Standing{SameWrong: 1, Known: 1, Recent: 1},
		},
		{
			"other ETag, other body: change, rightly",
			evaluators.Observation{Before: tag(`"a"`), Now: tag(`"b"`), State: evaluators.Changed},
			evaluators.WitnessETag,
			evaluators.Standing{ChangeRight: 1},
		},
		{
			"other ETag, same body: change, falsely",
			evaluators.Observation{Before: tag(`"a"`), Now: tag(`"b"`), State: evaluators.Unchanged},
			evaluators.WitnessETag,
			evaluators.Standing{ChangeWrong: 1},
		},
		{
			"no ETag any more is missing",
			evaluators.Observation{Before: tag(`"a"`), State: evaluators.Unchanged},
			evaluators.WitnessETag,
			evaluators.Standing{Missing: 1},
		},
		{
			"an ETag that nothing is remembered of predicts nothing",
			evaluators.Observation{Now: tag(`"a"`), State: evaluators.Unchanged},
			evaluators.WitnessETag,
			evaluators.Standing{},
		},
		{
			"a weak ETag is compared weakly and is a witness of its own",
			evaluators.Observation{Before: tag(`W/"a"`), Now: tag(`"a"`), State: evaluators.Changed},
			evaluators.WitnessWeakETag,
			evaluators.Standing{SameWrong: 1, Known: 1, Recent: 1},
		},
		{
			"an unknown state says nothing",
			evaluators.Observation{Before: tag(`"a"`), Now: tag(`"a"`)},
			evaluators.WitnessETag,
			evaluators.Standing{},
		},
		{
			"a conditional request that told of a change",
			evaluators.Observation{State: evaluators.Changed, Conditional: true},
			evaluators.WitnessNotModified,
			evaluators.Standing{ChangeRight: 1},
		},
		{
			"an audit that found what the 304 had said",
			evaluators.Observation{State: evaluators.Unchanged, Denied: true},
			evaluators.WitnessNotModified,
			evaluators.Standing{SameRight: 1, Known: 1},
		},
		{
			"an audit that found a change which may be newer than the 304",
			evaluators.Observation{State: evaluators.Changed, Denied: true},
			evaluators.WitnessNotModified,
			evaluators.Standing{Doubts: 1},
		},
		{
			"an audit that found a change older than the 304",
			evaluators.Observation{State: evaluators.Changed, Denied: true, Stale: true},
			evaluators.WitnessNotModified,
			evaluators.Standing{SameWrong: 1, Known: 1, Recent: 1},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.see.MIME = html
			got := evaluators.Reputation{}.After(row.see)
			if s := got[evaluators.ClassText][row.of]; s != row.want {
				t.Errorf("got %+v, want %+v", s, row.want)
			}
			if got[evaluators.ClassOther] != (evaluators.Reputation{})[evaluators.ClassOther] {
				t.Error("a page of text changed the reputation of other types")
			}
		})
	}
}

func visits(r evaluators.Reputation, n int, o evaluators.Observation) evaluators.Reputation {
	for range n {
		r = r.After(o)
	}
	return r
}

func TestAWitnessIsBelievedOnceProvenAndUntilItIsWrong(t *testing.T) {
	t.Parallel()
	same := evaluators.Validators{LastModified: monday}
	right := evaluators.Observation{MIME: html, Before: same, Now: same, State: evaluators.Unchanged}
	lie := evaluators.Observation{MIME: html, Before: same, Now: same, State: evaluators.Changed}
	doubted := func(r evaluators.Reputation) bool { return r.Doubts(html, bar)[evaluators.WitnessLastModified] }

	static := evaluators.Reputation{}
	if !doubted(visits(static, 11, right)) || doubted(visits(static, 12, right)) {
		t.Error("a witness that never told of a change must be right twelve times, not three")
	}
	told := evaluators.Observation{
		MIME: html, Before: same, Now: evaluators.Validators{LastModified: tuesday}, State: evaluators.Changed,
	}
	r := visits(evaluators.Reputation{}.After(told), 2, right)
	if !doubted(r) {
		t.Error("believed after two right predictions, three are asked for")
	}
	r = visits(r, 1, right)
	if doubted(r) {
		t.Error("doubted after three right predictions")
	}
	if !r.Doubts("image/png", bar)[evaluators.WitnessLastModified] {
		t.Error("believed about images because of pages")
	}
	if !doubted(visits(r, 1, lie)) {
		t.Error("believed though one of four predictions was a lie")
	}
	r = visits(r, 1000, right)
	if doubted(visits(r, 1, lie)) || !doubted(visits(r, 2, lie)) {
		t.Error("a long honest witness must fall with the second lie, however long it was honest")
	}
	if r = visits(visits(r, 2, lie), 63, right); doubted(r) {
		t.Error("a witness that was corrected does not regain its standing")
	}
	if (evaluators.Reputation{}).Doubts(html, evaluators.Threshold{}) != (evaluators.Doubts{}) {
		t.Error("without a bar somebody is doubted")
	}
}

func TestAServerThatAlwaysSays304IsDoubtedAfterTheSecondAudit(t *testing.T) {
	t.Parallel()
	found := evaluators.Observation{MIME: html, State: evaluators.Changed, Denied: true}
	told := evaluators.Observation{MIME: html, State: evaluators.Changed, Conditional: true}
	fallen := func(r evaluators.Reputation) bool { return r.Doubts(html, bar)[evaluators.WitnessNotModified] }
	r := visits(evaluators.Reputation{}, 1, found)
	if fallen(r) {
		t.Error("one audit that finds a change is no proof of a lie")
	}
	if fallen(visits(r.After(told), 1, found)) {
		t.Error("fallen though a conditional request between the audits told of a change")
	}
	r = visits(r, 1, found)
	if !fallen(r) {
		t.Fatal("two audits in a row found changes that no 304 told of, and it is still believed")
	}
	if got := (evaluators.Midfetch{Doubted: r.Doubts(html, bar)}).Conditions(evaluators.Validators{ETag: `"a"`}); got != (evaluators.Validators{}) {
		t.Errorf("conditions %+v are sent to a server whose 304 is not believed", got)
	}
	quiet := evaluators.Observation{MIME: html, State: evaluators.Unchanged}
	if fallen(visits(r, 64, quiet)) {
		t.Error("it never gets another chance")
	}
}

func TestADoubtedValidatorIsNeitherBelievedNorSent(t *testing.T) {
	t.Parallel()
	both := evaluators.Validators{ETag: `"a"`, LastModified: monday}
	weak := evaluators.Validators{ETag: `W/"a"`, LastModified: monday}
	etag := evaluators.Doubts{evaluators.WitnessETag: true}
	for _, row := range []struct {
		name        string
		m           evaluators.Midfetch
		before, now evaluators.Validators
		unchanged   bool
		sent        evaluators.Validators
	}{
		{"a doubted ETag leaves the date to decide", evaluators.Midfetch{Doubted: etag}, both, both, true, evaluators.Validators{LastModified: monday}},
		{"a doubted ETag that differs still shows a change", evaluators.Midfetch{Doubted: etag}, both, evaluators.Validators{
			ETag: `"b"`, LastModified: monday,
		}, false, evaluators.Validators{LastModified: monday}},
		{"nobody is left who could vouch", evaluators.Midfetch{
			DecideBy: evaluators.ETag, Doubted: etag,
		}, both, both, false, evaluators.Validators{}},
		{"doubt of strong ETags does not apply to weak ones", evaluators.Midfetch{
			DecideBy: evaluators.ETag, Doubted: etag,
		}, weak, weak, true, evaluators.Validators{ETag: `W/"a"`}},
		{"either uses the one that is believed", evaluators.Midfetch{
			DecideBy: evaluators.Either, Doubted: etag,
		}, both, both, true, evaluators.Validators{LastModified: monday}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got, why := row.m.Unchanged(row.before, row.now); got != row.unchanged {
				t.Errorf("unchanged = %t (%s)", got, why)
			}
			if got := row.m.Conditions(row.before); got != row.sent {
				t.Errorf("sent %+v, want %+v", got, row.sent)
			}
		})
	}
}

func TestContradictsFindsA304WithAnotherETag(t *testing.T) {
	t.Parallel()
	before := evaluators.Validators{ETag: `"a"`, LastModified: monday}
	date, tag := evaluators.Validators{LastModified: monday}, evaluators.Validators{ETag: `"a"`}
	var m evaluators.Midfetch
	if !m.Contradicts(date, before, evaluators.Validators{ETag: `"b"`}) {
		t.Error("a 304 to a date with another ETag is believed")
	}
	if m.Contradicts(date, before, evaluators.Validators{ETag: `W/"a"`}) || m.Contradicts(tag, before, evaluators.Validators{ETag: `"a-gzip"`}) {
		t.Error("a 304 with the same ETag in its weak form, or to an ETag that was asked about, is taken for a contradiction")
	}
}

// Lots are spread evenly; the share that is drawn is measured over ten thousand of them.
func TestAuditsAreMoreFrequentAfterAnErrorAndFewerAsEvidenceGrows(t *testing.T) {
	t.Parallel()
	same := evaluators.Validators{LastModified: monday}
	right := evaluators.Observation{MIME: html, Before: same, Now: same, State: evaluators.Unchanged}
	lie := evaluators.Observation{MIME: html, Before: same, Now: same, State: evaluators.Changed}
	a := evaluators.Audit{Share: 0.01}
	share := func(r evaluators.Reputation) int {
		n := 0
		for i := range uint64(10_000) {
			if due, _ := a.Due(r, evaluators.Visit{MIME: html, Random: i * (1 << 63 / 5_000)}); due {
				n++
			}
		}
		return n
	}
	honest := visits(evaluators.Reputation{}, 64, right)
	for name, row := range map[string]struct {
		r    evaluators.Reputation
		want int
	}{
		"nothing known":     {evaluators.Reputation{}, 300},
		"long known honest": {honest, 100},
		"after a lie":       {honest.After(lie), 1000},
	} {
		if got := share(row.r); got < row.want-2 || got > row.want+2 {
			t.Errorf("%s: %d of 10,000 visits are audits, want %d", name, got, row.want)
		}
	}
}

func TestNoBodyStaysUnreadBeyondTheLimits(t *testing.T) {
	t.Parallel()
	a := evaluators.Audit{Every: 5, Within: 24 * time.Hour}
	for _, row := range []struct {
		name string
		v    evaluators.Visit
		want bool
	}{
		{"the fourth visit in a row", evaluators.Visit{Unread: 4}, false},
		{"the fifth visit in a row", evaluators.Visit{Unread: 5}, true},
		{"a day after the last reading", evaluators.Visit{Unread: 1, Since: 24 * time.Hour}, true},
		{"a day after the last reading, with none unread", evaluators.Visit{Since: 24 * time.Hour}, false},
	} {
		row.v.Random = 1<<64 - 1
		if got, _ := a.Due(evaluators.Reputation{}, row.v); got != row.want {
			t.Errorf("%s: %t, want %t", row.name, got, row.want)
		}
	}
	if due, _ := (evaluators.Audit{}).Due(evaluators.Reputation{}, evaluators.Visit{Unread: 1 << 30}); due {
		t.Error("the zero value audits")
	}
}

func TestDatesAreComparedOnlyWithTheServersOwn(t *testing.T) {
	t.Parallel()
	h := http.Header{"Last-Modified": {monday}, "Date": {tuesday}}
	if !evaluators.ChangedBefore(h, 23*time.Hour) || evaluators.ChangedBefore(h, 25*time.Hour) ||
		evaluators.ChangedBefore(http.Header{}, 0) {
		t.Error("the age of a change is not what Date and Last-Modified say")
	}
	if got := evaluators.Lasting(h); got.LastModified != monday {
		t.Errorf("a date of yesterday is not kept: %+v", got)
	}
	h.Set("Date", monday)
	if got := evaluators.Lasting(h); got.LastModified != "" {
		t.Errorf("a date of this very second is kept: %+v", got)
	}
}

func TestClassesOfTypes(t *testing.T) {
	t.Parallel()
	for mime, want := range map[string]evaluators.Class{
		"text/html": evaluators.ClassText, "TEXT/CSS; charset=x": evaluators.ClassText, "application/rss+xml": evaluators.ClassText,
		"application/json": evaluators.ClassText, "application/javascript": evaluators.ClassText,
		"image/svg+xml": evaluators.ClassOther, "image/png": evaluators.ClassOther, "": evaluators.ClassOther, "application/pdf": evaluators.ClassOther,
	} {
		if got := evaluators.ClassOf(mime); got != want {
			t.Errorf("%q is %s, want %s", mime, got, want)
		}
	}
}
