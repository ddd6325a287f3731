// Package rewrite makes new WARC files from the records of others, so that the new files do not depend on any other
// file.
//
// A revisit whose original would be left out becomes a response with the payload of the original. All other records are
// copied byte for byte. Nothing that exists is changed or overwritten.
package rewrite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// Options say how to make new files.
type Options struct {
	Out    string   // folder of the new files; created if it is missing
	From   []string // further files and folders that may hold originals
	Select Selection
	All    bool                 // make a response from every revisit, even if its original is in the new files
	Keep   bool                 // keep revisits as they are, and return what they depend on
	Leave  func(warc.File) bool // reports which files are left out, also of From; nil = none

	// Each new file begins with a warcinfo record with the program, its command and the time, unless Software is empty.
	Software, Command string
	Now               time.Time

	Progress *warc.Progress // may be nil
}

// Selection selects captures. All criteria that are set must hold. The zero value selects all captures.
type Selection struct {
	// One of these hosts. A leading dot includes all hosts below. Without a port, all ports of a host are selected, or
	// with a colon at the end only the default port.
	Hosts    []string
	Prefixes []string // one of these begins the URI
	From, To time.Time
}

// IsZero reports whether all captures are selected.
func (s Selection) IsZero() bool {
	return len(s.Hosts) == 0 && len(s.Prefixes) == 0 && s.From.IsZero() && s.To.IsZero()
}

// Matcher returns a function that reports whether a capture is selected. Its time does not depend on the number of
// hosts.
func (s Selection) Matcher() func(uri string, date time.Time) bool {
	hosts := make(map[string]bool, len(s.Hosts))
	for _, h := range s.Hosts {
		hosts[strings.ToLower(h)] = true
	}
	isNamed := func(host string) bool {
		if hosts[host] || hosts["."+host] {
			return true
		}
		for i, c := range host {
			if c == '.' && hosts[host[i:]] {
				return true
			}
		}
		return false
	}
	isHost := func(uri string) bool {
		host := depend.HostOf(uri)
		name := host
		if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
			name = host[:i]
		} else {
			host += ":"
		}
		return isNamed(host) || isNamed(name)
	}
	return func(uri string, date time.Time) bool {
		page := pageOf(uri)
		isPrefix := func(p string) bool { return strings.HasPrefix(uri, p) || strings.HasPrefix(page, p) }
		return (len(s.Hosts) == 0 || isHost(uri)) &&
			(len(s.Prefixes) == 0 || slices.ContainsFunc(s.Prefixes, isPrefix)) &&
			(s.From.IsZero() || !date.Before(s.From)) && (s.To.IsZero() || date.Before(s.To))
	}
}

// pageOf returns the URI of the page that a record with another URI is about, as urn:text:URI. Other URIs are returned
// as they are.
func pageOf(uri string) string {
	rest, ok := strings.CutPrefix(uri, "urn:")
	if _, page, found := strings.Cut(rest, ":"); ok && found && strings.Contains(page, "://") {
		return page
	}
	return uri
}

// Summary counts what was written.
type Summary struct {
	Files     int   `json:"files"`
	Records   int   `json:"records"`
	Filled    int   `json:"filled"`    // revisits that became responses
	Repointed int   `json:"repointed"` // revisits that now refer to one of these responses
	Bytes     int64 `json:"bytes"`
	Errors    int   `json:"errors"`

	Needs []depend.Dependency `json:"needs"` // files that the new files depend on; empty unless Keep is set
}

// plan holds what to do with each capture.
type plan struct {
	o        Options
	survey   *depend.Survey
	inputs   map[int32]bool // files to rewrite; the others only hold originals
	selects  func(uri string, date time.Time) bool
	chosen   map[depend.Key]bool   // ids of selected captures
	changes  map[depend.Key]change // by id of the revisit
	payloads map[int32]*provided   // by number of the original
}

// change describes the record that replaces a revisit.
type change struct {
	newID    string
	original int32 // number of the capture with the payload
	first    int32 // number of the capture that becomes a response: the revisit itself, or an earlier one to refer to
}

