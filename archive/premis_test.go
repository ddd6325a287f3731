package archive

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/foreign"
)

// eventful returns a folder of three files with a manifest. The first was copied to a bucket and checked, the second
// was moved to another disk, and the third is lost.
func eventful(t *testing.T) (dir string, files []string) {
	t.Helper()
	l, _ := archivetest.Three(t)
	manifest, err := fixity.Open(l.Dir, archivetest.Start)
	archivetest.Must(t, err)
	for _, path := range l.Files() {
		e, err := fixity.Measure(t.Context(), path, nil)
		archivetest.Must(t, err)
		files = append(files, filepath.Base(path))
		archivetest.Must(t, manifest.Add(filepath.Base(path), e, archivetest.Start.Add(time.Hour)))
	}
	first := manifest.Entries[0]
	archivetest.Must(t, manifest.Judge(first, "/usr/bin/scan", "no virus", archivetest.Start.Add(2*time.Hour)))
	archivetest.Must(t, manifest.Close())
	daemontest.WriteFile(t, filepath.Join(l.Dir, uploadList),
		`{"file":"`+files[0]+`","bucket":"press","key":"2026/`+files[0]+`","at":"2026-11-22T09:00:00Z"}`+"\n")
	daemontest.WriteFile(t, filepath.Join(l.Dir, fixity.LogName), `{"arcrawl-fixity-log":1}`+"\n"+
		`{"file":"`+files[0]+`","at":"2026-11-23T09:00:00Z","agent":"arcrawl/1 on vm","outcome":"same"}`+"\n"+
		`{"file":"`+files[2]+`","at":"2026-11-23T10:00:00Z","agent":"arcrawl/1 on vm","outcome":"changed"}`+"\n"+`{"file":"cut`)
	moved := filepath.Join(t.TempDir(), files[1])
	archivetest.Must(t, os.Rename(filepath.Join(l.Dir, files[1]), moved))
	archivetest.Must(t, os.Symlink(moved, filepath.Join(l.Dir, files[1])))
	lost := []dedup.Loss{{File: files[2], Cause: dedup.Absent, Pending: true}}
	at := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	for _, event := range []string{lineLoss, lineLoss, lineRecovery, lineRecovery} { // each is listed once
		archivetest.Must(t, addLosses(l.Dir, event, "arcrawl/1", lost, at))
		at = at.Add(time.Hour)
	}
	archivetest.Must(t, os.Remove(filepath.Join(l.Dir, files[2])))
	return l.Dir, files
}

// described is a document of PREMIS.
type described struct {
	Objects []struct {
		Name     string   `xml:"objectIdentifier>objectIdentifierValue"`
		Digest   string   `xml:"objectCharacteristics>fixity>messageDigest"`
		Size     int64    `xml:"objectCharacteristics>size"`
		Programs []string `xml:"objectCharacteristics>creatingApplication>creatingApplicationName"`
		Place    string   `xml:"storage>contentLocation>contentLocationValue"`
	} `xml:"object"`
	Events []struct {
		ID      string   `xml:"eventIdentifier>eventIdentifierValue"`
		Type    string   `xml:"eventType"`
		Date    string   `xml:"eventDateTime"`
		Outcome string   `xml:"eventOutcomeInformation>eventOutcome"`
		Agents  []string `xml:"linkingAgentIdentifier>linkingAgentIdentifierValue"`
		Files   []string `xml:"linkingObjectIdentifier>linkingObjectIdentifierValue"`
	} `xml:"event"`
	Agents []string `xml:"agent>agentIdentifier>agentIdentifierValue"`
}

