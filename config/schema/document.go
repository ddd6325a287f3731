package schema

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// maxFileSize bounds one file.
const maxFileSize = 1 << 20

// Document is one file: its decoded values and their positions.
type Document struct {
	File     string         // as shown in faults
	Data     []byte         // nil if the file cannot be read
	Root     map[string]any // nil if the file cannot be decoded; Faults says why
	Faults   []Fault
	Warnings []Fault
	Secrets  string  // folder of the secrets that the file may name; "" = none
	Staged   bool    // the text is a proposal: nothing outside of it may be read
	Lacks    []Fault // what this process cannot read, although the daemon may

	Named    map[string]bool // receives the places of the secrets that the file names; may be nil
	Reserved map[string]bool // places of secrets that the file may not name

	positions map[Path]position
	lines     []int         // offset of each line's first byte
	bad       map[Path]bool // paths with a fault
	once      *sync.Map     // Path → what [Once] returned
}

// Path identifies a value in a document. The zero value is the document itself.
type Path string

// separator separates the parts of a path. No key of the configuration contains it.
const separator = "\x1f"

// Child returns the path of a single key in the table p.
func (p Path) Child(name string) Path { return p + separator + Path(name) }

// Key returns the path of a dotted key below p.
func (p Path) Key(name string) Path {
	for part := range strings.SplitSeq(name, ".") {
		p = p.Child(part)
	}
	return p
}

// Element returns the path of the i-th element of the list p.
func (p Path) Element(i int) Path { return p.Child("#" + strconv.Itoa(i)) }

// String returns the path as the file writes it, without list elements.
func (p Path) String() string {
	var parts []string
	for part := range strings.SplitSeq(strings.TrimPrefix(string(p), separator), separator) {
		if !strings.HasPrefix(part, "#") {
			parts = append(parts, part)
		}
	}
	return Clip(strings.Join(parts, "."))
}

// Read reads and decodes the file at path. shown is its name in faults.
func Read(path, shown string) *Document {
	data, err := ReadFile(path, maxFileSize+1)
	var f Fault
	switch {
	case errors.Is(err, ErrIrregular):
		f = Fault{Problem: "is not a regular file", Remedy: "put a regular file there, or rename it"}
	case err != nil:
		f.Problem, f.Remedy = Unreadable(err)
	case len(data) > maxFileSize:
		f = Fault{Problem: "is larger than 1 MiB", Remedy: "check the file name, or move seeds into host files"}
	default:
		return Parse(data, shown)
	}
	d := newDocument(shown)
	d.AddFault(f)
	return d
}

// Parse decodes the text of a file.
func Parse(data []byte, shown string) *Document {
	d := newDocument(shown)
	d.Data = data
	d.parse()
	return d
}

func newDocument(shown string) *Document {
	return &Document{File: shown, positions: map[Path]position{}, bad: map[Path]bool{}, once: &sync.Map{}}
}

// ErrIrregular is the error for a file that is a folder, a pipe or a device.
var ErrIrregular = errors.New("it is no regular file")

// ReadFile reads at most limit bytes of a regular file.
func ReadFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path) // first, because opening a pipe could block forever
	if err == nil && !info.Mode().IsRegular() {
		err = ErrIrregular
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// Unreadable explains an error of the file system.
func Unreadable(err error) (problem, remedy string) {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist", "check the path"
	case errors.Is(err, syscall.ENOTDIR):
		return "is not a folder", "name a folder"
	case errors.Is(err, fs.ErrPermission):
		if at != nil {
			return "is not readable", permitted(at.Path)
		}
		return "is not readable", permitted("")
	}
	return "cannot be read: " + err.Error(), "check the path and the disk"
}

// permitted says what permits a user to read a file.
func permitted(path string) string {
	const groupReads = 0o040
	if info, err := os.Stat(path); err == nil && info.Mode()&groupReads != 0 {
		if group := groupOf(info); group != "" && group != "root" {
			return "members of the group " + group + " may read it: ask for usermod -aG " + group + " USER, and log in again"
		}
	}
	return "permit the user that runs arcrawl to read it"
}

