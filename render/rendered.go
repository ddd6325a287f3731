package render

import (
	"encoding/binary"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
)

// Aspect lets the text that a browser shows decide about the next visit of a page, with change.of = "rendered".
//
// A visit is judged, archived, logged and scheduled by the source of the page, as always. Its report holds [Facts]:
// what its wait followed from. When a browser has rendered the capture, [Facts.Decide] compares the text with the one
// of the rendering before. If the text says something else than the source, the wait is decided again, by the same rule
// and from the same facts. Without a rendering the source has decided.
type Aspect struct{}

// Facts holds what the wait after a visit followed from.
type Facts struct {
	input   evaluators.WaitInput
	from    time.Time // the wait counts from then
	why     string    // of the wait
	changed time.Time // when the page had changed last, before the visit
	counted bool      // the visit counted a version
}

// After returns the [Facts] of a visit.
func (Aspect) After(v *aspects.Visit, from time.Time) any {
	return &Facts{
		input: v.Next.Input, from: from, why: v.Next.Wait.Why(), changed: v.Record().LastChange,
		counted: v.Verdict.State == evaluators.Changed,
	}
}

// Decide notes in r the text that a browser showed, and decides again when to visit the page if the text says something
// else than the source did. It returns what the text says; a first one says nothing. v is the visit whose capture was
// rendered. The schedule stays if the page was visited again since, or if v is nil.
func (v *Facts) Decide(r *frontier.Record, text digest.Comparison, s *config.Settings) evaluators.State {
	known, ok := read(r.Rendered)
	verdict := evaluators.ChangeEvaluator{Tolerance: config.Own[noise.Options](s).Tolerance}.Judge(
		evaluators.Before{Known: ok, Status: http.StatusOK, Comparison: known.text},
		evaluators.Seen{Status: http.StatusOK, Comparison: text, Complete: true})
	state := verdict.State
	if verdict.First {
		state = evaluators.Unknown
	}
	if !verdict.Near {
		known.text = text
	}
	known.state = state
	r.Rendered = known.bytes()
	same := v != nil && r.LastVisit.Sub(v.input.At).Abs() < time.Millisecond
	if same && state != evaluators.Unknown && (state != v.input.State || v.counted != (state == evaluators.Changed)) {
		v.reschedule(r, state, s)
	}
	return state
}

// decided ends the reason of a wait that the rendered text decided.
const decided = "; the rendered text decided"

// reschedule decides about the next visit with another content state. The due time stays if something else than the
// rule has decided about it, such as a feed or the operator.
func (v *Facts) reschedule(r *frontier.Record, state evaluators.State, s *config.Settings) {
	switch changed := state == evaluators.Changed; {
	case changed && !v.counted:
		r.Versions++
		r.LastChange = v.input.At
	case !changed && v.counted && r.Versions > 1:
		r.Versions--
		r.LastChange = v.changed
	}
	in := v.input
	in.State = state
	w := s.Wait.Next(in)
	r.Wait, r.Rate, r.Memory = w.Asked(), w.PerDay, string(w.Memory)
	if r.Prompt || r.Why == "" || !strings.HasPrefix(v.why, r.Why) {
		return
	}
	r.Due = v.from.Add(w.Interval)
	r.Why = w.Why()
	r.Why = r.Why[:min(len(r.Why), frontier.MaxWhy-len(decided))] + decided
}

// annotation is followed by what the text said: changed or unchanged.
const annotation = "rendered:"

// Note appends the annotation of the next visit about what the rendered text said; none if it said nothing.
func (Aspect) Note(v *aspects.Visit, notes []string) []string {
	if known, ok := read(v.Record().Rendered); ok && known.state != evaluators.Unknown {
		notes = append(notes, annotation+known.state.String())
	}
	return notes
}

// Settle notes in r, after a visit, that the text of the rendering before has been reported.
func (Aspect) Settle(r *frontier.Record) {
	if known, ok := read(r.Rendered); ok && known.state != evaluators.Unknown {
		known.state = evaluators.Unknown
		r.Rendered = known.bytes()
	}
}

// stored holds what is remembered of the last rendering.
type stored struct {
	state evaluators.State // what the text said, until the next visit has logged it
	text  digest.Comparison
}

// format begins the stored bytes. Their length is fixed; more may follow in a later version.
const (
	format = 1
	length = 2 + len(digest.Digest{}) + 8 + 8
)

func (k stored) bytes() string {
	b := append(make([]byte, 0, length), format, byte(k.state))
	b = append(b, k.text.Sum[:]...)
	b = binary.BigEndian.AppendUint64(b, k.text.Rules)
	return string(binary.BigEndian.AppendUint64(b, k.text.Sketch))
}

// read reads the result of bytes. It reports false if there was no rendering.
func read(bytes string) (k stored, ok bool) {
	if len(bytes) < length || bytes[0] != format || bytes[1] > byte(evaluators.Changed) {
		return k, false
	}
	b := []byte(bytes)
	k.state = evaluators.State(b[1])
	b = b[2:]
	b = b[copy(k.text.Sum[:], b):]
	k.text.Rules, k.text.Sketch = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	return k, true
}
