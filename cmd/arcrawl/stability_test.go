package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// promisesFile has what docs/stability.md promises for all releases 1.x: in each line a name, " = ", and what it is.
const promisesFile = "testdata/stability.txt"

// promises holds what each promised name is.
type promises map[string]string

// TestThePromisesOfThisMajorVersionAreKept compares what users and their programs rely on with the recorded copy. With
// -update it records what is new; it never removes or changes a promise.
func TestThePromisesOfThisMajorVersionAreKept(t *testing.T) {
	t.Parallel()
	recorded, now := readPromises(t), currentPromises(t)
	for _, broken := range recorded.brokenBy(now) {
		t.Error(broken)
	}
	added := recorded.missing(now)
	if *update {
		maps.Copy(recorded, added)
		for name, is := range now {
			if isBound(name) && recorded.keeps(name, is) {
				recorded[name] = is // a wider bound
			}
		}
		writePromises(t, recorded)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(added)) {
		t.Errorf("%q is new, which 1.x permits; to promise it from now on, run go test ./cmd/arcrawl -run Promises -update",
			name+" = "+added[name])
	}
}

// TestABrokenPromiseIsNamed changes what there is, and reads what the test says of it.
func TestABrokenPromiseIsNamed(t *testing.T) {
	t.Parallel()
	was := promises{
		"minimum of a": "5", "maximum of a": "9", "flag run --x": "string", "exit code 65": "damaged",
	}
	for _, c := range []struct {
		name, of, is string
		want         string
	}{
		{"nothing changed", "flag run --x", "string", ""},
		{"wider bounds", "minimum of a", "4", ""},
		{"a narrower minimum", "minimum of a", "6", `"minimum of a" was 5, and is 6 now`},
		{"a narrower maximum", "maximum of a", "8", `"maximum of a" was 9, and is 8 now`},
		{"another type", "flag run --x", "int", `"flag run --x" was string, and is int now`},
		{"removed", "exit code 65", "", `"exit code 65" (damaged) is not there any more`},
	} {
		now := maps.Clone(was)
		if now[c.of] = c.is; c.is == "" {
			delete(now, c.of)
		}
		got := strings.Join(was.brokenBy(now), "\n")
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	got := was.missing(promises{"flag run --y": "bool", "flag run --x": "int"})
	if !maps.Equal(got, promises{"flag run --y": "bool"}) {
		t.Errorf("new: %v, want the flag --y", got)
	}
}

// isBound reports whether another number may keep a promise: of wider bounds, or of a newer format next to old ones.
func isBound(name string) bool {
	return slices.ContainsFunc([]string{"minimum of ", "maximum of ", "newest format "}, func(begin string) bool {
		return strings.HasPrefix(name, begin)
	})
}

// keeps reports whether is keeps the promise about a name. A number may grow, and a minimum shrink.
func (p promises) keeps(name, is string) bool {
	if !isBound(name) {
		return p[name] == is
	}
	was, err1 := strconv.ParseFloat(p[name], 64)
	now, err2 := strconv.ParseFloat(is, 64)
	if strings.HasPrefix(name, "minimum") {
		was, now = now, was
	}
	return err1 == nil && err2 == nil && was <= now
}

// brokenBy returns in words each promise that now does not keep.
func (p promises) brokenBy(now promises) []string {
	const remedy = "docs/stability.md promises it for all releases 1.x: keep it next to what replaces it"
	var all []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		is, there := now[name]
		switch {
		case !there && isBound(name) && !strings.HasPrefix(name, "newest"): // without a bound all is accepted
		case !there:
			all = append(all, fmt.Sprintf("%q (%s) is not there any more; %s", name, p[name], remedy))
		case !p.keeps(name, is):
			all = append(all, fmt.Sprintf("%q was %s, and is %s now; %s", name, p[name], is, remedy))
		}
	}
	return all
}

// missing returns what now has in addition.
func (p promises) missing(now promises) promises {
	added := maps.Clone(now)
	maps.DeleteFunc(added, func(name, _ string) bool { _, there := p[name]; return there })
	return added
}

func readPromises(t *testing.T) promises {
	t.Helper()
	all := promises{}
	for line := range strings.Lines(readText(t, promisesFile)) {
		if name, is, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " = "); ok && !strings.HasPrefix(line, "#") {
			all[name] = is
		}
	}
	return all
}

func writePromises(t *testing.T, all promises) {
	t.Helper()
	b := []byte("# What docs/stability.md promises; TestThePromisesOfThisMajorVersionAreKept compares it.\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b = fmt.Appendf(b, "%s = %s\n", name, all[name])
	}
	archivetest.Must(t, os.WriteFile(promisesFile, b, 0o644))
}

