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
	maxCodings    = 4       // content codings of one payload
	maxZstdWindow = 8 << 20 // the maximum in RFC 9659
)

// Decode returns a reader of a payload without its content codings. An empty payload has none, whatever its head says.
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
		return nil, fmt.Errorf("%d content codings, more than %d", len(codings), maxCodings)
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

// undo returns a reader without one content coding. begin is the first bytes of in.
func undo(coding string, in *bufio.Reader, begin []byte) (io.Reader, error) {
	switch coding {
	case "gzip", "x-gzip":
		return gzip.NewReader(in)
	case "deflate": // zlib by RFC 9110, but some servers send it without the zlib header
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
