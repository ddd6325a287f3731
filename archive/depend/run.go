package depend

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/arcrawl/arcrawl/archive/index"
)

const (
	// probeSize is how many bytes one step of a search by halves reads.
	probeSize = 4 << 10
	// blockSize is how many bytes are read where lines are expected, and lead is how far before them reading begins.
	blockSize = 8 << 10
	lead      = 3 << 10
	// runBuffer is the size of the buffers for reading and writing runs.
	runBuffer = 256 << 10
)

// run is a list of sorted lines, in a file or in memory. Its methods may be called concurrently.
type run struct {
	file   runContent
	size   int64
	memory []string
	fences fences // empty = a search goes by halves

	buffers sync.Pool // of *[]byte, of blockSize bytes
}

// runContent is the file of a run.
type runContent interface {
	io.ReaderAt
	io.Closer
	Name() string
}

// openRun opens a run with its fences, if it has any.
func openRun(path string) (*run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	known, err := readFences(path+fencesSuffix, info.Size())
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &run{file: f, size: info.Size(), fences: known}, nil
}

func (r *run) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// lines returns all lines that begin with a prefix.
func (r *run) lines(prefix string) (found []string, err error) {
	if r.file == nil {
		i, _ := slices.BinarySearch(r.memory, prefix)
		for ; i < len(r.memory) && strings.HasPrefix(r.memory[i], prefix); i++ {
			found = append(found, r.memory[i])
		}
		return found, nil
	}
	s := r.fences.around(prefix, r.size)
	for back := int64(lead); s.expected >= 0; back *= 4 {
		at := max(s.low, s.expected-back)
		found, certain, err := r.linesFrom(at, prefix)
		if certain || at == s.low || err != nil {
			return found, err
		}
	}
	at, err := index.SearchLines(s.high-s.low, probeSize, prefix, func(at int64) (string, error) {
		return r.lineAfter(s.low + at)
	})
	if err != nil {
		return nil, err
	}
	found, _, err = r.linesFrom(s.low+at, prefix)
	return found, err
}

// linesFrom returns the lines with a prefix that begin behind an offset, or at the beginning of the run. It is certain
// that these are all if a line before them was read.
func (r *run) linesFrom(at int64, prefix string) (found []string, certain bool, err error) {
	kept, _ := r.buffers.Get().(*[]byte)
	if kept == nil {
		kept = new(make([]byte, blockSize))
	}
	defer r.buffers.Put(kept)
	buffer := *kept
	inLine := at > 0
	for at < r.size {
		block := buffer[:min(int64(len(buffer)), r.size-at)]
		if _, err := r.file.ReadAt(block, at); err != nil {
			return found, certain, r.ended(err)
		}
		done := 0
		for {
			end := bytes.IndexByte(block[done:], '\n')
			if end < 0 {
				break
			}
			line := block[done : done+end+1]
			done += end + 1
			switch {
			case inLine:
				inLine = false
			case strings.HasPrefix(string(line[:min(len(line), len(prefix))]), prefix):
				found = append(found, string(line))
			case string(line) > prefix:
				return found, certain, nil
			default:
				certain = true
			}
		}
		if done == 0 {
			if int64(len(block)) == r.size-at {
				break
			}
			buffer = make([]byte, 2*len(buffer))
		}
		at += int64(done)
	}
	return found, certain, nil
}

func (r *run) ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read %s: %w", r.file.Name(), err)
}

// lineAfter returns the first line that begins behind an offset, or "" if there is none.
func (r *run) lineAfter(at int64) (string, error) {
	for size := probeSize; ; size *= 4 {
		b := make([]byte, min(int64(size), r.size-at))
		if _, err := r.file.ReadAt(b, at); err != nil {
			return "", r.ended(err)
		}
		first := bytes.IndexByte(b, '\n')
		end := -1
		if first >= 0 {
			end = bytes.IndexByte(b[first+1:], '\n')
		}
		if end < 0 && int64(len(b)) < r.size-at {
			continue
		}
		line := ""
		if end >= 0 {
			line = string(b[first+1 : first+1+end+1])
		}
		return line, nil
	}
}

// source returns the lines of a run that is being merged, as far as they count.
func source(run io.Reader, keep func(line string) (bool, error)) index.LineSource {
	lines := bufio.NewReaderSize(run, runBuffer)
	return func() (string, error) {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return "", err
			}
			if keep, err := keep(line); keep || err != nil {
				return line, err
			}
		}
	}
}

