package crawler

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/warcout"
)

// Keeping is what a visit left in the archive.
type Keeping uint8

// What a visit can leave.
const (
	KeptNothing     Keeping = iota // no byte came back, or nothing that is not in the archive already
	KeptResponse                   // the whole response
	KeptRevisit                    // a revisit record: the payload is in the archive already
	KeptNotModified                // a revisit record: the server said 304
	KeptHead                       // the response's head alone, in a metadata record
	KeptThinned                    // nothing: a revisit record would have been true, and the settings do not want it
)

// String is a word for people.
func (k Keeping) String() string {
	return [...]string{"nothing", "response", "revisit", "not modified", "head", "thinned"}[k]
}

// kept is what the archive now holds of a visit.
type kept struct {
	keeping Keeping
	record  digest.Origin // the main record written; zero for KeptNothing
	origin  digest.Origin // the record that holds the payload: record itself for a response, an earlier one for a revisit
	written int64         // compressed bytes
	looked  bool          // for the payload in the archive
	hit     dedup.Hit     // what was found of it, whatever came of it
	unsound bool          // what was found is not what it should be
}

// keep decides what a visit leaves in the archive, and writes it. On return it is on disk.
func (c *Crawler) keep(v visit, s config.Settings) (kept, error) {
	k, err := c.decide(v, s)
	if err != nil || k.keeping == KeptNothing || k.keeping == KeptThinned {
		return k, err
	}
	w, err := c.rooms.Archive.Write(time.Now(), c.toArchive(v, k))
	if err != nil {
		return kept{}, err
	}
	k.record, k.written = w.Origin, w.Bytes
	if k.keeping == KeptResponse && v.capture.Complete {
		k.origin = w.Origin
	}
	return k, nil
}

// decide finds the smallest true record of a visit.
func (c *Crawler) decide(v visit, s config.Settings) (kept, error) {
	r, got := v.record(), v.capture
	switch {
	case got.Status == statusNotModified && !v.failed:
		return thin(v, s.Dedup, kept{keeping: KeptNotModified, origin: r.Origin}), nil
	case got.Stopped, got.Status < 0 && len(got.Head) > 0:
		return kept{keeping: KeptHead}, nil
	case got.Status < 0:
		return kept{keeping: KeptNothing}, nil
	case !got.Complete:
		return kept{keeping: KeptResponse}, nil
	}
	k, err := c.duplicate(v, s.Dedup)
	k.looked = covers(v, s.Dedup) && got.PayloadSize > 0
	if err != nil || k.keeping != KeptNothing {
		return thin(v, s.Dedup, k), err
	}
	if v.verdict.State == evaluators.Unchanged && !v.verdict.First && !repeats(v) && !wanted(v, s.Change) {
		// The same content in another coding, gzip with another time stamp for one, or with other parts that do not count:
		// there is nothing new to keep, and no revisit record may claim a payload digest that the original does not have.
		return kept{keeping: KeptNothing, looked: k.looked}, nil
	}
	return kept{keeping: KeptResponse, looked: k.looked}, nil
}

// wanted reports whether the settings want a payload archived that differs from the archived one only in what does not
// count.
func wanted(v visit, s config.Change) bool {
	keep := s.KeepScrubbed
	if s.Mode == config.Strict || !keep.Response {
		return false
	}
	return keep.Every == 0 || v.capture.Started.Sub(v.record().Origin.Date) >= keep.Every
}