// provided is the payload of an original, after checking the record.
type provided struct {
	size      int64
	digest    string
	truncated string
	err       error
}

// Files copies the records of files, folders and WACZ packages into new files of the same names in another folder. The
// new files depend on nothing else: a revisit whose original would be left out, or whose head does not fit the body of
// the original, becomes a response with the payload of the original. Later revisits of the same original with the same
// framing refer to that response. The response keeps the HTTP head of the revisit, unless there is none or it is one of
// a 304. A metadata record next to each new response says how it was
// made, and a warcinfo record how the file was made. All other records are copied byte for byte.
//
// Nothing that exists is changed or overwritten. Damaged records are reported and not copied. Revisits whose original
// is missing or damaged are reported and copied as they are.
func Files(ctx context.Context, paths []string, o Options, report func(warc.Finding) error) (Summary, error) {
	p := plan{
		o: o, selects: o.Select.Matcher(), inputs: map[int32]bool{}, chosen: map[depend.Key]bool{},
		changes: map[depend.Key]change{}, payloads: map[int32]*provided{},
	}
	var sum Summary
	report = warc.CountErrors(&sum.Errors, report)
	inputs, faults := warc.FilesAndPackages(paths)
	inputs = warc.Without(inputs, o.Leave)
	isInput := func(path string) bool {
		return slices.ContainsFunc(inputs, func(f warc.File) bool { return f.Path == path })
	}
	var hidden []warc.Finding // damage in the files of o.From; damage in the others is reported when they are rewritten
	var err error
	all, allFaults := warc.FilesAndPackages(append(slices.Clone(paths), o.From...))
	p.survey, err = depend.Of(ctx, warc.Without(all, o.Leave), allFaults, o.Progress, func(f warc.Finding) error {
		asked := isInput(f.File) || slices.ContainsFunc(faults, func(g *warc.Finding) bool { return g.File == f.File })
		if f.Severity == warc.Error && !asked && len(hidden) < warc.MaxFindings {
			hidden = append(hidden, f)
		}
		return nil
	})
	if err != nil {
		return sum, err
	}
	if err := warc.ReportAll(faults, report); err != nil {
		return sum, err
	}
	for i, f := range p.survey.Files {
		if isInput(f.Path) {
			p.inputs[int32(i)] = true
		}
	}
	if err := p.distinctNames(); err != nil {
		return sum, err
	}
	lacking, err := p.make(ctx)
	if err != nil {
		return sum, err
	}
	if len(lacking) > 0 { // damage may be the reason
		lacking = append(hidden, lacking...)
	}
	for _, f := range lacking {
		if err := report(f); err != nil {
			return sum, err
		}
	}
	if o.Keep {
		sum.Needs = p.needs()
	}
	return sum, p.write(ctx, &sum, report)
}

// make decides what to do with each capture. It returns findings about revisits without a usable original.
func (p *plan) make(ctx context.Context) (lacking []warc.Finding, _ error) {
	p.choose()
	lacking = p.decide()
	if err := p.prove(ctx); err != nil {
		return nil, err
	}
	return append(lacking, p.drop()...), nil
}

// outName returns the name of a new file. The file is compressed, and not open. A file from a package begins with the
// name of the package, because many packages have a data.warc.gz.
func outName(f warc.File) string {
	name := strings.TrimSuffix(filepath.Base(f.Path), warc.OpenSuffix)
	if pack := filepath.Base(f.Package()); f.Package() != "" {
		name = pack[:len(pack)-len(".wacz")] + "-" + name
	}
	if !strings.HasSuffix(strings.ToLower(name), ".gz") {
		name += ".gz"
	}
	return name
}

// distinctNames returns an error if two new files would have one name.
func (p *plan) distinctNames() error {
	names := map[string]string{}
	for _, i := range slices.Sorted(maps.Keys(p.inputs)) {
		f := p.survey.Files[i]
		if other, taken := names[outName(f)]; taken {
			return fmt.Errorf("%s and %s would get the same name; rewrite them separately, into different folders",
				other, f.Path)
		}
		names[outName(f)] = f.Path
	}
	return nil
}

