package warc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

const (
	maxCodings    = 4       // of a payload, one over the other
	maxZstdWindow = 8 << 20 // what RFC 9659 allows on the web
)

// Decode undoes the content codings of a payload. An empty payload needs none, whatever its head says.
func (h Head) Decode(body io.Reader) (io.Reader, error) {
	var codings []string
	for _, v := range h.Header().Values("Content-Encoding") {
		for coding := range strings.SplitSeq(strings.ToLower(v), ",") {
			if coding = strings.TrimSpace(coding); coding != "" && coding != "identity" && coding != "none" {
				codings = append(codings, coding)
			}
		}
	}
	if len(codings) > maxCodings {
		return nil, fmt.Errorf("%d content codings, one over the other", len(codings))
	}
	for i := len(codings) - 1; i >= 0; i-- {
		in := bufio.NewReader(body)
		begin, err := in.Peek(2)
		if len(begin) == 0 && errors.Is(err, io.EOF) {
			return in, nil
		}
		if body, err = undo(codings[i], in, begin); err != nil {
			return nil, fmt.Errorf("%s: %w", codings[i], err)
		}
	}
	return body, nil
}

func undo(coding string, in *bufio.Reader, begin []byte) (io.Reader, error) {
	switch coding {
	case "gzip", "x-gzip":
		return gzip.NewReader(in)
	case "deflate": // zlib, as RFC 9110 has it, or bare, as it occurs
		if len(begin) == 2 && begin[0]&0x0f == 8 && (uint(begin[0])<<8|uint(begin[1]))%31 == 0 {
			return zlib.NewReader(in)
		}
		return flate.NewReader(in), nil
	case "br":
		return brotli.NewReader(in), nil
	case "zstd":
		return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
	}
	return nil, errors.New("an unknown content coding")
}
