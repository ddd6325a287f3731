package archive

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// reference is a header that names another record.
type reference struct {
	kind   depend.Kind // of the record with the header
	file   int32
	offset int64
	record string // id
	uri    string
	name   string // of the header
	to     string // a record id; may be empty in a revisit
	date   int64  // of the record, in Unix nanoseconds
	*original
}

// original holds what a revisit says about the record that it refers to, in addition to its id.
type original struct {
	toURI, toDate, digest string
	framing               string // of the revisit, see [warc.Record]
	status                int    // of HTTP, if the original must have the same; otherwise 0
}

// remember keeps what references to this record need, and the references of this record.
func (s *fileScan) remember(rec *warc.Record, status int) {
	h := rec.Header
	id := rec.ID()
	f := depend.RecordOf(rec, s.index)
	f.Status = int16(min(status, math.MaxInt16))
	s.facts = append(s.facts, f)
	if s.known {
		return
	}
	base := reference{kind: f.Kind, file: s.index, offset: rec.Offset, record: id, uri: h.Target(), date: f.Date}
	for _, name := range []string{"WARC-Concurrent-To", "WARC-Warcinfo-ID", "WARC-Refers-To"} {
		if name == "WARC-Refers-To" && f.Kind == depend.KindRevisit {
			continue
		}
		for _, to := range h.Values(name) {
			ref := base
			ref.name, ref.to = name, warc.TrimID(to)
			s.refs = append(s.refs, ref)
		}
	}
	if f.Kind == depend.KindRevisit {
		base.name, base.to = "WARC-Refers-To", h.ID("WARC-Refers-To")
		base.original = &original{
			warc.TrimID(h.Get("WARC-Refers-To-Target-URI")), h.Get("WARC-Refers-To-Date"), h.Get("WARC-Payload-Digest"),
			f.Framing, status,
		}
		if !strings.HasSuffix(h.Get("WARC-Profile"), "/identical-payload-digest") {
			base.status = 0
		}
		s.refs = append(s.refs, base)
	}
}

// dropResolved removes the references to records of the same file, which are nearly all. It keeps those that have to be
// compared.
func (s *fileScan) dropResolved() {
	here := make(map[depend.Key]depend.Record, len(s.facts))
	for _, f := range s.facts {
		here[f.ID] = f
	}
	left := s.refs[:0]
	for _, ref := range s.refs {
		f, found := here[depend.IDKey(ref.to)]
		if ref.original != nil || !found || ref.differsFrom(f) != "" {
			left = append(left, ref)
		}
	}
	s.refs = append([]reference(nil), left...)
}

// differsFrom returns in what two concurrent records differ of which one is a request and the other its capture. All
// records of a capture have the same WARC-Date. It is empty if they do not differ.
func (ref reference) differsFrom(f depend.Record) string {
	oneRequest := (ref.kind == depend.KindRequest) != (f.Kind == depend.KindRequest)
	isPair := oneRequest && min(ref.kind, f.Kind) != depend.KindOther
	noDate := time.Time{}.UnixNano()
	switch {
	case ref.name != "WARC-Concurrent-To" || !isPair:
	case depend.KeyOf(ref.uri) != f.URI:
		return "different URIs"
	case ref.date != noDate && f.Date != noDate && !isSameDate(ref.date, f.Date):
		return "different dates"
	}
	return ""
}

// isSameDate reports whether two dates in Unix nanoseconds are the same, if one is perhaps written only to the second.
func isSameDate(a, b int64) bool {
	const second = int64(time.Second)
	return a == b || a/second == b/second && (a%second == 0 || b%second == 0)
}

// resolver finds records by id and by moment.
type resolver struct {
	files []warc.File
	facts []depend.Record
	ids   map[depend.Key]int32
	at    map[moment]int32
	more  map[moment][]int32 // all captures of a moment, if there are several

	// Full captures by URI and payload, of the payloads for which a revisit needs them.
	versions map[version][]int32
}