func (p *plan) choose() {
	for _, c := range p.survey.All() {
		if p.inputs[c.File] && p.selects(c.Target, c.Time()) {
			p.chosen[c.ID] = true
		}
	}
}

// body is the payload of an original in one framing.
type body struct {
	original int32
	framing  string
}

// decide decides which record replaces each revisit, in the order of the files. It returns findings about revisits
// without an original, which are copied unchanged.
func (p *plan) decide() (missing []warc.Finding) {
	firsts := map[body]int32{}
	for i, c := range p.survey.All() {
		if !c.IsRevisit || !p.inputs[c.File] || !p.chosen[c.ID] {
			continue
		}
		o := p.survey.Original(i)
		if o < 0 {
			missing = append(missing, p.finding(i, warc.NoOriginal, "the original is not there; the revisit is copied as it is"))
			continue
		}
		if p.o.Keep {
			continue
		}
		of := p.survey.At(o)
		if of.Method == c.Method && of.Payload != c.Payload {
			missing = append(missing, p.finding(i, warc.OtherOriginal,
				"the original has another payload digest; the revisit is copied as it is"))
			continue
		}
		if p.inputs[of.File] && p.chosen[of.ID] && warc.Joins(c.Framing, of.Framing) && !p.o.All {
			continue
		}
		b := body{o, c.Framing}
		if b.framing == warc.UnknownFraming { // the response gets the head of the original
			b.framing = of.Framing
		}
		first, filled := firsts[b]
		if !filled || p.o.All {
			first, firsts[b] = i, i
		}
		p.changes[c.ID] = change{newID: renamed(p.survey.IDOf(i)), original: o, first: first}
		p.payloads[o] = nil
	}
	return missing
}

// renamed returns the id of the record that replaces another. It depends only on the old id, so that rewriting twice
// makes the same records.
func renamed(id string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/arcrawl/arcrawl/reduplicate?"+id)).URN()
}

func (p *plan) finding(i int32, k warc.Kind, text string) warc.Finding {
	c := p.survey.At(i)
	return warc.Finding{
		File: p.survey.Files[c.File].Path, Offset: c.Offset, Severity: warc.Error, Kind: k, Text: text,
		Record: p.survey.IDOf(i), URI: c.Target,
	}
}

// prove reads the needed originals. Their sizes must be known before a record is written.
func (p *plan) prove(ctx context.Context) error {
	list := slices.Sorted(maps.Keys(p.payloads))
	results := make([]*provided, len(list))
	work := func(ctx context.Context, i int) error {
		results[i] = p.provide(ctx, list[i])
		return ctx.Err()
	}
	finish := func(i int) error {
		p.payloads[list[i]] = results[i]
		return nil
	}
	return warc.ForEach(ctx, len(list), work, finish)
}

// drop removes the changes whose original is damaged. Revisits that would refer to the new response are copied
// unchanged, too.
func (p *plan) drop() (found []warc.Finding) {
	for i, c := range p.survey.All() {
		ch, ok := p.changes[c.ID]
		if !ok || !p.inputs[c.File] {
			continue
		}
		if err := p.payloads[ch.original].err; err != nil {
			text := fmt.Sprintf("the original cannot be used: %v; the revisit is copied as it is", err)
			found = append(found, p.finding(i, warc.OtherOriginal, text))
			delete(p.changes, c.ID)
		}
	}
	return found
}

// needs returns what the selected revisits depend on if they are kept.
func (p *plan) needs() []depend.Dependency {
	counts := map[int32]int{}
	for n, c := range p.survey.All() {
		if !c.IsRevisit || !p.inputs[c.File] || !p.chosen[c.ID] {
			continue
		}
		if o := p.survey.Original(n); o >= 0 {
			if of := p.survey.At(o); !p.inputs[of.File] || !p.chosen[of.ID] {
				counts[of.File]++
			}
		}
	}
	return p.survey.ByFile(counts)
}

