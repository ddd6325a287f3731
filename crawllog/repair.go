package crawllog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

var errForeign = errors.New("does not begin like a crawl log; move it away or choose another path")

// repair cuts f, which has size bytes, back to its last line end and says how much was cut.
func repair(f *os.File, size int64) (int64, error) {
	if size == 0 {
		return 0, nil
	}
	if err := checkBeginning(f, size); err != nil {
		return 0, err
	}
	end, err := lastLineEnd(f, size)
	if err != nil {
		return 0, fmt.Errorf("look for the last line: %w", err)
	}
	if end == size {
		return 0, nil
	}
	if err := f.Truncate(end); err != nil {
		return 0, fmt.Errorf("cut unfinished line: %w", err)
	}
	return size - end, f.Sync()
}

// checkBeginning protects files of others: a log begins with a time. After a loss of power there may be zeros.
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

// lastLineEnd is the offset after the last line end, 0 if there is none.
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
