package archive

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/internal/human"
)

// premisName is the path in a bag of what is known to have happened to its files.
const premisName = "metadata/premis.xml"

// The vocabularies of the Library of Congress for PREMIS.
const (
	eventTypes    = "http://id.loc.gov/vocabulary/preservation/eventType"
	eventOutcomes = "http://id.loc.gov/vocabulary/preservation/eventOutcome"
)

// The types of events, with their codes in the vocabulary, which has none for a loss and for the verdict of a program.
var (
	capture     = eventType{"capture", "cap"}
	sealing     = eventType{"message digest calculation", "mes"}
	fixityCheck = eventType{"fixity check", "fix"}
	moving      = eventType{"transfer", "tra"}
	copying     = eventType{"replication", "rep"}
	loss        = eventType{"loss", ""}
	examination = eventType{"examination", ""}
	recovery    = eventType{"recovery", "rec"}
	bagCreation = eventType{"information package creation", "ipc"}

	identification = eventType{"format identification", "for"}
)

type eventType struct{ name, code string }

// premisEvent is something that happened to files.
type premisEvent struct {
	eventType
	at, end time.Time // end is set for a period
	detail  string
	failed  bool
	note    string // about the outcome
	agents  []premisAgent
	files   []string
}

// premisAgent is a program or an institution.
type premisAgent struct {
	name     string
	software bool
}

// anyVersion is this program in an unknown version.
var anyVersion = premisAgent{"arcrawl", true}

// premis collects what is known about the files of a bag.
type premis struct {
	dir     string
	self    premisAgent
	now     time.Time
	wanted  map[string]bool // names of the files
	listed  map[string]bool // files of the manifest
	objects []node
	events  []premisEvent
	granted map[rights][]string // names of files
}

