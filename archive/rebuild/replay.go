package rebuild

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// followedUp is part of the reason of a wait that the age of a young article decided, instead of the learned interval.
const followedUp = "young article"

// cutOff is the precision of the times in a line. It is added to due times, so that no URI is visited early.
const cutOff = time.Millisecond

// facts holds what a replay needs besides the line of a visit.
type facts struct {
	Waits  evaluators.Stack
	Header http.Header // of the response, from the archive; nil = not known

	// Similar returns what the URIs of a kind on the host have in common; nil = not known.
	Similar func(rate.Kind) rate.Relatives
	Probes  *rate.Probes // of the crawl; nil = not known
}

// replayed returns the entry of a URI after one more visit, according to the visit's line in crawl.log, and what it
// says about similar URIs. Lines must come oldest first. The URI of e must be set.
//
// The result is what the crawler itself remembered, with these exceptions. Times are cut to the millisecond. Headers,
// the comparison digest and the exact place of the payload must come from the archive, see recaptured. The memory
// of a wait rule is learned again from the lines; it lacks dates of changes. Until the next visit, the digests of the
// last versions, the entries that a feed has listed and its priority are lost.
func replayed(e frontier.Entry, l crawllog.Entry, f facts) (frontier.Entry, evaluators.Lessons) {
	began := l.Began()
	extra := crawllog.Extra{}
	if l.Extra != nil {
		extra = *l.Extra
	}
	setBeginnings(&e.Record, l, extra)
	e.LastStatus, e.Forbidden = l.Status, l.Status == aspects.StatusForbidden
	if l.Schedule == nil {
		return e, evaluators.Lessons{}
	}
	if extra.WaitEvaluator == "" { // the URI was refused: no request was made
		e.Due = l.Logged.Add(l.Schedule.Wait + cutOff)
		e.Why = strings.Join(l.Annotations, ",")
		return e, evaluators.Lessons{}
	}
	v := visitOf(l, extra, e.Origin)
	v.Started = began
	if v.Body.Complete && l.Status == http.StatusOK && f.Header != nil {
		v.Body.Validators = evaluators.Lasting(f.Header)
	}
	before := e.History
	var lessons evaluators.Lessons
	e.Record = crawler.Remember(e.Record, v)
	// The counts of the line are right even if earlier lines are lost.
	e.Visits, e.Versions = l.Schedule.Visits, l.Schedule.Versions
	if v.Failed && !v.Gone {
		e.Failures = max(l.Schedule.Tries, 1)
	}
	wait := evaluators.Wait{
		Interval: l.Schedule.Wait, Evaluator: extra.WaitEvaluator, Reason: extra.WaitReason,
		Estimate: evaluators.Estimate{PerDay: extra.ChangesPerDay},
	}
	e.Why = wait.Why()
	if e.Due = extra.Due; !e.Due.IsZero() {
		e.Due = e.Due.Add(cutOff)
	}
	switch {
	case v.Failed || v.Gone:
	case replayLook(&e.History, l, wait):
	default:
		first := l.Schedule.Versions == 1 && v.State == evaluators.Changed
		decided := f.next(wait.Reason, evaluators.WaitInput{
			MIME: l.MIME, State: v.State, First: first, Previous: before.Wait, Overdue: l.Schedule.Overdue,
			Evidence: f.evidence(e.Record, before, l, first),
		})
		lessons = decided.Lessons
		e.Wait, e.Rate, e.Memory = wait.Interval, wait.PerDay, string(decided.Memory)
		if wait.Evaluator == waitInferred {
			e.Rate = decided.PerDay
		}
		if !isLearned(wait) {
			e.Wait = decided.Interval
		}
	}
	if wait.Evaluator == robots.Wait {
		e.Wait, lessons = 0, evaluators.Lessons{}
	}
	return e, lessons
}

// next returns the decision of the stack. The logged reason says whether the wait was cut for a probe.
func (f facts) next(logged string, in evaluators.WaitInput) evaluators.Wait {
	w := f.Waits.Next(in)
	if !strings.Contains(logged, evaluators.ProbeNote) {
		w.Memory = w.Memory.Marked(rate.NoProbe)
	}
	return w
}

