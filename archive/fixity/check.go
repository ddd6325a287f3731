package fixity

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// CheckOptions say what to compare.
type CheckOptions struct {
	Only      map[string]bool   // the names of files to compare; nil = all
	Elsewhere map[string]string // files that were moved away, and where to read them; see [Elsewhere]
	Noted     []Noted           // of this manifest or others
}

// Checked says what Check has compared.
type Checked struct {
	Manifest string `json:"manifest"` // its path; empty if the folder has none
	Files    int    `json:"files"`    // that were compared
	Head     string `json:"head"`     // SHA-256 of its last line
	Held     []Held `json:"held_against,omitempty"`
}

// Noted holds something that somebody knows of a manifest: its head at some time, or whose key signs heads of it.
type Noted struct {
	Text   string // how it was said
	Head   string
	Signer *ecdsa.PublicKey
}

// Held is a noted or signed head that is in a manifest: nothing up to it was changed, removed or replaced, unless Check
// reports a fault of the lines.
type Held struct {
	Noted  string    `json:"noted"` // see [Noted]
	Head   string    `json:"head"`
	Later  int       `json:"later"`           // number of lines that were added since
	Signed time.Time `json:"signed,omitzero"` // when somebody signed it
}

// Check compares the files of a folder with its manifest and reports each difference. If the folder has no manifest, it
// reports WARC files that arcrawl wrote there. Like the daemon it also finds files that were moved to a folder below.
func Check(ctx context.Context, dir string, o CheckOptions, report func(warc.Finding) error) (c Checked, err error) {
	m, err := Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return c, reportUnlisted(dir, o, report)
	}
	c.Manifest = filepath.Join(dir, FileName)
	if err != nil {
		return c, report(finding(c.Manifest, warc.Error, "the manifest cannot be read: %v", err))
	}
	c.Head = m.last
	if err := m.reportFaults(report); err != nil {
		return c, err
	}
	for _, n := range o.Noted {
		if line := m.lineOf(n.Head); line > 0 {
			c.Held = append(c.Held, Held{Noted: n.Text, Head: n.Head, Later: len(m.lines) - line})
		}
	}
	if err := m.checkSigned(o.Noted, &c, report); err != nil {
		return c, err
	}
	places := maps.Clone(o.Elsewhere)
	if below, err := Elsewhere([]string{dir}); err == nil && places != nil { // what cannot be read is gone
		maps.Copy(places, below)
	} else if err == nil {
		places = below
	}
	for _, e := range m.Entries {
		if o.Only != nil && !o.Only[e.File] {
			continue
		}
		if f := m.compare(ctx, e, places); f.Text != "" {
			if err := report(f); err != nil {
				return c, err
			}
		}
		if ctx.Err() != nil {
			return c, context.Cause(ctx)
		}
		c.Files++
	}
	missing, err := m.Missing(m.Since)
	if err != nil || o.Only != nil {
		return c, err
	}
	for _, name := range missing {
		f := finding(filepath.Join(dir, name), warc.Warning, "is not in the manifest; a running daemon adds it")
		if err := report(f); err != nil {
			return c, err
		}
	}
	return c, nil
}

// reportFaults reports what is wrong with the lines of the manifest, and of the log of checks.
func (m *Manifest) reportFaults(report func(warc.Finding) error) error {
	for _, fault := range m.Faults {
		if err := report(finding(filepath.Join(m.dir, FileName), warc.Error, "%s", fault)); err != nil {
			return err
		}
	}
	faults, err := logFaults(m.dir)
	if err != nil {
		faults = append(faults, "the log of fixity checks cannot be read: "+err.Error())
	}
	for _, fault := range faults {
		if err := report(finding(filepath.Join(m.dir, LogName), warc.Error, "%s", fault)); err != nil {
			return err
		}
	}
	return nil
}

