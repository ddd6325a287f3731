package depend

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/archive/sortedlines"
)

const (
	// probeSize is how many bytes one step of a search reads.
	probeSize = 4 << 10
	// maxProbes is the maximum number of steps whose results are kept for each run.
	maxProbes = 1 << 16
	// guesses is the maximum number of steps of a search that guess the place of a hash.
	guesses = 6
	// runBuffer is the size of the buffers for reading and writing runs.
	runBuffer = 256 << 10
)

// run is a list of sorted lines, in a file or in memory.
type run struct {
	file     runContent
	size     int64
	memory   []string
	probes   map[int64]string // the first line at or after an offset
	keep     int              // maximum number of probes
	sections map[string]span  // by the kind of lines
	buffer   []byte
}

// runContent is the file of a run.
type runContent interface {
	io.ReaderAt
	io.Closer
	Name() string
}

// span is where something begins and ends.
type span struct{ low, high int64 }

func openRun(path string) (*run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return newRun(f, info.Size(), maxProbes), nil
}

func newRun(f runContent, size int64, keep int) *run {
	return &run{file: f, size: size, keep: keep, probes: map[int64]string{}, sections: map[string]span{}}
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
	at, err := r.search(prefix)
	if err != nil {
		return nil, err
	}
	return r.linesFrom(at, prefix)
}

// search returns the offset from which the run must be read to find the lines with a prefix.
func (r *run) search(prefix string) (int64, error) {
	kind := prefix[:1]
	if kind != byMoment && kind != byDigest || r.size <= int64(r.keep)*probeSize { // all steps can be kept
		return sortedlines.Search(r.size, probeSize, prefix, r.lineAfter)
	}
	s, err := r.section(kind)
	if err != nil {
		return 0, err
	}
	if s, err = r.guess(s, prefix); err != nil {
		return 0, err
	}
	at, err := sortedlines.Search(s.high-s.low, probeSize, prefix, func(at int64) (string, error) {
		return r.lineAfter(s.low + at)
	})
	return s.low + at, err
}

// section returns where the lines of a kind are, or a little more.
func (r *run) section(kind string) (s span, err error) {
	s, known := r.sections[kind]
	if known {
		return s, nil
	}
	s.low, err = sortedlines.Search(r.size, probeSize, kind, r.lineAfter)
	if err == nil {
		s.high, err = sortedlines.Search(r.size, probeSize, kind+"~", r.lineAfter)
	}
	s.high = min(s.high+probeSize, r.size)
	if err == nil {
		r.sections[kind] = s
	}
	return s, err
}

// guess makes a section smaller. Hashes are spread evenly, so the value of a hash says about where its lines are. It
// takes three or four reads, whatever the size of the run.
func (r *run) guess(s span, prefix string) (span, error) {
	low, high, want := 0.0, 1.0, share(prefix) // the shares at both ends
	for range guesses {
		if s.high-s.low <= 2*probeSize || high <= low {
			return s, nil
		}
		distance := int64(float64(s.high-s.low) * (want - low) / (high - low))
		near := distance <= 2*probeSize
		at := s.low + distance - probeSize
		if near {
			at = s.low + 4*probeSize
		}
		if at >= s.high {
			return s, nil
		}
		line, err := r.readLineAfter(at)
		if err != nil {
			return s, err
		}
		if line != "" && line < prefix {
			s.low, low = at, share(line)
			if near {
				return s, nil // many lines have the same hash
			}
			continue
		}
		if near {
			s.high = s.low // close enough to read from there
			return s, nil
		}
		s.high = at
		if line != "" && line[0] == prefix[0] {
			high = share(line)
		}
	}
	return s, nil
}

// share returns which share of all hashes is smaller than the one at the beginning of a line. Hashes are in
// Base64 for URIs, whose letters are here in the order of their bytes.
func share(line string) float64 {
	value, unit := 0.0, 1.0
	for i := len(byMoment); i < min(len(line), len(byMoment)+uriWidth); i++ {
		unit /= 64
		value += unit * float64(strings.IndexByte("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz", line[i]))
	}
	return value
}

// linesFrom returns the lines with a prefix, none of which begins before an offset. The line that begins before the
// offset is skipped.
func (r *run) linesFrom(at int64, prefix string) (found []string, err error) {
	if r.buffer == nil {
		r.buffer = make([]byte, 2*probeSize)
	}
	inLine := at > 0
	for at < r.size {
		block := r.buffer[:min(int64(len(r.buffer)), r.size-at)]
		if _, err := r.file.ReadAt(block, at); err != nil {
			return found, r.ended(err)
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
				return found, nil
			}
		}
		if done == 0 {
			if int64(len(block)) == r.size-at {
				break
			}
			r.buffer = make([]byte, 2*len(r.buffer))
		}
		at += int64(done)
	}
	return found, nil
}

func (r *run) ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read %s: %w", r.file.Name(), err)
}

// lineAfter is readLineAfter that keeps its results.
func (r *run) lineAfter(at int64) (string, error) {
	if line, known := r.probes[at]; known {
		return line, nil
	}
	line, err := r.readLineAfter(at)
	if err == nil && len(r.probes) < r.keep {
		r.probes[at] = line
	}
	return line, err
}

// readLineAfter returns the first line that begins behind an offset, or "" if there is none.
func (r *run) readLineAfter(at int64) (string, error) {
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
func source(run io.Reader, keep func(line string) (bool, error)) sortedlines.Source {
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

// merge writes the lines of runs in order, without duplicates.
func merge(out io.Writer, from []sortedlines.Source) error {
	w := bufio.NewWriterSize(out, runBuffer)
	err := sortedlines.Merge(from, func(line string) error {
		_, err := w.WriteString(line)
		return err
	})
	if err != nil {
		return err
	}
	return w.Flush()
}