// setBeginnings sets what a line says about how a URI became known.
func setBeginnings(r *frontier.Record, l crawllog.Entry, extra crawllog.Extra) {
	if r.FirstSeen.IsZero() {
		r.FirstSeen, r.Hops, r.Via, r.Seed = l.Began(), l.Hops, l.Via, l.Seed
	}
	if !extra.FirstSeen.IsZero() {
		r.FirstSeen = extra.FirstSeen
	}
	if !extra.Born.IsZero() {
		r.Born = extra.Born
	}
}

// evidence returns the facts of a visit that the learned rule reads.
func (f facts) evidence(r frontier.Record, before frontier.History, l crawllog.Entry, first bool) evaluators.Evidence {
	found := evaluators.Evidence{At: l.Began(), Born: r.Born, Memory: rate.Memory(before.Memory), Probes: f.Probes}
	kind := found.Memory.Kind()
	switch {
	case l.Extra.Kind > 0 && l.Extra.Kind <= math.MaxUint8:
		found.Kind = rate.Kind(l.Extra.Kind)
		kind = found.Kind
	case first && f.Header != nil && l.Status == http.StatusOK && !r.URI.IsRobots():
		found.Kind = evaluators.Traits{
			MIME: f.Header.Get("Content-Type"), Depth: strings.Count(string(r.Hops), string(uri.Link)),
			Article: !r.Born.IsZero(), Size: l.Size, Dated: f.Header.Get("Last-Modified") != "",
		}.Kind()
		kind = found.Kind
	}
	if kind != 0 && f.Similar != nil {
		found.Relatives = f.Similar(kind)
	}
	return found
}

// observation returns what a visit says about the worth of the host's validators, according to its line and the header
// of its response. conditional says whether its request had conditions. It returns false if the visit says nothing.
func observation(
	before frontier.Record, l crawllog.Entry, header http.Header, conditional bool,
) (evaluators.Observation, bool) {
	if header == nil || l.Extra == nil || l.Status != http.StatusOK || before.Status != http.StatusOK ||
		before.LastCapture.IsZero() || before.URI.IsRobots() || slices.Contains(l.Annotations, crawllog.OtherRequest) {
		return evaluators.Observation{}, false
	}
	v := visitOf(l, *l.Extra, before.Origin)
	if v.Failed || v.Gone || v.Unread || !v.Body.Complete {
		return evaluators.Observation{}, false
	}
	denied := before.Unread > 0 && before.LastStatus == http.StatusNotModified && !conditional
	return evaluators.Observation{
		MIME: header.Get("Content-Type"), Before: before.Validators, Now: evaluators.ValidatorsOf(header),
		State: v.State, Conditional: conditional, Denied: denied,
		Stale: denied && evaluators.ChangedBefore(header, l.Began().Sub(before.LastVisit)),
	}, true
}

// isLearned reports whether a logged wait is the interval that the rule decided, so that the next decision starts from
// it.
func isLearned(w evaluators.Wait) bool {
	return w.Evaluator != noise.WaitSecondLook && w.Evaluator != waitInferred && !strings.Contains(w.Reason, followedUp) &&
		!strings.Contains(w.Reason, evaluators.StretchedNote)
}

// replayLook changes a history after a second look, or a visit of a restless page. The rule learns nothing from them.
// It returns false for all other visits. What a reader saw is lost: a noisy page is found again.
func replayLook(h *frontier.History, l crawllog.Entry, w evaluators.Wait) bool {
	looked := slices.ContainsFunc(l.Annotations, func(a string) bool { return strings.HasPrefix(a, crawllog.Look) })
	h.Restless = w.Evaluator == noise.WaitRestless || w.Evaluator == noise.WaitSecondLook && h.Restless && !looked
	look := evaluators.Look{}
	if h.Restless {
		look = evaluators.Look{Finding: evaluators.Restless, Since: l.Logged.UTC().Truncate(time.Second)}
		h.Memory, h.Wait, h.Rate = "", w.Interval, noise.RestlessRate
	} else if slices.Contains(l.Annotations, crawllog.Look+evaluators.LookSame.String()) {
		look = evaluators.Look{Finding: evaluators.Live, Since: l.Logged.UTC().Truncate(time.Second)}
	}
	h.Look = look.Bytes()
	return looked || h.Restless
}