// version is a URI and a payload.
type version struct {
	uri, payload depend.Key
	method       string
}

// moment is a URI and a second, because some writers write dates only to the second.
type moment struct {
	uri    depend.Key
	second int64
}

// resolve follows all references. All files below paths have been read, as they were listed.
func (v *verification) resolve(ctx context.Context, paths []string, files []warc.File) error {
	res := resolver{
		files: files, ids: make(map[depend.Key]int32, len(v.facts)), at: map[moment]int32{}, more: map[moment][]int32{},
	}
	err := v.index(&res)
	if err == nil {
		err = v.addNewer(ctx, paths, &res)
	}
	if err == nil {
		err = v.index(&res)
	}
	if err != nil {
		return err
	}
	res.findVersions(v.refs)
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

// index adds the facts to a resolver that it does not have yet.
func (v *verification) index(res *resolver) error {
	from := len(res.facts)
	res.facts = v.facts
	for n, f := range v.facts[from:] {
		i := from + n
		if first, twice := res.ids[f.ID]; twice {
			if err := v.duplicate(*res, f, v.facts[first]); err != nil {
				return err
			}
			continue
		}
		res.ids[f.ID] = int32(i)
		if f.Kind != depend.KindFull && f.Kind != depend.KindRevisit {
			continue
		}
		m := moment{f.URI, time.Unix(0, f.Date).Unix()}
		if first, taken := res.at[m]; !taken {
			res.at[m] = int32(i)
		} else {
			if res.more[m] == nil {
				res.more[m] = []int32{first}
			}
			res.more[m] = append(res.more[m], int32(i))
		}
	}
	return nil
}

// duplicate reports a record whose id an earlier record has, if at least one of the two is in a file to verify.
func (v *verification) duplicate(res resolver, f, first depend.Record) error {
	if f.File >= int32(v.sum.Files) && first.File >= int32(v.sum.Files) {
		return nil
	}
	if f.File >= int32(v.sum.Files) {
		f, first = first, f
	}
	inPackage := res.files[f.File].Package() != res.files[first.File].Package()
	if (inPackage || first.File >= int32(v.sum.Files)) && f.SameAs(first) {
		return nil
	}
	return v.report(warc.Finding{
		File: res.files[f.File].Path, Offset: f.Offset, Severity: warc.Error, Kind: warc.DuplicateID,
		Text: "the record has the same id as " + res.place(first),
	})
}

func (res resolver) place(f depend.Record) string {
	return fmt.Sprintf("the record at %s:%d", res.files[f.File].Path, f.Offset)
}

// follow returns what is wrong with a reference.
func (res resolver) follow(ref reference) []warc.Finding {
	i, found := res.ids[depend.IDKey(ref.to)]
	if ref.original == nil {
		if what := ref.differsFrom(res.facts[i]); found && what != "" {
			text := "this record and " + res.place(res.facts[i]) + " are a request and its capture, but have " + what
			return []warc.Finding{{Severity: warc.Error, Kind: warc.OtherTarget, Text: text}}
		}
		if found {
			return nil
		}
		text := fmt.Sprintf("%s names %s, which does not exist", ref.name, ref.to)
		return []warc.Finding{{Severity: warc.Error, Kind: warc.Dangling, Text: text}}
	}
	date, dateErr := warc.ParseDate(ref.toDate)
	var all []warc.Finding
	if !found || ref.to == "" {
		found = false
		if ref.toURI != "" && dateErr == nil {
			i, found = res.byMoment(ref, date)
		}
		if ref.isBare() {
			i, found = res.byPayload(ref)
		}
		if found && ref.to != "" {
			text := "WARC-Refers-To names " + ref.to + ", which does not exist; the original was found by URI and date"
			all = append(all, warc.Finding{Severity: warc.Warning, Kind: warc.Dangling, Text: text})
		}
	}
	if !found {
		text := "the original is not there: " + ref.description()
		return []warc.Finding{{Severity: warc.Error, Kind: warc.NoOriginal, Text: text}}
	}
	return append(all, res.compare(ref, res.facts[i])...)
}

// byMoment returns the capture that a revisit names by URI and date. Of several captures in the second it is the one
// that fits best.
func (res resolver) byMoment(ref reference, date time.Time) (best int32, found bool) {
	m := moment{depend.KeyOf(ref.toURI), date.Unix()}
	if best, found = res.at[m]; !found || res.more[m] == nil {
		return best, found
	}
	method, payload := depend.PayloadOf(ref.digest)
	fits := math.MinInt
	for _, i := range res.more[m] {
		to := depend.Moment{URI: m.uri, Date: date.UnixNano()}
		if n := res.facts[i].Fits(to, method, payload); n > fits {
			best, fits = i, n
		}
	}
	return best, true
}

// description returns the words with which a revisit names its original.
func (ref reference) description() string {
	var words []string
	for _, w := range []string{ref.to, ref.toURI, ref.toDate} {
		if w != "" {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return "the revisit names neither a record id nor URI and date, and no earlier capture of its URI has its payload"
	}
	return strings.Join(words, ", ")
}

func (res resolver) compare(ref reference, f depend.Record) []warc.Finding {
	var all []warc.Finding
	fail := func(k warc.Kind, format string, args ...any) {
		all = append(all, warc.Finding{Severity: warc.Error, Kind: k, Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case f.Kind == depend.KindRevisit:
		fail(warc.Chain, "the original, %s, is a revisit itself", res.place(f))
	case f.Kind != depend.KindFull:
		fail(warc.OtherOriginal, "the original, %s, is neither a response nor a resource", res.place(f))
		return all
	}
	if ref.toURI != "" && depend.KeyOf(ref.toURI) != f.URI {
		fail(warc.OtherOriginal, "WARC-Refers-To-Target-URI is %s, %s has another URI", ref.toURI, res.place(f))
	}
	// Dates may differ by less than a second: some writers write one of the two only to the second.
	date, err := warc.ParseDate(ref.toDate)
	if ref.toDate != "" && (err != nil || date.Unix() != time.Unix(0, f.Date).Unix()) {
		fail(warc.OtherOriginal, "WARC-Refers-To-Date is %s, %s has another date", ref.toDate, res.place(f))
	}
	if f.Kind == depend.KindFull && !warc.Joins(ref.framing, f.Framing) {
		text := fmt.Sprintf("the head of the revisit is of a body that is %s, the body of the original, %s, is %s: "+
			"replay tools that join them show it wrongly",
			cmp.Or(ref.framing, "plain"), res.place(f), cmp.Or(f.Framing, "plain"))
		all = append(all, warc.Finding{Severity: warc.Warning, Kind: warc.OtherFraming, Text: text})
	}
	method, payload := depend.PayloadOf(ref.digest)
	switch {
	case method == "":
	case f.Method == "":
		text := res.place(f) + " has no payload digest to compare with"
		all = append(all, warc.Finding{Severity: warc.Warning, Kind: warc.OtherOriginal, Text: text})
	case f.Method == method && f.Payload != payload:
		fail(warc.OtherOriginal, "the revisit has the payload digest %s, %s has another", ref.digest, res.place(f))
	}
	if ref.status > 0 && f.Status > 0 && ref.status != int(f.Status) {
		fail(warc.OtherOriginal, "the revisit has the status %d, %s has %d", ref.status, res.place(f), f.Status)
	}
	return all
}

// isBare reports whether a revisit names no original, as Heritrix wrote revisits before version 3.1.2. Its original is
// the last earlier capture of the same URI with the same payload.
func (ref reference) isBare() bool {
	return ref.original != nil && ref.to == "" && (ref.toURI == "" || ref.toDate == "")
}

// version returns the URI and payload of a revisit. It is zero if the revisit has no digest that can be read.
func (ref reference) version() version {
	method, payload := depend.PayloadOf(ref.digest)
	if method == "" {
		return version{}
	}
	return version{depend.KeyOf(ref.uri), payload, method}
}

// findVersions finds the captures that may be the originals of revisits which name none, by date.
func (res *resolver) findVersions(refs []reference) {
	res.versions = map[version][]int32{}
	for _, ref := range refs {
		if ref.isBare() {
			res.versions[ref.version()] = nil
		}
	}
	if len(res.versions) == 0 {
		return
	}
	for i, f := range res.facts {
		if f.Kind != depend.KindFull {
			continue
		}
		v := version{f.URI, f.Payload, f.Method}
		if all, wanted := res.versions[v]; wanted {
			res.versions[v] = append(all, int32(i))
		}
	}
	for _, all := range res.versions {
		slices.SortStableFunc(all, func(a, b int32) int { return cmp.Compare(res.facts[a].Date, res.facts[b].Date) })
	}
}

// byPayload returns the last capture of the URI and payload of a revisit that is not later than the revisit.
func (res *resolver) byPayload(ref reference) (last int32, found bool) {
	all := res.versions[ref.version()]
	later := sort.Search(len(all), func(i int) bool { return res.facts[all[i]].Date > ref.date })
	if later == 0 {
		return 0, false
	}
	return all[later-1], true
}

// addNewer adds records that a crawl wrote next to the verification. Originals of revisits in an open file can
// be in files that were opened after the folders were listed, or behind what was read of another open file. A crawl
// writes an original before its revisits, so one more look after reading suffices. Such records are only targets of
// references. If no reference needs them, addNewer does nothing.
func (v *verification) addNewer(ctx context.Context, paths []string, res *resolver) error {
	if !v.needsNewer(*res) {
		return nil
	}
	listed, _ := warc.FilesNamed(paths, warc.IsArchive)
	again := slices.DeleteFunc(listed, func(f warc.File) bool {
		i := indexOf(res.files, f)
		return i >= 0 && !isOpen(res.files[i])
	})
	results := make([]*fileScan, len(again))
	for i, f := range again {
		at := indexOf(res.files, f)
		if at < 0 {
			at, res.files = len(res.files), append(res.files, f)
		}
		results[i] = &fileScan{file: f, index: int32(at), known: true, records: map[string]int{}}
	}
	last := map[int32]int64{} // offsets of the last records that are known of each file
	for _, f := range v.facts {
		last[f.File] = max(last[f.File], f.Offset+1)
	}
	work := func(ctx context.Context, i int) error { return results[i].run(ctx, nil) }
	return warc.ForEach(ctx, len(again), work, func(i int) error {
		for _, f := range results[i].facts {
			if f.Offset >= last[f.File] {
				v.facts = append(v.facts, f)
			}
		}
		return nil
	})
}

// needsNewer reports whether a record in an open file names a record that is not there.
func (v *verification) needsNewer(res resolver) bool {
	return slices.ContainsFunc(v.refs, func(ref reference) bool {
		return isOpen(res.files[ref.file]) && slices.ContainsFunc(res.follow(ref), func(f warc.Finding) bool {
			return f.Kind == warc.NoOriginal || f.Kind == warc.Dangling
		})
	})
}

// isOpen reports whether a file was open when it was listed.
func isOpen(f warc.File) bool { return strings.HasSuffix(f.Path, warc.OpenSuffix) }

// indexOf returns the place of a file in a list, open or sealed; -1 = it is not there.
func indexOf(files []warc.File, f warc.File) int {
	path := strings.TrimSuffix(f.Path, warc.OpenSuffix)
	return slices.IndexFunc(files, func(g warc.File) bool { return strings.TrimSuffix(g.Path, warc.OpenSuffix) == path })
}
