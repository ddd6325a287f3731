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
	// runBuffer is the size of the buffers for reading and writing runs.
	runBuffer = 256 << 10
)

// run is a list of sorted lines, in a file or in memory.
type run struct {
	file   *os.File
	size   int64
	memory []string
	probes map[int64]string // the first line at or after an offset
	buffer []byte
}

func openRun(path string) (*run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &run{file: f, size: info.Size(), probes: map[int64]string{}}, nil
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
	at, err := sortedlines.Search(r.size, probeSize, prefix, r.lineAfter)
	if err != nil {
		return nil, err
	}
	return r.linesFrom(at, prefix)
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

// lineAfter returns the first line that begins behind an offset, or "" if there is none.
func (r *run) lineAfter(at int64) (string, error) {
	if line, known := r.probes[at]; known {
		return line, nil
	}
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
		if len(r.probes) < maxProbes {
			r.probes[at] = line
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