// visitOf returns the visit that a line describes. known is the record that held the payload before.
func visitOf(l crawllog.Entry, extra crawllog.Extra, known digest.Origin) crawler.PastVisit {
	v := crawler.PastVisit{
		Status: l.Status, State: stateNamed(extra.ContentState), Gone: extra.WaitEvaluator == misfortune.WaitGone,
		Unread: l.Status == http.StatusNotModified || slices.Contains(l.Annotations, crawllog.MidFetchAbort),
	}
	v.Failed = extra.Misfortune != "" || extra.ChangeReason == misfortune.Unconfirmed ||
		extra.WaitEvaluator == misfortune.WaitRetry ||
		extra.ChangeReason != "" && slices.Contains(l.Annotations, extra.ChangeReason)
	block := ""
	if slices.Contains(l.Annotations, extra.ChangeReason) {
		block = extra.ChangeReason
	}
	if v.Error = aspects.ErrorText(extra.Misfortune, block); !v.Failed {
		v.Error = ""
	}
	if v.Unread {
		return v
	}
	cut := slices.ContainsFunc(l.Annotations, func(a string) bool {
		return a == crawllog.LengthTruncated || a == crawllog.TimeTruncated
	})
	v.Body = crawler.PastBody{Complete: !cut, ContentType: l.MIME, Payload: l.Digest, Size: max(l.Size, 0)}
	v.Body.Origin = originOf(l, extra, v.Body.Size, known)
	return v
}

// originOf returns the record that holds the payload of a visit. It returns the zero value if the line names no
// record, or the known one: more is known about that one than the line holds.
func originOf(l crawllog.Entry, extra crawllog.Extra, size int64, known digest.Origin) digest.Origin {
	switch {
	case extra.RevisitProfile != "":
		date, err := time.Parse(time.RFC3339Nano, extra.RevisitRefersToDate)
		if err != nil || known.URI == extra.RevisitRefersToURI && sameMillisecond(known.Date, date) {
			return digest.Origin{}
		}
		return digest.Origin{URI: extra.RevisitRefersToURI, Date: date, Payload: l.Digest, Size: size}
	case extra.WARCFile != "":
		return digest.Origin{
			URI: l.URI, Date: l.Started, Payload: l.Digest, File: extra.WARCFile, Offset: extra.WARCOffset, Size: size,
		}
	}
	return digest.Origin{}
}

func sameMillisecond(a, b time.Time) bool {
	return a.Truncate(time.Millisecond).Equal(b.Truncate(time.Millisecond))
}

// stateNamed returns the content state of a name in crawl.log.
func stateNamed(name string) evaluators.State {
	for _, s := range []evaluators.State{evaluators.Unchanged, evaluators.Changed} {
		if s.String() == name {
			return s
		}
	}
	return evaluators.Unknown
}

// archivedRecord is a capture as the archive has it.
type archivedRecord struct {
	Origin   digest.Origin     // where it is
	Header   http.Header       // of the response
	Metadata map[string]string // the fields of its metadata record
}

// recaptured adds to a history what the archive holds about the last capture. read is the record of the last visit
// that read the whole body, and payload is the record that holds its payload. They may be the same, and each may be
// nil.
func recaptured(h frontier.History, read, payload *archivedRecord) frontier.History {
	if payload != nil {
		h.Origin = payload.Origin
		if sum := digest.ParseSHA256(payload.Metadata[crawler.PayloadSHA256]); !sum.IsZero() {
			h.Origin.Strong = sum.Half()
		}
	}
	if read == nil {
		read = payload
	}
	if read == nil {
		return h
	}
	exact := func(t time.Time) time.Time { // crawl.log has milliseconds, the archive has more
		if sameMillisecond(t, read.Origin.Date) {
			return read.Origin.Date
		}
		return t
	}
	h.LastRead, h.LastCapture = exact(h.LastRead), exact(h.LastCapture)
	h.LastChange, h.LastVisit = exact(h.LastChange), exact(h.LastVisit)
	h.Location = read.Header.Get("Location")
	h.ContentType = read.Header.Get("Content-Type")
	if h.Status == http.StatusOK {
		h.Validators = evaluators.Lasting(read.Header)
	}
	h.Comparison = comparisonIn(read.Metadata, h.Payload)
	return h
}