// premisOf returns what is known about the files of a bag of a folder, by the schema of PREMIS 3.0. With formats, it
// looks into the files, and adds a list of the formats that it found.
func premisOf(
	ctx context.Context, dir string, c fixity.BagContent, events []string, formats bool, software string, now time.Time,
) (tags map[string][]byte, err error) {
	p := &premis{
		dir: dir, self: premisAgent{software, true}, now: now, wanted: map[string]bool{}, listed: map[string]bool{},
		granted: map[rights][]string{},
	}
	if len(c.Files) == 0 {
		return nil, errors.New("describe the files in PREMIS: there is none in the bag; choose others, or leave --premis out")
	}
	m, err := fixity.Read(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if m != nil {
		for _, e := range m.Entries {
			p.listed[e.File] = true
		}
	}
	pack := premisEvent{eventType: bagCreation, at: now, detail: "BagIt bag of WARC files", agents: []premisAgent{p.self}}
	for _, e := range c.Files {
		p.file(e)
		pack.files = append(pack.files, e.File)
	}
	for _, f := range c.Left {
		p.wanted[f.File] = true
		what := premisEvent{eventType: fixityCheck, at: now, failed: true, note: f.Text, agents: []premisAgent{p.self}}
		if f.Gone {
			what.eventType, what.detail = loss, "The manifest lists the file."
		}
		p.add(what, f.File)
	}
	if m != nil {
		p.verdicts(m.Verdicts)
	}
	if err := p.history(); err != nil {
		return nil, err
	}
	for _, file := range events {
		if err := p.others(file); err != nil {
			return nil, fmt.Errorf("--events %s: %w", file, err)
		}
	}
	tags = map[string][]byte{}
	if formats {
		if tags[formatsName], err = p.formats(ctx, c.Files); err != nil {
			return nil, err
		}
	}
	p.events = append(p.events, pack)
	tags[premisName], err = p.text()
	return tags, err
}

// add adds an event about a file.
func (p *premis) add(e premisEvent, file string) {
	e.files = []string{file}
	p.events = append(p.events, e)
}

// file adds a file of the bag, its capture, its sealing and its check on the way into the bag.
func (p *premis) file(e fixity.Entry) {
	p.wanted[e.File] = true
	by, version, made := []premisAgent(nil), "", e.First
	path := filepath.Join(p.dir, filepath.FromSlash(e.File))
	infos, _ := leadingInfos(warc.File{Path: path}) // without them the description has less
	for _, i := range infos {
		version = i.version
		if program := i.fields.Get("software"); program != "" {
			by = append(by, premisAgent{program, true})
		}
		if said := i.fields.Get("operator"); said != "" {
			operator, _ := splitOperator(said)
			by = append(by, premisAgent{operator, false})
		}
	}
	var say rights
	say.add(infos)
	if say.title = ""; say != (rights{}) {
		p.granted[say] = append(p.granted[say], e.File)
	}
	p.objects = append(p.objects, object(e, version, by, made))
	p.add(premisEvent{
		eventType: capture, at: e.First, end: e.Last, agents: by,
		detail: "The file has " + human.Count(e.Records, "record") + ".",
	}, e.File)
	if p.listed[e.File] {
		p.add(premisEvent{
			eventType: sealing, at: e.Listed, agents: []premisAgent{anyVersion}, note: "SHA-256 " + e.SHA256,
			detail: "The finished file was sealed: it was read and listed in the manifest.",
		}, e.File)
		p.add(premisEvent{
			eventType: fixityCheck, at: p.now, agents: []premisAgent{p.self},
			detail: "The file was compared with the manifest while it was copied into the bag.",
		}, e.File)
	}
	if link, err := os.Lstat(path); err == nil && link.Mode()&os.ModeSymlink != 0 {
		to, _ := os.Readlink(path) // it is a link
		p.add(premisEvent{
			eventType: moving, at: link.ModTime(), agents: []premisAgent{anyVersion},
			detail: "The file was moved to " + filepath.Dir(to) + ". The copy was compared with the manifest.",
		}, e.File)
	}
}

// object describes a file.
func object(e fixity.Entry, version string, by []premisAgent, made time.Time) node {
	format := el("formatDesignation", "", el("formatName", "WARC"))
	if version != "" {
		format.Nodes = append(format.Nodes, el("formatVersion", version))
	}
	formats := el("format", "", format)
	if version == "1.1" {
		formats.Nodes = append(formats.Nodes,
			el("formatRegistry", "", el("formatRegistryName", "PRONOM"), el("formatRegistryKey", "fmt/1281")))
	}
	if strings.HasSuffix(e.File, ".gz") {
		formats.Nodes = append(formats.Nodes, el("formatNote", "Each record is a gzip member."))
	}
	traits := el("objectCharacteristics", "",
		el("compositionLevel", "0"),
		el("fixity", "", el("messageDigestAlgorithm", "SHA-256"), el("messageDigest", e.SHA256)),
		el("size", strconv.FormatInt(e.Size, 10)), formats)
	for _, agent := range by {
		if agent.software {
			traits.Nodes = append(traits.Nodes, el("creatingApplication", "",
				el("creatingApplicationName", agent.name), el("dateCreatedByApplication", premisTime(made))))
		}
	}
	o := el("object", "", identifier("object", "filename", e.File), traits, el("originalName", e.File),
		el("storage", "", el("contentLocation", "",
			el("contentLocationType", "path in the bag"), el("contentLocationValue", "data/"+e.File))))
	o.Attrs = []xml.Attr{attr("xsi:type", "file")}
	return o
}

// verdicts adds what warc.sealed_command said of the files of the bag.
func (p *premis) verdicts(all []fixity.Verdict) {
	for _, v := range all {
		if p.wanted[v.File] {
			p.add(premisEvent{
				eventType: examination, at: v.At, note: v.Verdict, agents: []premisAgent{{v.Agent, true}},
				detail: "A program was called with the finished file. The manifest has what it said.",
			}, v.File)
		}
	}
}

// history adds what the lists next to the WARC files say about the files of the bag.
func (p *premis) history() error {
	return errors.Join(
		eachLine(filepath.Join(p.dir, fixity.LogName), func(l fixity.Event) {
			if p.wanted[l.File] {
				p.add(premisEvent{
					eventType: fixityCheck, at: l.At, failed: l.Outcome != fixity.Same,
					note:   strings.TrimSpace(string(l.Outcome) + " " + l.Text()),
					detail: "The file was compared with the manifest.", agents: []premisAgent{{l.Agent, true}},
				}, l.File)
			}
		}),
		eachLine(filepath.Join(p.dir, uploadList), func(l uploadedFile) {
			if p.wanted[l.File] {
				p.add(premisEvent{
					eventType: copying, at: l.At, agents: []premisAgent{anyVersion},
					detail: "A copy was made in the bucket " + l.Bucket + " as " + l.Key + " and compared with the manifest.",
				}, l.File)
			}
		}),
		eachLine(filepath.Join(p.dir, lossesName), func(l lossLine) {
			if p.wanted[l.File] {
				p.add(l.event(), l.File)
			}
		}))
}

// otherEvent describes what another program did with a file.
type otherEvent struct {
	File, Type, Agent, Outcome, Detail, Note string
	At                                       time.Time
}

// otherCodes are the codes in the vocabulary of what other programs do.
var otherCodes = map[string]string{
	"virus check": "vir", "validation": "val", "ingestion": "ing",
	fixityCheck.name: fixityCheck.code, copying.name: copying.code, identification.name: identification.code,
}

// others adds the events of other programs in a file.
func (p *premis) others(file string) (err error) {
	f, err := fileio.OpenText(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := json.NewDecoder(f)
	for n := 1; lines.More(); n++ {
		var e otherEvent
		if err := lines.Decode(&e); err != nil {
			return fmt.Errorf("object %d: %w", n, err)
		}
		if e.File == "" || e.Type == "" || e.At.IsZero() {
			return fmt.Errorf("object %d lacks file, type or at", n)
		}
		if !p.wanted[e.File] {
			continue
		}
		of := premisEvent{
			eventType: eventType{e.Type, otherCodes[e.Type]}, at: e.At, detail: e.Detail, failed: e.Outcome != "success",
			note: e.Note,
		}
		if of.failed && of.note == "" {
			of.note = e.Outcome
		}
		if e.Agent != "" {
			of.agents = []premisAgent{{e.Agent, true}}
		}
		p.add(of, e.File)
	}
	return nil
}

// eachLine calls see with each line of a list. There may be no list. Lines that are no objects are skipped, such as one
// that a crash has cut.
func eachLine[V any](path string, see func(V)) (err error) {
	f, err := fileio.OpenText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v V
		if json.Unmarshal(lines.Bytes(), &v) == nil {
			see(v)
		}
	}
	return lines.Err()
}

// text returns everything as XML.
func (p *premis) text() ([]byte, error) {
	root := el("premis", "", p.objects...)
	root.Attrs = []xml.Attr{
		attr("xmlns", "http://www.loc.gov/premis/v3"), attr("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
		attr("xsi:schemaLocation", "http://www.loc.gov/premis/v3 http://www.loc.gov/standards/premis/v3/premis-v3-0.xsd"),
		attr("version", "3.0"),
	}
	agents := map[premisAgent]bool{}
	var described []node
	slices.SortStableFunc(p.events, func(a, b premisEvent) int { return a.at.Compare(b.at) })
	for _, e := range p.events {
		root.Nodes = append(root.Nodes, e.node())
		for _, a := range e.agents {
			if !agents[a] {
				agents[a] = true
				described = append(described, a.node())
			}
		}
	}
	root.Nodes = append(root.Nodes, described...)
	for say, files := range p.granted {
		root.Nodes = append(root.Nodes, say.node(files))
	}
	text, err := xml.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("describe the files in PREMIS: %w", err)
	}
	return append([]byte(xml.Header), append(text, '\n')...), nil
}

// node returns the event as an element. Its identifier depends on the event alone, so that each bag has the same.
func (e premisEvent) node() node {
	when := premisTime(e.at)
	if !e.end.IsZero() && !e.end.Equal(e.at) {
		when += "/" + premisTime(e.end)
	}
	id := uuid.NewSHA1(uuid.NameSpaceURL, []byte(fmt.Sprintf("https://github.com/arcrawl/arcrawl/event?%q",
		[]string{e.name, when, e.detail, e.note, strings.Join(e.files, "\n")})))
	kind, outcome, code := el("eventType", e.name), "success", "suc"
	if e.code != "" {
		kind.Attrs = []xml.Attr{
			attr("authority", "eventType"), attr("authorityURI", eventTypes), attr("valueURI", eventTypes+"/"+e.code),
		}
	}
	if e.failed {
		outcome, code = "fail", "fai"
	}
	result := el("eventOutcome", outcome)
	result.Attrs = []xml.Attr{attr("authorityURI", eventOutcomes), attr("valueURI", eventOutcomes+"/"+code)}
	results := el("eventOutcomeInformation", "", result)
	if e.note != "" {
		results.Nodes = append(results.Nodes, el("eventOutcomeDetail", "", el("eventOutcomeDetailNote", e.note)))
	}
	n := el("event", "", identifier("event", "UUID", id.String()), kind, el("eventDateTime", when))
	if e.detail != "" {
		n.Nodes = append(n.Nodes, el("eventDetailInformation", "", el("eventDetail", e.detail)))
	}
	n.Nodes = append(n.Nodes, results)
	for _, a := range e.agents {
		link := identifier("linkingAgent", "local", a.name)
		link.Nodes = append(link.Nodes, el("linkingAgentRole", a.role()))
		n.Nodes = append(n.Nodes, link)
	}
	for _, file := range e.files {
		n.Nodes = append(n.Nodes, identifier("linkingObject", "filename", file))
	}
	return n
}

func (a premisAgent) role() string {
	if a.software {
		return "executing program"
	}
	return "implementer"
}

func (a premisAgent) node() node {
	kind := "organization"
	if a.software {
		kind = "software"
	}
	return el("agent", "", identifier("agent", "local", a.name), el("agentName", a.name), el("agentType", kind))
}

// node returns who may see files as an element.
func (r rights) node(files []string) node {
	id := uuid.NewSHA1(uuid.NameSpaceURL, []byte(fmt.Sprintf("https://github.com/arcrawl/arcrawl/rights?%q", r)))
	s := el("rightsStatement", "", identifier("rightsStatement", "UUID", id.String()), el("rightsBasis", "other"))
	basis := el("otherRightsInformation", "", el("otherRightsBasis", "policy"))
	if r.rights != "" {
		basis.Nodes = append(basis.Nodes, el("otherRightsNote", r.rights))
	}
	s.Nodes = append(s.Nodes, basis)
	if r.access+r.available != "" {
		grant := el("rightsGranted", "", el("act", "disseminate"))
		if r.access != "" {
			grant.Nodes = append(grant.Nodes, el("restriction", r.access))
		}
		if r.available != "" {
			grant.Nodes = append(grant.Nodes, el("rightsGrantedNote", "Not before "+r.available))
		}
		s.Nodes = append(s.Nodes, grant)
	}
	for _, file := range files {
		s.Nodes = append(s.Nodes, identifier("linkingObject", "filename", file))
	}
	return el("rights", "", s)
}

// node is an element of XML.
type node struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Nodes   []node     `xml:",any"`
}

func el(name, text string, nodes ...node) node {
	return node{XMLName: xml.Name{Local: name}, Text: text, Nodes: nodes}
}

func attr(name, value string) xml.Attr { return xml.Attr{Name: xml.Name{Local: name}, Value: value} }

// identifier returns an element such as objectIdentifier.
func identifier(of, kind, value string) node {
	return el(of+"Identifier", "", el(of+"IdentifierType", kind), el(of+"IdentifierValue", cmp.Or(value, "unknown")))
}

// premisTime returns a time as PREMIS has it.
func premisTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
