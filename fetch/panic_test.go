package fetch

import (
	"bytes"
	"errors"
	"testing"

	"github.com/arcrawl/arcrawl/internal/panics"
)

// faultyDecoder panics as a decoder with a fault would.
type faultyDecoder struct{}

func (faultyDecoder) Read([]byte) (int, error) { panic("index out of range") }

// An error of the coding leaves the record whole: the rest of the payload is read without the decoder.
func TestPanicOfADecoderIsAnErrorOfTheCoding(t *testing.T) {
	t.Parallel()
	l := &layer{codecs: &codecs{}, coding: "br", from: bytes.NewReader(nil), decoder: faultyDecoder{}}
	_, err := l.Read(make([]byte, 10))
	if panicked := (*panics.Error)(nil); !errors.Is(err, ErrCoding) || !errors.As(err, &panicked) {
		t.Errorf("the error is %v, want %v and the panic", err, ErrCoding)
	}
	if l.decoder != nil {
		t.Error("the faulty decoder may be used again")
	}
	l.release()
}