const (
	// fenceStep is the distance between two fences at most. Between them, the lines of a run are a few thousand.
	fenceStep = 256 << 10
	// beginWidth is how much of a line a fence has: for a capture by its file, number and offset.
	beginWidth = len(byFile) + numberWidth + offsetWidth + 1
	// fenceWidth is the length of a fence: the beginning of a line, and the offset at which it begins.
	fenceWidth = beginWidth + 8
	// fencesSuffix is the end of the name of the file with the fences of a run.
	fencesSuffix = ".fences"
	// noLine is behind all lines. It has the last fence, at the end of the run.
	noLine = "~"
)

// fences has the beginnings of some lines of a run: of the first line of each kind, and of one in each fenceStep. Where
// lines are is then known without reading the run, so that most look-ups take one read, whatever the size of the run.
type fences string

// readFences reads the fences of a run of a size. It returns none if they are missing, damaged or of another run: they
// only save reading.
func readFences(path string, size int64) (fences, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	f := fences(text)
	if len(f) == 0 || len(f)%fenceWidth != 0 || f.place(f.count()-1) != size {
		return "", nil
	}
	for i := 1; i < f.count(); i++ {
		if f.place(i) <= f.place(i-1) || f.begin(i) < f.begin(i-1) {
			return "", nil
		}
	}
	return f, nil
}

func (f fences) count() int { return len(f) / fenceWidth }

func (f fences) begin(i int) string { return string(f[i*fenceWidth : i*fenceWidth+beginWidth]) }

func (f fences) place(i int) int64 {
	return int64(binary.BigEndian.Uint64([]byte(f[i*fenceWidth+beginWidth : (i+1)*fenceWidth])))
}

// span is where the lines with a prefix begin. expected is -1 if they may be anywhere in it.
type span struct{ low, high, expected int64 }

// around returns where the lines with a prefix begin in a run of a size.
func (f fences) around(prefix string, size int64) span {
	if f == "" {
		return span{0, size, -1}
	}
	wanted := prefix[:min(len(prefix), beginWidth)]
	after := sort.Search(f.count(), func(i int) bool { return f.begin(i) >= wanted })
	before := max(0, after-1)
	for f.begin(after) == wanted { // the line may still be less than the prefix
		after++
	}
	s := span{f.place(before), f.place(after), -1}
	// Hashes are spread evenly, and so are the captures of one file.
	kind := prefix[:1]
	if kind == byFile {
		kind = prefix[:min(len(prefix), len(byFile)+numberWidth)]
	}
	low, high := share(f.begin(before)), share(f.begin(after))
	if ends := !strings.HasPrefix(f.begin(after), kind); ends && kind[:1] == byFile {
		return s
	} else if ends {
		high = 1
	}
	if after == before+1 && strings.HasPrefix(f.begin(before), kind) && low < high {
		s.expected = s.low + int64(float64(s.high-s.low)*(share(prefix)-low)/(high-low))
	}
	return s
}

// The digits of the numbers and hashes at the beginning of lines, in the order of their bytes.
const (
	digits36 = "0123456789abcdefghijklmnopqrstuvwxyz"
	digits64 = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
)

// share returns which share of all numbers or hashes is smaller than the one at the beginning of a line.
func share(line string) float64 {
	digits := digits64
	if line[:1] == byFile {
		digits = digits36
	}
	value, unit := 0.0, 1.0
	for _, c := range []byte(line[1:min(len(line), beginWidth)]) {
		unit /= float64(len(digits))
		value += unit * float64(strings.IndexByte(digits, c))
	}
	return value
}

// fencer makes the fences of a run.
type fencer struct {
	at   int64 // size of the lines so far
	last int64 // where the last fence is
	kind byte  // of the last line
	text []byte
}

// add adds the next line of the run, or noLine.
func (f *fencer) add(line string) {
	if line[0] != f.kind || f.at+int64(len(line))-f.last > fenceStep {
		begin := strings.TrimSuffix(line[:min(len(line), beginWidth)], "\n")
		f.text = append(f.text, begin...)
		f.text = append(f.text, strings.Repeat(" ", beginWidth-len(begin))...)
		f.text = binary.BigEndian.AppendUint64(f.text, uint64(f.at))
		f.last, f.kind = f.at, line[0]
	}
	f.at += int64(len(line))
}
