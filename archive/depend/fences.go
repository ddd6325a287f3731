package depend

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"sort"
	"strings"
)

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
