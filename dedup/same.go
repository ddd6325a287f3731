package dedup

import (
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
	bytesA, bytesB := make([]byte, size), make([]byte, size)
	for pos := int64(0); ; pos += size {
		n, errA := io.ReadFull(a, bytesA)
		m, errB := io.ReadFull(b, bytesB)
		if err := errors.Join(exceptEnd(errA), exceptEnd(errB)); err != nil {
			return err
		}
		if !bytes.Equal(bytesA[:n], bytesB[:m]) {
			return fmt.Errorf("%w after %d bytes", ErrDiffers, pos)
		}
		if errB != nil {
			return nil // both have ended
		}
	}
}

// exceptEnd returns err, or nil if it is the end of a reader.
func exceptEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
