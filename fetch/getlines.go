package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	gotTimeout   = 30 * time.Minute
	gotFirstByte = 2 * time.Minute // until the head of the answer
	maxGot       = 1 << 30
)

// ErrAnswerTooLarge means that the answer of a server of the operator is larger than 1 GiB.
var ErrAnswerTooLarge = errors.New("the answer is larger than 1 GiB")

// GetLines asks a server of the operator for a text, and calls read with the text while it arrives. It returns an error
// unless the status is 200. An answer may have 1 GiB and take half an hour.
//
// Like [PostLines] it connects to any address, so it must only be used for servers that the operator names, never for
// one that a page names. Nothing of the exchange is recorded. Redirects are not followed, and no proxy is used.
func GetLines(ctx context.Context, from, userAgent string, read func(io.Reader) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, gotTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return fmt.Errorf("request a text from a server: %w", WithoutURL(err))
	}
	r.Header = http.Header{"User-Agent": {userAgent}}
	dialer := net.Dialer{Timeout: linesDialTimeout}
	transport := &http.Transport{
		DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: maxPostHead,
		ResponseHeaderTimeout: gotFirstByte,
	}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, CheckRedirect: notFollowed}
	res, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("request a text from a server: %w", WithoutURL(err))
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if res.StatusCode != http.StatusOK {
		says, _ := io.ReadAll(io.LimitReader(res.Body, maxLinesAnswer)) // the status is the error
		return fmt.Errorf("request a text from a server: it answered with status %d: %.200q", res.StatusCode, says)
	}
	return readBounded(res.Body, maxGot, read)
}

// readBounded calls read with at most limit bytes of in. It returns [ErrAnswerTooLarge] if there are more.
func readBounded(in io.Reader, limit int64, read func(io.Reader) error) error {
	bounded := &io.LimitedReader{R: in, N: limit + 1}
	if err := read(bounded); err != nil && bounded.N > 0 {
		return err
	}
	if bounded.N <= 0 {
		return ErrAnswerTooLarge
	}
	return nil
}

// notFollowed makes a client return a redirect instead of following it.
func notFollowed(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
