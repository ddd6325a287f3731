package archive

import (
	"crypto/sha1"
	"fmt"
	"strings"
	"time"
)

// key stands for a text of any length: an id, a URI, a digest.
type key [16]byte

func keyOf(s string) key {
	var k key
	sum := sha1.Sum([]byte(s))
	copy(k[:], sum[:])
	return k
}

// moment is a capture as a revisit names it. Some writers give the date of the original only to the second.
type moment struct {
	uri    key
	second int64
}

// fact is what is remembered of a record while others may refer to it.
type fact struct {
	id      key
	uri     key
	payload key // of the digest; zero for none
	date    int64
	offset  int64
	file    int32
	kind    recordKind
	method  string // algorithm of the payload digest
}

type recordKind uint8

const (
	otherRecord recordKind = iota
	fullRecord             // response or resource
	revisitRecord
)

// reference is a header that leads to another record.
type reference struct {
	file   int32
	offset int64
	record string // id
	uri    string
	name   string // of the header
	to     string // an id, or nothing
	*original
}

// original is what a revisit says besides about the record that it refers to.
type original struct{ toURI, toDate, digest string }

// remember keeps what the record is to others, and what others are to it.
func (s *scan) remember(rec *Record) {
	h := rec.Header
	id := rec.ID()
	f := fact{id: keyOf(id), offset: rec.Offset, file: s.index, date: h.Date().UnixNano()}
	switch h.Type() {
	case "response", "resource":
		f.kind = fullRecord
	case "revisit":
		f.kind = revisitRecord
	}
	if f.kind != otherRecord {
		f.uri = keyOf(h.Target())
		if d, err := parseSum(h.Get("WARC-Payload-Digest")); err == nil && !d.isZero() {
			f.method, f.payload = d.algorithm, keyOf(string(d.value))
		}
	}
	s.facts = append(s.facts, f)
	if s.known {
		return
	}
	base := reference{file: s.index, offset: rec.Offset, record: id, uri: h.Target()}
	for _, name := range []string{"WARC-Concurrent-To", "WARC-Warcinfo-ID", "WARC-Refers-To"} {
		if name == "WARC-Refers-To" && f.kind == revisitRecord {
			continue
		}
		for _, to := range h.Values(name) {
			ref := base
			ref.name, ref.to = name, trimID(to)
			s.refs = append(s.refs, ref)
		}
	}
	if f.kind == revisitRecord {
		base.name, base.to = "WARC-Refers-To", h.ID("WARC-Refers-To")
		base.original = &original{trimID(h.Get("WARC-Refers-To-Target-URI")), h.Get("WARC-Refers-To-Date"), h.Get("WARC-Payload-Digest")}
		s.refs = append(s.refs, base)
	}
}

// settle forgets the references that lead to a record of the same file, which are nearly all.
func (s *scan) settle() {
	here := make(map[key]bool, len(s.facts))
	for _, f := range s.facts {
		here[f.id] = true
	}
	left := s.refs[:0]
	for _, ref := range s.refs {
		if ref.original != nil || !here[keyOf(ref.to)] {
			left = append(left, ref)
		}
	}
	s.refs = append([]reference(nil), left...)
}

// resolver finds records by what others call them.
type resolver struct {
	files []File
	facts []fact
	ids   map[key]int32
	at    map[moment]int32
}