// toArchive puts a visit into the archive's terms.
func (c *Crawler) toArchive(v visit, k kept) warcout.Visit {
	got := v.capture
	w := warcout.Visit{URI: v.uri(), Date: got.Started, IP: got.IP, Request: got.Request, Metadata: metadata(v)}
	switch k.keeping {
	case KeptResponse:
		w.Response = &warcout.Response{
			Block: got.Block(), Size: got.BlockSize, BlockDigest: got.BlockDigest,
			PayloadSize: got.PayloadSize, PayloadDigest: got.PayloadDigest, Truncated: string(got.Truncated),
		}
	case KeptRevisit:
		w.Revisit = &warcout.Revisit{Profile: warcout.IdenticalPayload, Head: got.Head, Origin: k.origin}
	case KeptNotModified:
		w.Revisit = &warcout.Revisit{
			Profile: warcout.NotModified, Origin: k.origin,
			ETag: got.Header.Get("ETag"), LastModified: got.Header.Get("Last-Modified"),
		}
		w.Head = got.Head
	case KeptHead:
		w.Head = got.Head
	}
	return w
}

// metadata is what the exchange itself does not tell: how the URI was found and what the visit meant. The first names
// are those that Heritrix writes, for the tools that know them.
func metadata(v visit) []warcout.Field {
	r, got := v.record(), v.capture
	fields := []warcout.Field{
		{Name: "seed", Value: r.Seed},
		{Name: "via", Value: r.Via},
		{Name: "hopsFromSeed", Value: string(r.Hops)},
		{Name: "visitReason", Value: inASCII(visitReason(r))},
		{Name: "fetchTimeMs", Value: strconv.FormatInt(got.Took.Milliseconds(), 10)},
		{Name: "contentState", Value: v.verdict.State.String()},
		{Name: "contentStateReason", Value: inASCII(v.verdict.Reason)},
	}
	if v.block != "" {
		fields = append(fields, warcout.Field{Name: "standsIn", Value: v.block})
	}
	if got.Stopped {
		fields = append(fields, warcout.Field{Name: "midFetchAbort", Value: "true"})
	}
	if v.compared.Rules != 0 {
		fields = append(fields, warcout.Field{Name: "comparisonDigest", Value: v.compared.Sum.String()},
			warcout.Field{Name: "comparisonRules", Value: strconv.FormatUint(v.compared.Rules, 16)})
	}
	if got.Misfortune != nil {
		fields = append(fields, warcout.Field{Name: "misfortune", Value: got.Misfortune.Error()})
	}
	if !got.ContentDigest.IsZero() && got.ContentDigest != got.PayloadDigest {
		fields = append(fields, warcout.Field{Name: "contentDigest", Value: got.ContentDigest.String()})
	}
	kept := fields[:0]
	for _, f := range fields {
		if strings.TrimSpace(f.Value) != "" {
			kept = append(kept, f)
		}
	}
	return kept
}

// signs are what reasons are written with in the archive, in place of signs that are not ASCII. Its records are read for longer than
// anybody guesses encodings right, and such short plain ones have a code of their own (see warcout).
var signs = strings.NewReplacer("×", "x", "÷", "/", "→", "->")

// inASCII is a reason as it stands in the archive.
func inASCII(reason string) string {
	for i := range len(reason) {
		if reason[i] >= utf8.RuneSelf {
			return signs.Replace(reason)
		}
	}
	return reason // as nearly all are; the replacer would copy it
}

// visitReason says why a URI was visited now: what decided about its due time.
func visitReason(r frontier.Record) string {
	switch {
	case r.Visits == 0 && r.Via == "" && r.Why == "":
		return "seed"
	case r.Visits == 0 && r.Why == "":
		return "new"
	}
	return r.Why
}

// tellIndex tells the index of the archive of a new capture.
func (c *Crawler) tellIndex(v visit, k kept) {
	_, revisit := k.keeping.profile()
	if c.rooms.Index == nil || k.keeping != KeptResponse && !revisit {
		return
	}
	one := Captured{Record: k.record, Status: v.capture.Status, ContentType: v.capture.Header.Get("Content-Type"), Revisit: revisit}
	if k.keeping == KeptNotModified {
		one.Status, one.ContentType = 0, "" // its head is evidence, in a record of its own
	}
	if err := c.rooms.Index(one); err != nil {
		c.rooms.Log.Error().Err(err).Msg("the index of the archive is behind; it is made good at the next start")
	}
}
