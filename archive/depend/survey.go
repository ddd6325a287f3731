package depend

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unique"

	"github.com/google/uuid"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// Survey holds the captures of a set of files and their references. It needs about 80 bytes of memory for each capture,
// and about 120 bytes and the text for each URI. While it reads, it needs about 400 bytes for each capture of the files
// that are being read.
type Survey struct {
	captures
	Files []warc.File // see [Capture.File]

	// Numbers of captures, sorted by record id, by moment and by payload digest.
	ids      []int32
	moments  []int32
	payloads []int32 // responses and resources with a payload digest, also by URI and date
}

// New reads the captures of files and folders, also in WACZ packages. It reports damage and skips it.
func New(
	ctx context.Context, paths []string, progress *warc.Progress, report func(warc.Finding) error,
) (*Survey, error) {
	files, faults := warc.FilesAndPackages(paths)
	return Of(ctx, files, faults, progress, report)
}

// Of is [New] for a list of files and the faults of others.
func Of(
	ctx context.Context, files []warc.File, faults []*warc.Finding, progress *warc.Progress,
	report func(warc.Finding) error,
) (*Survey, error) {
	s := &Survey{Files: files}
	if err := warc.ReportAll(faults, report); err != nil {
		return nil, err
	}
	progress.Expect(files)
	perFile, found := make([][]Capture, len(files)), make([]*warc.Findings, len(files))
	work := func(ctx context.Context, i int) error {
		found[i] = warc.NewFindings(files[i])
		in := warc.NewHeadReader()
		return warc.EachRecord(ctx, files[i], progress, found[i], func(rec *warc.Record) error {
			if kind := rec.Header.Type(); kind == "response" || kind == "revisit" {
				rec.ReadFraming(in)
			}
			if err := rec.Close(); err != nil {
				return err
			}
			if c, ok := captureIn(rec, int32(i)); ok {
				perFile[i] = append(perFile[i], c)
			}
			return nil
		})
	}
	finish := func(i int) error {
		for _, c := range perFile[i] {
			s.add(c)
		}
		perFile[i] = nil
		return found[i].Report(report)
	}
	if err := warc.ForEach(ctx, len(files), work, finish); err != nil {
		return s, err
	}
	s.sort()
	return s, nil
}

// sort prepares the lookup of captures. Of several captures with one id or moment, the lookup finds the first; full
// records come before revisits.
func (s *Survey) sort() {
	s.number = nil
	s.ids, s.moments = make([]int32, s.rows.n), make([]int32, s.rows.n)
	for i := range s.rows.n {
		s.ids[i], s.moments[i] = i, i
		if r := s.rows.at(i); s.methods[r.method] != "" && r.kind == KindFull {
			s.payloads = append(s.payloads, i)
		}
	}
	slices.SortFunc(s.ids, func(a, b int32) int { return cmp.Or(s.compareID(a, s.rows.at(b).id), cmp.Compare(a, b)) })
	slices.SortFunc(s.moments, func(a, b int32) int {
		return cmp.Or(s.compareMoment(a, s.momentOf(b)), cmp.Compare(s.rows.at(a).kind, s.rows.at(b).kind), cmp.Compare(a, b))
	})
	slices.SortFunc(s.payloads, func(a, b int32) int {
		return cmp.Or(s.compareVersion(a, s.rows.at(b).payload, s.momentOf(b)), cmp.Compare(a, b))
	})
}

func (s *Survey) compareID(i int32, id Key) int { return bytes.Compare(s.rows.at(i).id[:], id[:]) }

func (s *Survey) comparePayload(i int32, payload Key) int {
	return bytes.Compare(s.rows.at(i).payload[:], payload[:])
}

// compareVersion compares a capture with a payload of a URI at a date.
func (s *Survey) compareVersion(i int32, payload Key, m Moment) int {
	n := s.momentOf(i)
	return cmp.Or(s.comparePayload(i, payload), bytes.Compare(n.URI[:], m.URI[:]), cmp.Compare(n.Date, m.Date))
}

func (s *Survey) compareMoment(i int32, m Moment) int {
	n := s.momentOf(i)
	return cmp.Or(bytes.Compare(n.URI[:], m.URI[:]), cmp.Compare(n.Second(), m.Second()))
}