// resolve follows all references when all files have been read.
func (v *verification) resolve(files []File) error {
	res := resolver{files: files, facts: v.facts, ids: make(map[key]int32, len(v.facts)), at: map[moment]int32{}}
	for i, f := range v.facts {
		if first, twice := res.ids[f.id]; twice {
			if err := v.duplicate(res, f, v.facts[first]); err != nil {
				return err
			}
			continue
		}
		res.ids[f.id] = int32(i)
		if f.kind == otherRecord {
			continue
		}
		m := moment{f.uri, f.date / int64(time.Second)}
		if before, taken := res.at[m]; !taken || v.facts[before].kind == revisitRecord && f.kind == fullRecord {
			res.at[m] = int32(i)
		}
	}
	for _, ref := range v.refs {
		for _, f := range res.follow(ref) {
			f.File, f.Offset, f.Record, f.URI = files[ref.file].Path, ref.offset, ref.record, ref.uri
			if err := v.report(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// duplicate reports a record whose id was used before, when at least one of the two was to be verified.
func (v *verification) duplicate(res resolver, f, first fact) error {
	if f.file >= int32(v.sum.Files) && first.file >= int32(v.sum.Files) {
		return nil
	}
	if f.file >= int32(v.sum.Files) {
		f, first = first, f
	}
	if copies := res.files[f.file].in.pack != res.files[first.file].in.pack || first.file >= int32(v.sum.Files); copies && f.same(first) {
		return nil
	}
	return v.report(Finding{
		File: res.files[f.file].Path, Offset: f.offset, Severity: Error, Kind: DuplicateID,
		Text: "the record has the same id as " + res.place(first),
	})
}

// same tells whether two records with one id are copies of one, as far as they are remembered. That is what packages hold, and what
// was extracted from the files that are known.
func (f fact) same(g fact) bool {
	return f.kind == g.kind && f.date == g.date && f.uri == g.uri && f.method == g.method && f.payload == g.payload
}

func (res resolver) place(f fact) string {
	return fmt.Sprintf("the record at %s:%d", res.files[f.file].Path, f.offset)
}

// follow goes where a reference leads and tells what is wrong there.
func (res resolver) follow(ref reference) []Finding {
	i, found := res.ids[keyOf(ref.to)]
	if ref.original == nil {
		if found {
			return nil
		}
		return []Finding{{Severity: Error, Kind: Dangling, Text: fmt.Sprintf("%s leads to %s, which is not there", ref.name, ref.to)}}
	}
	date, dateErr := parseDate(ref.toDate)
	var all []Finding
	if !found || ref.to == "" {
		m := moment{keyOf(ref.toURI), date.Unix()}
		found = false
		if ref.toURI != "" && dateErr == nil {
			i, found = res.at[m]
		}
		if found && ref.to != "" {
			all = append(all, Finding{Severity: Warning, Kind: Dangling, Text: "WARC-Refers-To leads to " + ref.to + ", which is not there; the original was found by URI and date"})
		}
	}
	if !found {
		return []Finding{{Severity: Error, Kind: NoOriginal, Text: "the original is not there: " + ref.wants()}}
	}
	return append(all, res.compare(ref, res.facts[i])...)
}

// wants says what a revisit calls its original.
func (ref reference) wants() string {
	var words []string
	for _, w := range []string{ref.to, ref.toURI, ref.toDate} {
		if w != "" {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return "the revisit names neither a record id nor URI and date"
	}
	return strings.Join(words, ", ")
}

// compare tells where a revisit and its original do not fit.
func (res resolver) compare(ref reference, f fact) []Finding {
	var all []Finding
	fail := func(k Kind, format string, args ...any) {
		all = append(all, Finding{Severity: Error, Kind: k, Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case f.kind == revisitRecord:
		fail(Chain, "the original, %s, is a revisit itself", res.place(f))
	case f.kind != fullRecord:
		fail(OtherOriginal, "the original, %s, is neither a response nor a resource", res.place(f))
		return all
	}
	if ref.toURI != "" && keyOf(ref.toURI) != f.uri {
		fail(OtherOriginal, "WARC-Refers-To-Target-URI is %s, %s has another URI", ref.toURI, res.place(f))
	}
	// Dates that differ by less than a second are those of writers that give one of them to the second only.
	if date, err := parseDate(ref.toDate); ref.toDate != "" && (err != nil || date.Unix() != time.Unix(0, f.date).Unix()) {
		fail(OtherOriginal, "WARC-Refers-To-Date is %s, %s has another date", ref.toDate, res.place(f))
	}
	d, err := parseSum(ref.digest)
	if err != nil || d.isZero() {
		return all
	}
	switch {
	case f.method == "":
		all = append(all, Finding{Severity: Warning, Kind: OtherOriginal, Text: res.place(f) + " has no payload digest to compare with"})
	case f.method == d.algorithm && keyOf(string(d.value)) != f.payload:
		fail(OtherOriginal, "the revisit has the payload digest %s, %s has another", ref.digest, res.place(f))
	}
	return all
}
