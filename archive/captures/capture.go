package captures

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// Capture is one capture of a URI, as read from its records.
type Capture struct {
	index.Entry
	Date     time.Time // to the microsecond, if the record has it
	Type     string    // response, revisit or resource
	RecordID string
	Profile  string // of a revisit: "identical-payload-digest" or "server-not-modified"
	RefersTo Reference
	Size     int64        // bytes of the payload in this record; 0 for a revisit
	Framing  string       // how the record holds the payload, see [warc.Record]
	Why      []warc.Field // the metadata record of the visit: why it was made and what it found

	// Damage is set if the record cannot be read at the place in the index. It wraps [warc.ErrDamaged], or [ErrElsewhere]
	// if its file is not in the folder. Then only index.Entry and Date are set.
	Damage error

	file warc.File
}

// ErrElsewhere says that the index has a capture whose file was moved away.
var ErrElsewhere = errors.New("the file is not here")

// IsElsewhere reports whether the file of a capture was moved away.
func (c Capture) IsElsewhere() bool { return errors.Is(c.Damage, ErrElsewhere) }

// Reference names the original of a revisit. Each part may be missing.
type Reference struct {
	RecordID, URI string
	Date          time.Time
	Container     string // name of the package that holds it (WARC-Refers-To-Container); usually empty
}

// History returns the captures of exactly this URI, oldest first, including damaged ones.
func (l *Library) History(uri string) ([]Capture, error) {
	entries, err := l.Lookup(uri, func(e index.Entry) bool { return e.URL == uri })
	if err != nil {
		return nil, err
	}
	var all []Capture
	for _, e := range entries {
		c, err := l.load(e)
		if err != nil {
			c = Capture{Entry: e, Date: e.Date(), Damage: err}
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b Capture) int { return a.Date.Compare(b.Date) })
	return withoutCopies(all), nil
}

// withoutCopies removes captures that are copies of others in packages. It keeps a copy outside a package.
func withoutCopies(all []Capture) []Capture {
	first := map[string]int{} // index in kept, by record id
	var kept []Capture
	for _, c := range all {
		i, again := first[c.RecordID]
		switch {
		case c.Damage != nil || c.RecordID == "" || !again:
			first[c.RecordID] = len(kept)
			kept = append(kept, c)
		case kept[i].Damage != nil || kept[i].URL != c.URL || !kept[i].Date.Equal(c.Date):
			kept = append(kept, c) // not a copy
		case kept[i].file.Package() != "" && c.file.Package() == "":
			kept[i] = c
		case c.file.Package() == "":
			kept = append(kept, c)
		}
	}
	return kept
}

// maxAlike is the maximum number of URIs that Alike returns.
const maxAlike = 100

// Alike returns other URIs that have the same key.
func (l *Library) Alike(uri string) ([]string, error) {
	var others []string
	err := l.each(uri, func(e index.Entry) {
		if e.URL != uri && len(others) < maxAlike && !slices.Contains(others, e.URL) {
			others = append(others, e.URL)
		}
	})
	return others, err
}

// maxCompanions is the maximum number of records after a capture that are searched for its metadata.
const maxCompanions = 8

// load reads the record of an entry, and the metadata record that follows it.
func (l *Library) load(e index.Entry) (Capture, error) {
	c, _, _, err := l.loadHead(e)
	return c, err
}