// parse fills Root and the positions, or leaves Root nil and reports why.
func (d *Document) parse() {
	d.lines = append(d.lines, 0)
	for i, b := range d.Data {
		if b == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	if !utf8.Valid(d.Data) {
		good := 0
		for {
			r, n := utf8.DecodeRune(d.Data[good:])
			if r == utf8.RuneError && n <= 1 {
				break
			}
			good += n
		}
		d.AddFault(d.at(good, Fault{Problem: "is not UTF-8 from here on", Remedy: "save the file as UTF-8"}))
		return
	}
	text := d.Data
	if rest, ok := strings.CutPrefix(string(text), "\ufeff"); ok {
		text = []byte("   " + rest) // three spaces instead of the byte order mark keep the offsets
	}
	d.locate(text)
	if len(d.Faults) > 0 {
		return
	}
	root := map[string]any{}
	if _, err := toml.Decode(string(text), &root); err != nil {
		d.AddFault(d.semantic(err))
		return
	}
	d.Root = root
}

// at returns f with file, line and column of an offset.
func (d *Document) at(offset int, f Fault) Fault {
	f.File = d.File
	offset = max(0, min(offset, len(d.Data)))
	f.Line = sort.SearchInts(d.lines, offset+1)
	start := d.lines[f.Line-1]
	f.Column = utf8.RuneCount(d.Data[start:offset]) + 1
	if start == 0 && strings.HasPrefix(string(d.Data[:min(3, len(d.Data))]), "\ufeff") && f.Column > 1 {
		f.Column--
	}
	return f
}

// position returns the position of the value at p, or of the innermost value around it that has one.
func (d *Document) position(p Path) position {
	for {
		if at, ok := d.positions[p]; ok {
			return at
		}
		cut := strings.LastIndex(string(p), separator)
		if cut < 0 {
			return position{}
		}
		p = p[:cut]
	}
}

// AtKey returns f with file, line and column of the key at p.
func (d *Document) AtKey(p Path, f Fault) Fault { return d.at(d.position(p).key, f) }

// AtValue returns f with file, line and column of the value at p.
func (d *Document) AtValue(p Path, f Fault) Fault { return d.at(d.position(p).value, f) }

// Line returns the line of the value at p.
func (d *Document) Line(p Path) int { return d.AtValue(p, Fault{}).Line }

// Origin returns the value at p as file:line.
func (d *Document) Origin(p Path) string { return fmt.Sprintf("%s:%d", d.File, d.Line(p)) }

// Has reports whether the file sets p.
func (d *Document) Has(p Path) bool {
	_, ok := d.positions[p]
	return ok
}

// IsBad reports whether the value at p has a fault.
func (d *Document) IsBad(p Path) bool { return d.bad[p] }

// AddFault reports a fault of the file.
func (d *Document) AddFault(f Fault) {
	f.File = d.File
	d.Faults = append(d.Faults, f)
}

// FaultOfKey reports a fault of a key, which is written as "table.key". Its position is the key, or the table if the
// file does not set the key.
func (d *Document) FaultOfKey(key, problem, remedy string) {
	f := Fault{Key: key, Problem: problem, Remedy: remedy}
	table, _, _ := strings.Cut(key, ".")
	for _, name := range []string{key, table} {
		if p := Path("").Key(name); d.Has(p) {
			f = d.AtKey(p, f)
			break
		}
	}
	d.AddFault(f)
}

// AddWarning reports something odd in the file.
func (d *Document) AddWarning(f Fault) {
	f.File = d.File
	d.Warnings = append(d.Warnings, f)
}

// AddLack reports something that this process cannot read.
func (d *Document) AddLack(f Fault) {
	f.File = d.File
	d.Lacks = append(d.Lacks, f)
}

// Quiet returns the document with faults and warnings of its own, for reading values that were checked before.
func (d *Document) Quiet() *Document {
	q := *d
	q.Faults, q.Warnings, q.Lacks, q.bad = nil, nil, nil, map[Path]bool{}
	return &q
}

// Value returns the decoded value at p, nil if the file does not set it.
func (d *Document) Value(p Path) any {
	var v any = d.Root
	for part := range strings.SplitSeq(strings.TrimPrefix(string(p), separator), separator) {
		i, err := strconv.Atoi(strings.TrimPrefix(part, "#"))
		switch list := v.(type) {
		case map[string]any:
			v = list[part]
		case []map[string]any:
			if err != nil || i >= len(list) {
				return nil
			}
			v = list[i]
		case []any:
			if err != nil || i >= len(list) {
				return nil
			}
			v = list[i]
		}
	}
	return v
}