// write makes the new files, several at a time.
func (p *plan) write(ctx context.Context, sum *Summary, report func(warc.Finding) error) error {
	list := slices.Sorted(maps.Keys(p.inputs))
	for _, i := range list {
		p.o.Progress.Expect(p.survey.Files[i : i+1])
	}
	results := make([]*rewriter, len(list))
	work := func(ctx context.Context, i int) error {
		file := p.survey.Files[list[i]]
		results[i] = &rewriter{plan: p, file: file, name: filepath.Join(p.o.Out, outName(file))}
		return results[i].run(ctx)
	}
	finish := func(i int) error {
		w := results[i]
		results[i] = nil
		var errs []error
		for _, f := range w.found {
			errs = append(errs, report(f))
		}
		if w.sum.Records > 0 {
			sum.Files++
		}
		sum.Records += w.sum.Records
		sum.Filled += w.sum.Filled
		sum.Repointed += w.sum.Repointed
		sum.Bytes += w.sum.Bytes
		return errors.Join(errs...)
	}
	return warc.ForEach(ctx, len(list), work, finish)
}

// maxShown is the maximum number of hosts or prefixes of a selection that a record names.
const maxShown = 20

// String describes the selection for readers of the new files.
func (s Selection) String() string {
	var parts []string
	list := func(what string, all []string) {
		if shown := all[:min(len(all), maxShown)]; len(all) > 0 {
			text := what + " " + strings.Join(shown, " ")
			if more := len(all) - len(shown); more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
			parts = append(parts, text)
		}
	}
	var hosts []string
	for _, h := range s.Hosts {
		hosts = append(hosts, strings.TrimSuffix(h, ":"))
	}
	list("hosts", hosts)
	list("prefixes", s.Prefixes)
	if !s.From.IsZero() {
		parts = append(parts, "from "+s.From.UTC().Format(time.RFC3339))
	}
	if !s.To.IsZero() {
		parts = append(parts, "before "+s.To.UTC().Format(time.RFC3339))
	}
	if len(parts) == 0 {
		return "all records"
	}
	return strings.Join(parts, "; ")
}

// begin writes the warcinfo record of the new file, before its first record: from what, how and when it was made. The
// warcinfo records of the old file are copied too, since the copied records refer to them.
func (w *rewriter) begin() error {
	if w.begun || w.o.Software == "" {
		return nil
	}
	w.begun = true
	revisits := "become responses if their originals are in no file of this folder or have another framing"
	switch {
	case w.o.Keep:
		revisits = "are kept"
	case w.o.All:
		revisits = "become responses"
	}
	var text strings.Builder
	for _, f := range fields(
		"software", w.o.Software,
		"format", "WARC File Format 1.1",
		"conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
		"description", "Records copied from another WARC file. Their own warcinfo records follow.",
		"madeFrom", fileLabel(w.file),
		"madeBy", w.o.Command,
		"selection", w.o.Select.String(),
		"revisits", revisits,
	) {
		// A name of a file or host cannot end the line.
		text.WriteString(f.Name + ": " + strings.Map(printable, f.Value) + "\r\n")
	}
	sum := warc.NewHash("sha1")
	_, _ = io.WriteString(sum, text.String()) // a hash never fails
	name, date := filepath.Base(w.name), w.o.Now.UTC().Format(warc.DateLayout)
	return w.emit("WARC/1.1", fields(
		"WARC-Type", "warcinfo",
		"WARC-Record-ID", "<"+renamed("warcinfo of "+w.name+" at "+date)+">",
		"WARC-Date", date,
		"WARC-Filename", strings.Map(printable, name),
		"Content-Type", warc.FieldsMIME,
		"WARC-Block-Digest", warc.FormatDigest("sha1", sum),
		"Content-Length", fmt.Sprint(text.Len()),
	), strings.NewReader(text.String()))
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '?'
	}
	return r
}