// loadHead reads what load reads, and returns the head of the message too, or why it cannot be read.
func (l *Library) loadHead(e index.Entry) (c Capture, head warc.Head, headErr, err error) {
	f, r, rec, err := l.openRecord(e)
	if err != nil {
		return c, head, nil, err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	h := rec.Header
	c = Capture{Entry: e, Date: h.Date(), Type: h.Type(), RecordID: rec.ID(), file: f}
	if c.Type == "revisit" {
		c.Profile = h.Get("WARC-Profile")[strings.LastIndexByte(h.Get("WARC-Profile"), '/')+1:]
		c.RefersTo = Reference{
			RecordID: h.ID("WARC-Refers-To"), URI: warc.TrimID(h.Get("WARC-Refers-To-Target-URI")),
			Container: strings.TrimPrefix(h.Get("WARC-Refers-To-Container"), "file://"),
		}
		c.RefersTo.Date, _ = warc.ParseDate(h.Get("WARC-Refers-To-Date"))
	}
	head, body, headErr := rec.Payload()
	c.Framing = rec.Framing
	if headErr == nil && c.Type != "revisit" {
		c.Size, _ = io.Copy(io.Discard, body) // closing the record returns the error
	}
	if err := rec.Close(); err != nil {
		return Capture{}, warc.Head{}, nil, warc.Damaged(err)
	}
	c.Why = metadataOf(r, c.RecordID)
	return c, head, headErr, nil
}

// companions returns the records behind a capture that belong to the same visit, such as its request and its metadata.
// Damage ends them.
func companions(r *warc.Reader, id string) iter.Seq[*warc.Record] {
	return func(yield func(*warc.Record) bool) {
		for range maxCompanions {
			rec, err := r.Next()
			if err != nil || !slices.Contains(rec.Header.Values("WARC-Concurrent-To"), "<"+id+">") || !yield(rec) {
				return
			}
		}
	}
}

// metadataOf returns the fields of the metadata record of a capture. It is nil if there is no such record.
func metadataOf(r *warc.Reader, id string) []warc.Field {
	for rec := range companions(r, id) {
		if rec.Header.Type() != "metadata" || !strings.HasPrefix(rec.Header.Get("Content-Type"), warc.FieldsMIME) {
			continue
		}
		if fields, err := rec.Fields(); err == nil {
			return fields
		}
		return nil
	}
	return nil
}

// Original returns the capture whose record holds the payload of c: c itself, unless it is a revisit. It looks the
// original up by URI and date. If the revisit names only a record id, it searches all files. If the revisit names
// nothing, its original is the last earlier capture of its URI with the same payload. The error wraps
// [warc.ErrNotFound] if the original is missing, and [warc.ErrDamaged] if it has another payload.
func (l *Library) Original(ctx context.Context, c Capture) (Capture, error) {
	const maxChain = 4 // arcrawl writes no revisits of revisits; other tools did
	if c.Damage != nil {
		return Capture{}, c.Damage
	}
	from := c
	for range maxChain {
		if from.Type != "revisit" {
			return from, nil
		}
		next, err := l.refersTo(ctx, from)
		if err != nil {
			return Capture{}, err
		}
		if same, comparable := samePayload(c.Digest, next.Digest); comparable && !same {
			return Capture{}, fmt.Errorf("%w: the revisit of %s at %s has the payload digest %s, its original %s has %s",
				warc.ErrDamaged, c.URL, c.Timestamp, c.Digest, next.RecordID, next.Digest)
		}
		from = next
	}
	return Capture{}, fmt.Errorf("%w: the revisit of %s at %s leads to a chain of more than %d revisits",
		warc.ErrDamaged, c.URL, c.Timestamp, maxChain)
}

// refersTo returns the capture that a revisit names as its original.
func (l *Library) refersTo(ctx context.Context, c Capture) (Capture, error) {
	to := c.RefersTo
	var unreadable error
	var best Capture
	fits := math.MinInt
	if to.RecordID == "" && (to.URI == "" || to.Date.IsZero()) {
		return l.byPayload(c)
	}
	if to.URI != "" {
		entries, err := l.Lookup(to.URI, func(e index.Entry) bool {
			own := e.Filename == c.Filename && e.Offset == c.Offset
			return e.URL == to.URI && e.Date().Unix() == to.Date.Unix() && !own
		})
		if err != nil {
			return Capture{}, err
		}
		for _, e := range entries {
			original, err := l.load(e)
			if err != nil {
				unreadable = c.unreadable(err)
				continue
			}
			if to.RecordID != "" && original.RecordID == to.RecordID {
				return original, nil
			}
			if n := c.fits(original); to.RecordID == "" && n > fits {
				best, fits = original, n
			}
		}
	}
	if fits > math.MinInt {
		return best, nil
	}
	if to.RecordID != "" && unreadable == nil {
		return l.byID(ctx, to.RecordID, c)
	}
	return Capture{}, cmp.Or(unreadable, noOriginal(c))
}

// byPayload returns the last capture before a revisit that has the same URI and payload digest, for revisits that name
// no original. Heritrix wrote them before version 3.1.2.
func (l *Library) byPayload(c Capture) (Capture, error) {
	entries, err := l.Lookup(c.URL, func(e index.Entry) bool {
		same, _ := samePayload(c.Digest, e.Digest)
		return same && e.URL == c.URL && e.MIME != index.RevisitMIME && e.Date().Unix() <= c.Date.Unix()
	})
	if err != nil {
		return Capture{}, err
	}
	var unreadable error
	for _, e := range slices.Backward(entries) {
		original, err := l.load(e)
		if err == nil {
			return original, nil
		}
		unreadable = cmp.Or(unreadable, c.unreadable(err))
	}
	return Capture{}, cmp.Or(unreadable, noOriginal(c))
}

// unreadable returns why the original of a revisit cannot be used.
func (c Capture) unreadable(err error) error {
	return fmt.Errorf("the original of the revisit of %s at %s cannot be read: %w", c.URL, c.Timestamp, err)
}

// fits returns how well a capture of the right URI and second fits as the original of c: see [warc.Fit].
func (c Capture) fits(original Capture) int {
	same, comparable := samePayload(c.Digest, original.Digest)
	return warc.Fit(original.Type != "revisit", comparable, same, original.Date.Equal(c.RefersTo.Date))
}

// samePayload reports whether two payload digests are equal, and whether they can be compared, because both are known
// and of one algorithm.
func samePayload(a, b string) (same, comparable bool) {
	x, errX := warc.ParseDigest(a)
	y, errY := warc.ParseDigest(b)
	comparable = errX == nil && errY == nil && !x.IsZero() && x.Algorithm == y.Algorithm
	return comparable && bytes.Equal(x.Value, y.Value), comparable
}

func noOriginal(c Capture) error {
	if c.RefersTo == (Reference{Container: c.RefersTo.Container}) {
		return fmt.Errorf("%w: the revisit of %s at %s names no original, and no earlier capture of the URI has its payload",
			warc.ErrNotFound, c.URL, c.Timestamp)
	}
	where := ""
	if c.RefersTo.Container != "" {
		where = "; it is in the package " + c.RefersTo.Container + ", says the revisit: name that with --from"
	}
	return fmt.Errorf("%w: the revisit of %s at %s refers to %s, %s, %s, which is not in the archive%s", warc.ErrNotFound,
		c.URL, c.Timestamp, c.RefersTo.RecordID, c.RefersTo.URI, c.RefersTo.Date.Format(time.RFC3339), where)
}

// byID searches all files for a record id. It is for revisits that do not name URI and date.
func (l *Library) byID(ctx context.Context, id string, c Capture) (Capture, error) {
	if l.live != nil {
		return Capture{}, noOriginal(c) // a [LiveReader] reads no whole files
	}
	errFound := errors.New("found")
	in := warc.NewHeadReader()
	for name, f := range l.files {
		var e index.Entry
		err := warc.EachRecord(ctx, f, nil, warc.NewFindings(f), func(rec *warc.Record) error {
			if rec.ID() != id {
				return nil
			}
			var ok bool
			var err error
			if e, ok, err = index.EntryOf(rec, name, in); err != nil || !ok {
				return err
			}
			return errFound
		})
		if errors.Is(err, errFound) {
			return l.load(e)
		}
		if err != nil {
			return Capture{}, err
		}
	}
	return Capture{}, noOriginal(c)
}