// comparisonIn returns the comparison digest that a visit wrote into its metadata record. Without one, the content
// was compared without scrubbing.
func comparisonIn(metadata map[string]string, payload digest.Digest) digest.Comparison {
	sum := func(name string) digest.Digest {
		d, err := digest.Parse(metadata[name])
		if err != nil {
			return digest.Digest{}
		}
		return d
	}
	if d := sum("comparisonDigest"); !d.IsZero() {
		rules, err := strconv.ParseUint(strings.TrimSpace(metadata["comparisonRules"]), 16, 64)
		if err != nil {
			return digest.Comparison{}
		}
		return digest.Comparison{Sum: d, Rules: rules}
	}
	if d := sum("contentDigest"); !d.IsZero() {
		return digest.Comparison{Sum: d}
	}
	return digest.Comparison{Sum: payload}
}

// waitInferred is the name of a wait whose rule is not known, because the visit was logged without its thirteenth
// column.
const waitInferred = "rebuild"

// inferred returns the line of a visit with the part of the thirteenth column that follows from the other columns, and
// from the entry of the URI before the visit. It returns lines that have the column, and lines without a request,
// unchanged.
//
// Unknown remain: the place of the record, and which rule decided the wait. The due time is at most some seconds too
// late, because it is counted from the end of the visit; a visit that was to follow up a feed entry can come later.
func inferred(before frontier.Entry, l crawllog.Entry) crawllog.Entry {
	if l.Extra != nil || !crawler.IsVisit(l) {
		return l
	}
	x := crawllog.Extra{WaitEvaluator: waitInferred, WaitReason: "logged without log.extra_info"}
	state := evaluators.Unknown
	if slices.Contains(l.Annotations, crawllog.Unchanged) {
		state = evaluators.Unchanged
	} else if l.Schedule.Versions > before.Versions {
		state = evaluators.Changed
	}
	x.ContentState = state.String()
	isRobots := before.URI.IsRobots()
	gone := !isRobots && (l.Status == http.StatusNotFound || l.Status == http.StatusGone)
	switch {
	case gone && state != evaluators.Unknown:
		x.WaitEvaluator = misfortune.WaitGone
	case gone:
		x.WaitEvaluator, x.ChangeReason = misfortune.WaitGone, misfortune.Unconfirmed
	case state == evaluators.Unknown && !isRead(l):
		x.WaitEvaluator, x.Misfortune = misfortune.WaitRetry, misfortuneOf(l)
	case slices.Contains(l.Annotations, crawllog.Restless):
		x.WaitEvaluator = noise.WaitRestless
	}
	if isRobots && before.Due.IsZero() {
		x.WaitEvaluator = robots.Wait // the URIs of the host ask for it when they need it
	} else {
		x.Due = l.Logged.Add(max(l.Schedule.Wait, l.AskedFor()))
	}
	l.Extra = &x
	return l
}

// isRead reports whether a visit whose content was not judged succeeded nevertheless: its body was cut at our limit,
// the headers were enough, or they contradict each other.
func isRead(l crawllog.Entry) bool {
	return slices.ContainsFunc(l.Annotations, func(a string) bool {
		return a == crawllog.LengthTruncated || a == crawllog.MidFetchAbort || a == crawllog.DuplicateNotModified ||
			a == crawllog.Unwritten
	})
}

// misfortuneOf returns the text of the annotation that says what went wrong.
func misfortuneOf(l crawllog.Entry) string {
	for _, a := range l.Annotations {
		if text, ok := strings.CutPrefix(a, "err="); ok {
			return text
		}
	}
	return ""
}
