package dedup

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrDiffers says that a record of the same payload digest has other bytes.
var ErrDiffers = errors.New("its payload differs")

// SameBytes returns an error unless both readers have the same bytes. The error is [ErrDiffers] or comes
// from a reader.
func SameBytes(a, b io.Reader) error {
	const size = 64 << 10
	bufferedA := bufio.NewReaderSize(a, size)
	bytesA, bytesB := make([]byte, size), make([]byte, size)
	for pos := int64(0); ; {
		n, errB := io.ReadFull(b, bytesB)
		m, errA := io.ReadFull(bufferedA, bytesA[:max(n, 1)])
		if !bytes.Equal(bytesA[:m], bytesB[:n]) {
			return fmt.Errorf("%w after %d bytes", ErrDiffers, pos)
		}
		pos += int64(n)
		if isEnd(errB) {
			return exceptEnd(errA)
		}
		if errB != nil || exceptEnd(errA) != nil {
			return errors.Join(errB, exceptEnd(errA))
		}
	}
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// exceptEnd returns err, or nil if it is the end of a reader.
func exceptEnd(err error) error {
	if isEnd(err) {
		return nil
	}
	return err
}