// A repository takes a bag and reads in it what happened to each file, also to the one that is lost.
func TestABagTellsTheHistoryOfItsFiles(t *testing.T) {
	t.Parallel()
	dir, files := eventful(t)
	bag := filepath.Join(t.TempDir(), "bag")
	scans := archivetest.Save(t, "scans.jsonl", []byte(
		`{"file":"`+files[0]+`","at":"2026-11-22T10:00:00Z","type":"virus check","agent":"ClamAV 1.4","outcome":"success"}`+"\n"+
			`{"file":"`+files[1]+`","at":"2026-11-22T10:00:00Z","type":"virus check","agent":"ClamAV 1.4","outcome":"Eicar"}`+"\n"+
			`{"file":"other.warc.gz","at":"2026-11-22T10:00:00Z","type":"virus check","outcome":"success"}`+"\n"))
	line{
		[]string{"bag", "-o", bag, "--premis", "--events", scans, dir},
		cli.ExitDamaged,
		[]string{"it is not here", "1 file not in the bag"},
	}.run(t)
	var d described
	archivetest.Must(t, xml.Unmarshal([]byte(archivetest.Read(t, filepath.Join(bag, premisName))), &d))
	if len(d.Objects) != 2 {
		t.Fatalf("the objects are %+v", d.Objects)
	}
	for _, o := range d.Objects {
		sum, size, err := warc.HashFile(filepath.Join(bag, o.Place))
		if err != nil || sum != "sha256:"+o.Digest || size != o.Size || !slices.Equal(o.Programs, []string{"test"}) {
			t.Errorf("%+v: the file in the bag has %s and %d bytes, %v", o, sum, size, err)
		}
	}
	if log := archivetest.Read(t, filepath.Join(bag, fixity.LogName)); !strings.Contains(log, files[0]) {
		t.Errorf("the log of checks in the bag is %q", log)
	}
	events := map[string][]string{}
	ids := map[string]bool{}
	for _, e := range d.Events {
		if ids[e.ID] {
			t.Errorf("two events have the identifier %s", e.ID)
		}
		ids[e.ID] = true
		for _, a := range e.Agents {
			if !slices.Contains(d.Agents, a) {
				t.Errorf("the agent %s of a %s is not described", a, e.Type)
			}
		}
		for _, file := range e.Files {
			events[file] = append(events[file], e.Type+" "+e.Outcome)
		}
	}
	const captured, sealed = "capture success", "message digest calculation success"
	want := map[string][]string{
		files[0]: {
			captured, sealed, "examination success", "virus check success", "replication success", "fixity check success", "fixity check success",
			"information package creation success",
		},
		files[1]: {captured, sealed, "virus check fail", "transfer success", "fixity check success", "information package creation success"},
		files[2]: {"fixity check fail", "loss fail", "recovery success", "loss fail"},
	}
	for file := range events { // the clock of the machine dates the move and the bag
		slices.Sort(events[file])
		slices.Sort(want[file])
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("the events (-want +got):\n%s", diff)
	}
}

// TestPremisIsValidForOtherPrograms lets libxml2 validate the history of files against the schema of PREMIS 3.0.
func TestPremisIsValidForOtherPrograms(t *testing.T) {
	t.Parallel()
	dir, _ := eventful(t)
	bag := filepath.Join(t.TempDir(), "bag")
	line{[]string{"bag", "-o", bag, "--premis=formats", dir}, cli.ExitDamaged, nil}.run(t)
	if printed, errs, err := foreign.Program(t, "premis-schema", filepath.Join(bag, premisName)); err != nil {
		t.Errorf("%v\n%s%s", err, printed, errs)
	}
	rights := filepath.Join(t.TempDir(), "rights")
	line{[]string{"bag", "-o", rights, "--premis", "--series", "embargo", describedArchive(t)}, cli.ExitOK, nil}.run(t)
	if printed, errs, err := foreign.Program(t, "premis-schema", filepath.Join(rights, premisName)); err != nil {
		t.Errorf("with rights: %v\n%s%s", err, printed, errs)
	}
	broken := strings.Replace(archivetest.Read(t, filepath.Join(bag, premisName)), "<size>", "<size>much", 1)
	if _, errs, err := foreign.Program(t, "premis-schema", archivetest.Save(t, "broken.xml", []byte(broken))); err == nil {
		t.Errorf("a size that is no number is accepted: %s", errs)
	}
}

func TestABagSaysWhoSendsIt(t *testing.T) {
	t.Parallel()
	dir, _ := eventful(t)
	bag := filepath.Join(t.TempDir(), "bag")
	line{[]string{
		"bag", "-o", bag, "--info", "Source-Organization=Royal\nLibrary", "--info", "Contact-Name=Anna", "--info",
		"Contact-Email=anna@library.example", "--info", "External-Identifier=urn:nbn:se:1", dir,
	}, cli.ExitDamaged, nil}.run(t)
	info := archivetest.Read(t, filepath.Join(bag, "bag-info.txt"))
	for _, want := range []string{
		"Source-Organization: Royal Library\n", "Contact-Name: Anna\n", "Contact-Email: anna@library.example\n",
		"External-Identifier: urn:nbn:se:1\n",
		"Bag-Size: ", fmt.Sprintf("Bag-Software-Agent: arcrawl/%s\n", cli.Version()),
	} {
		if !strings.Contains(info, want) {
			t.Errorf("bag-info.txt lacks %q:\n%s", want, info)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty")
	for text, want := range map[string]string{"{": "object 1: unexpected EOF", `{"file":"x"}`: "object 1 lacks file, type or at"} {
		events := archivetest.Save(t, "events.jsonl", []byte(text))
		line{[]string{"bag", "-o", empty, "--premis", "--events", events, dir}, cli.ExitFailure, []string{want}}.run(t)
	}
	line{[]string{"bag", "-o", empty, "--events", "x", dir}, cli.ExitUsage, []string{"--events needs --premis"}}.run(t)
	line{[]string{"bag", "-o", empty, "--info", "Contact", dir}, cli.ExitUsage, []string{"want NAME=VALUE"}}.run(t)
	line{[]string{"bag", "-o", empty, "--info", "Payload-Oxum=1.1", dir}, cli.ExitUsage, []string{"itself writes"}}.run(t)
	line{[]string{"bag", "-o", empty, "--premis", "--since", "2030", dir}, cli.ExitFailure, []string{"there is none in the bag"}}.run(t)
}
