package crawllog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

var errForeign = errors.New("does not begin like a crawl log; move it away or choose another path")

// repair cuts f, which has size bytes, back to its last line end.
func repair(f *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	if err := checkBeginning(f, size); err != nil {
		return err
	}
	end, err := lastLineEnd(f, size)
	if err != nil {
		return fmt.Errorf("look for the last line: %w", err)
	}
	if end == size {
		return nil
	}
	if err := f.Truncate(end); err != nil {
		return fmt.Errorf("cut off the unfinished line: %w", err)
	}
	return f.Sync()
}

// checkBeginning returns an error unless the file begins with a time, as a log does. It protects other files. After a
// power failure there may be zeros.
func checkBeginning(f *os.File, size int64) error {
	b := make([]byte, min(size, int64(len(timeLayout))))
	if _, err := f.ReadAt(b, 0); err != nil {
		return fmt.Errorf("read beginning: %w", err)
	}
	for i, c := range b {
		sign := timeLayout[i]
		isDigit := sign >= '0' && sign <= '9'
		if c != 0 && c != sign && !(isDigit && c >= '0' && c <= '9') {
			return errForeign
		}
	}
	return nil
}

// lastLineEnd returns the offset behind the last line end, or 0 if there is none.
func lastLineEnd(f io.ReaderAt, size int64) (int64, error) {
	block := make([]byte, MaxLine)
	for end := size; end > 0; {
		start := max(0, end-int64(len(block)))
		b := block[:end-start]
		if _, err := f.ReadAt(b, start); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}