// byID returns the number of the capture with a record id.
func (s *Survey) byID(id Key) (int32, bool) {
	at, found := slices.BinarySearchFunc(s.ids, id, s.compareID)
	if !found {
		return 0, false
	}
	return s.ids[at], true
}

// byMoment returns the number of the capture that a revisit names by URI and date. Of several captures in the second it
// is the one that fits best.
func (s *Survey) byMoment(revisit Capture) (best int32, found bool) {
	at, _ := slices.BinarySearchFunc(s.moments, revisit.to, s.compareMoment)
	fits := math.MinInt
	for ; at < len(s.moments) && s.compareMoment(s.moments[at], revisit.to) == 0; at++ {
		i := s.moments[at]
		if n := s.At(i).Fits(revisit.to, revisit.Method, revisit.Payload); n > fits {
			best, fits = i, n
		}
	}
	return best, fits > math.MinInt
}

// byPayload returns the number of the last capture before a revisit with the same URI and payload. Heritrix wrote
// revisits that name their original in no other way before version 3.1.2.
func (s *Survey) byPayload(revisit Capture) (int32, bool) {
	if revisit.Method == "" {
		return 0, false
	}
	m := Moment{revisit.URI, revisit.Date}
	at, _ := slices.BinarySearchFunc(s.payloads, revisit, func(i int32, _ Capture) int {
		return cmp.Or(s.compareVersion(i, revisit.Payload, m), -1) // behind the captures of the same date
	})
	if at == 0 {
		return 0, false
	}
	i := s.payloads[at-1]
	return i, s.comparePayload(i, revisit.Payload) == 0 && s.momentOf(i).URI == revisit.URI
}

// Original returns the number of the capture that holds the payload of capture i: i itself, unless it is a revisit. It
// is -1 if the original is missing.
func (s *Survey) Original(i int32) int32 {
	if s.rows.at(i).kind == KindRevisit {
		return s.FindOriginal(s.At(i))
	}
	return i
}

// FindOriginal returns the number of the original of a revisit, which may come from another survey. It is -1 if the
// original is missing.
func (s *Survey) FindOriginal(c Capture) int32 {
	const maxChain = 4 // arcrawl writes no revisits of revisits; other tools did
	for range maxChain {
		next, ok := s.byID(c.toID)
		if !ok || c.toID == (Key{}) {
			next, ok = s.byMoment(c)
		}
		if c.toID == (Key{}) && c.to == (Moment{}) {
			next, ok = s.byPayload(c)
		}
		if !ok {
			return -1
		}
		if c = s.At(next); !c.IsRevisit {
			return next
		}
	}
	return -1
}