// reportUnlisted reports that a folder has WARC files of arcrawl and no manifest.
func reportUnlisted(dir string, o CheckOptions, report func(warc.Finding) error) error {
	if o.Only != nil {
		return nil
	}
	names, err := (&Manifest{dir: dir}).Missing(time.Time{})
	if err != nil {
		return nil //nolint:nilerr // a folder that cannot be read is reported with its files
	}
	for _, name := range names {
		info := readInfo(filepath.Join(dir, name))
		if !strings.HasPrefix(info.Get("software"), "arcrawl/") || info.Get("madeBy") != "" { // by extract
			continue
		}
		return report(finding(dir, warc.Warning, "arcrawl wrote WARC files here, such as %s, and there is no %s: "+
			"nothing shows whether files or whole records are gone; if the files were moved here, verify the folder "+
			"where they were written, which has it", name, FileName))
	}
	return nil
}

// HeadField is the field of the warcinfo record of a WARC file with the head of the manifest, as "sha256:…", when the
// file was begun.
const HeadField = "manifestHead"

// maxInfo is the maximum size of a warcinfo record that is read, in bytes.
const maxInfo = 1 << 20

// readInfo returns the fields of the warcinfo record of a file; none if it does not begin with one that can be read.
func readInfo(path string) warc.Header {
	r, err := warc.OpenFile(path)
	if err != nil {
		return nil
	}
	defer r.Close() //nolint:errcheck // nothing was written
	rec, err := r.Next()
	if err != nil || rec.Header.Type() != "warcinfo" {
		return nil
	}
	block, err := io.ReadAll(io.LimitReader(rec, maxInfo))
	if err != nil {
		return nil
	}
	return warc.ParseFields(block)
}

func finding(file string, severity warc.Severity, format string, args ...any) warc.Finding {
	return warc.Finding{
		File: file, Offset: -1, Severity: severity, Kind: warc.Fixity, Text: fmt.Sprintf(format, args...),
	}
}

// compare compares a file with its entry. The finding is empty if they agree.
func (m *Manifest) compare(ctx context.Context, e Entry, elsewhere map[string]string) (f warc.Finding) {
	file := filepath.Join(m.dir, filepath.FromSlash(e.File))
	got := e.Compare(ctx, file, nil)
	if got.Outcome == Gone {
		place, moved := elsewhere[filepath.Base(file)]
		if moved && place == "" {
			return f // a list says so
		}
		if moved {
			file = place
			got = e.Compare(ctx, file, nil)
		}
	}
	switch got.Outcome {
	case Gone:
		f = finding(file, warc.Error, "%s; if it was moved away, name its place with --elsewhere", got.Text())
	case Changed, Short, Unreadable:
		f = finding(file, warc.Error, "%s", got.Text())
	case Same:
		head := strings.TrimPrefix(readInfo(file).Get(HeadField), "sha256:")
		n, before := m.lineOf(head), m.lineOf(e.Previous)
		if head != "" && (n == 0 || before > 0 && n > before) {
			f = finding(file, warc.Warning, "names the head of the manifest when it was begun, %s, and no line before its own "+
				"has this SHA-256: the manifest was replaced, or the file is from another folder", head)
		}
	}
	return f
}

// Elsewhere returns the names of the WARC files that are at other places, each with its path: in folders and below, and
// in lists, where the path is empty. A line of a list is the name of a file, possibly after a checksum as sha256sum
// writes it, or a line of a manifest.
func Elsewhere(places []string) (map[string]string, error) {
	names := map[string]string{}
	for _, place := range places {
		files, faults := warc.FilesNamed([]string{place}, warc.IsArchive)
		for _, f := range faults {
			if f.Kind != warc.Empty {
				return nil, fmt.Errorf("look for moved WARC files: %w", f)
			}
		}
		if len(files) == 1 && files[0].Path == place && !warc.IsArchive(place) {
			if err := readList(place, names); err != nil {
				return nil, fmt.Errorf("read a list of moved WARC files: %w", err)
			}
			continue
		}
		for _, f := range files {
			names[filepath.Base(f.Path)] = f.Path
		}
	}
	return names, nil
}

func readList(list string, names map[string]string) (err error) {
	f, err := fileio.OpenText(list)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		var e Entry
		if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &e) == nil {
			text = e.File
		} else if words := strings.Fields(text); len(words) > 0 {
			text = strings.TrimPrefix(words[len(words)-1], "*")
		}
		if name := path.Base(filepath.ToSlash(text)); warc.IsArchive(name) {
			names[name] = ""
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", list, err)
	}
	return nil
}
