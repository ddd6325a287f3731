package fetch

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestTheAnswerOfAServerOfTheOperatorIsBounded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want error
	}{{"", nil}, {"12345678", nil}, {"123456789", ErrAnswerTooLarge}, {strings.Repeat("x", 1000), ErrAnswerTooLarge}} {
		got := 0
		err := readBounded(strings.NewReader(test.text), 8, func(in io.Reader) error {
			all, err := io.ReadAll(in)
			got = len(all)
			return err
		})
		if !errors.Is(err, test.want) || got > 9 {
			t.Errorf("%d bytes of at most 8: %d read, error %v, want %v", len(test.text), got, err, test.want)
		}
	}
}