// find returns the numbers of the named files. A name is a path, or relative to the folder of the survey. The name of a
// package stands for all files in it.
func (s *Survey) find(names []string) (map[int32]bool, error) {
	set := map[int32]bool{}
	for _, name := range names {
		found := false
		for i, f := range s.Files {
			inside := f.Package() != "" && (strings.HasPrefix(f.Name, name+"/archive/") || same(f.Package(), name))
			if inside || f.Name == name || same(f.Path, name) {
				set[int32(i)], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("%w: the file %s is not among the %d that were read", warc.ErrNotFound, name, len(s.Files))
		}
	}
	return set, nil
}

// same reports whether two paths name the same place.
func same(a, b string) bool {
	x, err := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err == nil && err2 == nil && x == y
}

// Key is a hash of a text of any length: an id, a URI or a digest.
type Key [16]byte

// KeyOf returns the key of a text.
func KeyOf(s string) Key {
	var k Key
	sum := sha1.Sum([]byte(s))
	copy(k[:], sum[:])
	return k
}

// Moment names a capture as revisits do, by URI and date. Captures are looked up by URI and second, because some
// writers write the date only to the second.
type Moment struct {
	URI  Key
	Date int64 // Unix nanoseconds
}

// Second returns the date in Unix seconds.
func (m Moment) Second() int64 { return time.Unix(0, m.Date).Unix() }

// Fits returns how well a record of the right URI and second fits as the original that a revisit names: better if it is
// no revisit, has the same payload, and exactly the same date.
func (f Record) Fits(m Moment, method string, payload Key) (n int) {
	return warc.Fit(f.Kind == KindFull, method != "" && f.Method == method, f.Payload == payload, f.Date == m.Date)
}

// Record is the part of a WARC record that references from other records need.
type Record struct {
	ID      Key
	URI     Key
	Payload Key // of the payload digest; zero if there is none
	Date    int64
	Offset  int64
	File    int32
	Kind    Kind
	Method  string // algorithm of the payload digest
	Framing string // of its HTTP message, see [warc.Record]
	Status  int16  // of HTTP; 0 = unknown, as in a survey
}

// Kind is the role of a record in references.
type Kind uint8

// The kinds of records.
const (
	KindOther Kind = iota
	KindFull       // response or resource
	KindRevisit
	KindRequest
)

// RecordOf returns what references need of a record in a file.
func RecordOf(rec *warc.Record, file int32) Record {
	h := rec.Header
	r := Record{ID: IDKey(rec.ID()), File: file, Offset: rec.Offset, Date: h.Date().UnixNano()}
	r.Framing = unique.Make(rec.Framing).Value() // usually one of few texts; archives have millions of records
	switch h.Type() {
	case "response", "resource":
		r.Kind = KindFull
	case "revisit":
		r.Kind = KindRevisit
	case "request":
		r.Kind = KindRequest
	default:
		return r
	}
	r.URI = KeyOf(h.Target())
	if r.Kind != KindRequest {
		r.Method, r.Payload = PayloadOf(h.Get("WARC-Payload-Digest"))
	}
	return r
}

// PayloadOf returns the algorithm and the key of a payload digest. They are zero if it cannot be read.
func PayloadOf(text string) (method string, payload Key) {
	d, err := warc.ParseDigest(text)
	if err != nil || d.IsZero() {
		return "", Key{}
	}
	return d.Algorithm, KeyOf(d.Algorithm + string(d.Value))
}

// SameAs reports whether two records with one id are copies of each other, as far as is known. Packages hold copies,
// and so do files that were extracted from others.
func (f Record) SameAs(g Record) bool {
	return f.Kind == g.Kind && f.Date == g.Date && f.URI == g.URI && f.Method == g.Method && f.Payload == g.Payload
}

// Capture is a capture and the original that its record names.
type Capture struct {
	Record
	text      string // of the record id; empty in a survey, see [Survey.IDOf]
	Target    string
	toID      Key // record id of the original; zero if there is none
	to        Moment
	IsRevisit bool
	Container string // name of the package with the original, as the revisit says (WARC-Refers-To-Container)
}

// captureIn returns the capture in a record. ok is false if it is of another kind.
func captureIn(rec *warc.Record, file int32) (c Capture, ok bool) {
	h := rec.Header
	c = Capture{Record: RecordOf(rec, file), text: rec.ID(), Target: h.Target()}
	if c.Kind != KindFull && c.Kind != KindRevisit {
		return c, false
	}
	c.IsRevisit = c.Kind == KindRevisit
	c.Container = strings.TrimPrefix(h.Get("WARC-Refers-To-Container"), "file://")
	if id := h.ID("WARC-Refers-To"); id != "" {
		c.toID = IDKey(id)
	}
	if date, err := warc.ParseDate(h.Get("WARC-Refers-To-Date")); err == nil {
		c.to = Moment{KeyOf(warc.TrimID(h.Get("WARC-Refers-To-Target-URI"))), date.UnixNano()}
	}
	return c, true
}

// IDKey returns the key of a record id. The key of a UUID is the UUID itself, so that [Survey.IDOf] can restore the id.
// Any other id has the key of [KeyOf].
func IDKey(id string) Key {
	if u, err := uuid.Parse(id); err == nil && u.URN() == id {
		return Key(u)
	}
	return KeyOf(id)
}

// row is a capture in memory. A survey may have millions.
type row struct {
	id, payload  Key
	date, offset int64
	file         int32
	target       int32 // index of the URI in targets
	refers       int32 // index in refers + 1; 0 = none
	method       uint8 // index in methods
	framing      uint8 // index in framings
	kind         Kind
}

// referral names the original of a revisit.
type referral struct {
	id        Key
	to        Moment
	container int32 // index in containers
}

// listBlockSize is the number of elements in one block of a list.
const listBlockSize = 4096

// blockList is a list that grows without being copied, because it consists of blocks.
type blockList[T any] struct {
	full [][]T
	n    int32
}

func (p *blockList[T]) add(x T) int32 {
	if int(p.n)%listBlockSize == 0 {
		p.full = append(p.full, make([]T, 0, listBlockSize))
	}
	last := &p.full[len(p.full)-1]
	*last = append(*last, x)
	p.n++
	return p.n - 1
}

func (p *blockList[T]) at(i int32) *T { return &p.full[i/listBlockSize][i%listBlockSize] }

// captures holds captures in the order in which they were added. Each URI is stored once.
type captures struct {
	rows    blockList[row]
	refers  blockList[referral]
	targets blockList[string]
	keys    blockList[Key] // of targets
	number  map[Key]int32
	odd     map[int32]string // record ids that their keys cannot restore
	methods []string

	framings []string // the first is the unknown one

	containers []string // names of packages that revisits name; the first is empty
	container  map[string]int32
}

func (s *captures) add(c Capture) {
	target, known := s.number[c.URI]
	if !known {
		if s.number == nil {
			s.number, s.odd = map[Key]int32{}, map[int32]string{}
		}
		target = s.targets.add(strings.Clone(c.Target)) // the text would keep the whole header in memory
		s.keys.add(c.URI)
		s.number[c.URI] = target
	}
	r := row{id: c.ID, payload: c.Payload, date: c.Date, offset: c.Offset, file: c.File, target: target, kind: c.Kind}
	if c.toID != (Key{}) || c.to != (Moment{}) {
		r.refers = s.refers.add(referral{c.toID, c.to, s.numberOf(c.Container)}) + 1
	}
	if s.framings == nil {
		s.framings = []string{warc.UnknownFraming}
	}
	r.method, r.framing = numbered(&s.methods, c.Method), numbered(&s.framings, c.Framing)
	i := s.rows.add(r)
	if uuid.UUID(c.ID).URN() != c.text {
		s.odd[i] = strings.Clone(c.text)
	}
}

// numbered returns the index of a text in a list, to which it adds the text. The list has room for 256. Fewer than ten
// algorithms exist, but files may name any content coding: further texts count as the first one.
func numbered(list *[]string, text string) uint8 {
	i := slices.Index(*list, text)
	if i < 0 && len(*list) <= math.MaxUint8 {
		i = len(*list)
		*list = append(*list, text)
	}
	return uint8(max(0, i))
}

// maxContainers is the maximum number of different packages that revisits name. The names of further ones are dropped:
// they come from the files.
const maxContainers = 10_000

func (s *captures) numberOf(container string) int32 {
	if s.container == nil {
		s.container, s.containers = map[string]int32{"": 0}, []string{""}
	}
	n, known := s.container[container]
	if !known && len(s.containers) < maxContainers {
		n = int32(len(s.containers))
		name := strings.Clone(container)
		s.container[name], s.containers = n, append(s.containers, name)
	}
	return n
}

// At returns the capture with a number.
func (s *captures) At(i int32) Capture {
	r := s.rows.at(i)
	c := Capture{
		Record: Record{
			ID: r.id, URI: *s.keys.at(r.target), Payload: r.payload, Date: r.date, Offset: r.offset, File: r.file, Kind: r.kind,
			Method: s.methods[r.method], Framing: s.framings[r.framing],
		},
		Target: *s.targets.at(r.target), IsRevisit: r.kind == KindRevisit,
	}
	if r.refers > 0 {
		to := s.refers.at(r.refers - 1)
		c.toID, c.to, c.Container = to.id, to.to, s.containers[to.container]
	}
	return c
}

// IDOf returns the record id of the capture with a number.
func (s *captures) IDOf(i int32) string {
	if text, odd := s.odd[i]; odd {
		return text
	}
	return uuid.UUID(s.rows.at(i).id).URN()
}

// All returns all captures with their numbers.
func (s *captures) All() iter.Seq2[int32, Capture] {
	return func(yield func(int32, Capture) bool) {
		for i := range s.rows.n {
			if !yield(i, s.At(i)) {
				return
			}
		}
	}
}

func (s *captures) momentOf(i int32) Moment {
	r := s.rows.at(i)
	return Moment{*s.keys.at(r.target), r.date}
}

// Time returns the date of the capture.
func (c Capture) Time() time.Time { return time.Unix(0, c.Date).UTC() }