// currentPromises returns what this program has of all that is promised.
func currentPromises(t *testing.T) promises {
	t.Helper()
	p := promises{}
	for _, k := range config.Keys() {
		p.addKey("key "+k.Name, k.Type)
		p["files with key "+k.Name] = k.Scope
	}
	p.addCommands(newRoot())
	p.addExitCodes()
	p.addRequests(t)
	p.addLog(t)
	p.addMetrics(t)
	p.addFormats(t)
	return p
}

// addKey adds a key of the configuration with its type, its choices and its bounds.
func (p promises) addKey(name string, of schema.Type) {
	bare := of
	bare.Min, bare.Max, bare.Choices, bare.Columns = 0, 0, nil, nil
	what, _, _ := strings.Cut(bare.String(), ", ")
	switch {
	case of.Choices != nil:
		what = "one of its values"
	case of.Kind == schema.Tables:
		what = "list of tables"
	}
	p[name] = what
	for _, choice := range of.Choices {
		p[name+" "+strconv.Quote(choice)] = "value"
	}
	for _, column := range of.Columns {
		p.addKey(name+"."+column.Name, column.Type)
	}
	if of.Min != 0 || of.Max != 0 {
		p["minimum of "+name] = strconv.FormatFloat(of.Min, 'f', -1, 64)
		p["maximum of "+name] = strconv.FormatFloat(of.Max, 'f', -1, 64)
	}
}

func (p promises) addCommands(cmd *cobra.Command) {
	if cmd.Hidden {
		return
	}
	p["command "+cmd.CommandPath()] = "command"
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		p["flag "+cmd.CommandPath()+" --"+f.Name] = f.Value.Type()
		if f.Shorthand != "" {
			p["flag "+cmd.CommandPath()+" -"+f.Shorthand] = "--" + f.Name
		}
	})
	for _, sub := range cmd.Commands() {
		p.addCommands(sub)
	}
}

func (p promises) addExitCodes() {
	for code, meaning := range map[int]string{
		cli.ExitOK: "success", cli.ExitFailure: "other failure", cli.ExitUsage: "wrong command line",
		cli.ExitDamaged: "damaged store or archive", cli.ExitBusy: "in use, or no daemon answers",
		cli.ExitFolder: "cannot use a folder", cli.ExitDisk: "disk is full or failing",
		cli.ExitConfig: "invalid configuration", cli.ExitInterrupted: "interrupted twice",
	} {
		p["exit code "+strconv.Itoa(code)] = meaning
	}
}

// wholeOpenAPI returns the document of the API with what all wings add.
func wholeOpenAPI(t *testing.T) []byte {
	t.Helper()
	files, err := filepath.Glob("../../*/openapi.json")
	archivetest.Must(t, err)
	var added []admin.Extension
	for _, file := range files {
		if filepath.Base(filepath.Dir(file)) != "admin" {
			added = append(added, admin.Extension{OpenAPI: readText(t, file)})
		}
	}
	whole, err := admin.OpenAPI(added...)
	archivetest.Must(t, err)
	return whole
}

// jsonType is a type in the OpenAPI document.
type jsonType struct {
	Ref        string              `json:"$ref"`
	Type       any                 `json:"type"`
	Format     string              `json:"format"`
	Items      *jsonType           `json:"items"`
	Additional any                 `json:"additionalProperties"`
	Properties map[string]jsonType `json:"properties"`
	Required   []string            `json:"required"`
	Enum       []string            `json:"enum"`
}

// String returns the type in one line.
func (j jsonType) String() string {
	switch {
	case j.Ref != "":
		return j.Ref[strings.LastIndexByte(j.Ref, '/')+1:]
	case j.Items != nil:
		return "list of " + j.Items.String()
	case j.Format != "":
		return fmt.Sprint(j.Type, " ", j.Format)
	}
	return fmt.Sprint(j.Type)
}

// addRequests adds the requests of the API with their parameters, and the fields of orders and answers.
func (p promises) addRequests(t *testing.T) {
	t.Helper()
	type content struct {
		Content map[string]struct {
			Schema jsonType `json:"schema"`
		} `json:"content"`
	}
	var whole struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Required bool
				Schema   jsonType
			}
			RequestBody content
			Responses   map[string]content
		}
		Components struct{ Schemas map[string]jsonType }
	}
	archivetest.Must(t, json.Unmarshal(wholeOpenAPI(t), &whole))
	body := func(name string, c content) {
		for mime, of := range c.Content {
			p[name+" "+mime] = of.Schema.String()
		}
	}
	for path, methods := range whole.Paths {
		for method, request := range methods {
			name := "request " + strings.ToUpper(method) + " " + path
			p[name] = "request"
			body(name+" takes", request.RequestBody)
			for status, answer := range request.Responses {
				if strings.HasPrefix(status, "2") {
					body(name+" answers "+status, answer)
				}
			}
			for _, of := range request.Parameters {
				p[name+" parameter "+of.Name] = fmt.Sprintf("%s in %s, required %t", of.Schema, of.In, of.Required)
			}
		}
	}
	for of, object := range whole.Components.Schemas {
		for field, has := range object.Properties {
			p["field "+of+"."+field] = fmt.Sprintf("%s, required %t", has, slices.Contains(object.Required, field))
		}
	}
}

