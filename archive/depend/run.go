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