// addLog adds the columns of crawl.log, as a line shows them, and the names in the last two.
func (p promises) addLog(t *testing.T) {
	t.Helper()
	sum, err := digest.Parse("sha1:AUZIDO4W6X3XXACAUIQZQ5ROY4BGFN24")
	archivetest.Must(t, err)
	at := time.Date(2026, 11, 29, 1, 2, 3, 0, time.UTC)
	entry := crawllog.Entry{
		Logged: at, Status: 200, Size: 1234, URI: "http://uri.example/", Hops: "LE", Via: "http://via.example/",
		MIME: "text/html", Worker: 7, Started: at.Add(-time.Second), Took: 56 * time.Millisecond, Digest: sum,
		Seed: "http://seed.example/", Annotations: []string{"ip:192.0.2.1"},
		Schedule: &crawllog.Schedule{Wait: time.Hour, Visits: 3, Versions: 2},
		Extra:    &crawllog.Extra{WARCFile: "a.warc.gz"},
	}
	for i, column := range strings.Fields(string(entry.AppendTo(nil, true))) {
		p[fmt.Sprintf("column %02d of crawl.log", i+1)] = "as in " + column
	}
	extra := reflect.TypeFor[crawllog.Extra]()
	for i := range extra.NumField() {
		p["name in column 13 of crawl.log: "+extra.Field(i).Tag.Get("json")] = extra.Field(i).Type.String()
	}
	for _, a := range []string{
		crawllog.Unchanged, crawllog.MidFetchAbort, crawllog.LengthTruncated, crawllog.TimeTruncated,
		crawllog.DuplicateDigest, crawllog.DuplicateNotModified, crawllog.Evidence, crawllog.OtherRequest,
		crawllog.AcceptedExpired, crawllog.UnwrittenFor, crawllog.Way, crawllog.Permission, crawllog.Spared, crawllog.Asked,
		crawllog.Look, crawllog.Restless, crawllog.Noise, crawllog.Hit,
	} {
		p["annotation of crawl.log "+a] = a
	}
	p.addFound(t, "annotation of crawl.log ", `Annotation: +"([^"]+)"`, "crawllog/words.go", "aspects/*/*.go")
}

// addFound adds the first group of each match of a pattern in files of the project, which is what the last group has.
func (p promises) addFound(t *testing.T, prefix, pattern string, files ...string) {
	t.Helper()
	for _, of := range files {
		found, err := filepath.Glob("../../" + of)
		archivetest.Must(t, err)
		matches := 0
		for _, file := range found {
			for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(readText(t, file), -1) {
				matches++
				p[prefix+match[1]] = match[len(match)-1]
			}
		}
		if matches == 0 {
			t.Errorf("%s: nothing matches %s; this test does not understand the file", of, pattern)
		}
	}
}

// addMetrics adds the table of docs/metrics.md, which a test of its own compares with the program.
func (p promises) addMetrics(t *testing.T) {
	t.Helper()
	p.addFound(t, "metric ", "(?m)^\\| `(arcrawl_[a-z_]+)` \\| ([a-z]+) \\|", "docs/metrics.md")
	p.addFound(t, "label of metric ", "(?m)^\\| `(arcrawl_[a-z_]+)` \\| [a-z]+ \\| `([a-z_]+)`", "docs/metrics.md")
}

// addFormats adds the version of each stored format, the names of exports, and the recorded files of version 1.0.0,
// which tests of their packages read and which nobody may change.
func (p promises) addFormats(t *testing.T) {
	t.Helper()
	for _, file := range []string{
		"frontier/open.go", "dedup/row.go", "hosts/rows.go", "archive/backupfolder.go", "archive/fixity/fixity.go",
		"cluster/shared/schema.go",
	} {
		p.addFound(t, "newest format in "+file+": ", `(?m)^\s*(?:const )?(\w*[fF]ormat|version) += (\d+)`, file)
	}
	journal := "warcout/journal.go"
	p.addFound(t, "newest format in "+journal+": ", `(journalVersion) = journalMagic \+ "(\d+)`, journal)
	p.addFound(t, "name in exports of the frontier: ", `export:"([^",]+)`, "frontier/record.go")
	for _, file := range []string{
		"frontier/testdata/rows-format-1.txt", "frontier/testdata/format-1-closed.tar.gz",
		"frontier/testdata/format-1-killed.tar.gz",
	} {
		p["recorded file "+file] = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(readText(t, "../../"+file))))
	}
}
