package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

const (
	formTimeout   = 30 * time.Second
	maxFormAnswer = 64 << 10

	linesTimeout     = time.Minute
	linesDialTimeout = 10 * time.Second
	maxLinesAnswer   = 4 << 10

	ownServerTimeout = 5 * time.Minute // until the answer to a whole file

	maxPostHead = 64 << 10 // bytes of the head of an answer
)

// PostForm sends a form through dial and returns the status of the answer. It is meant for services that the crawl
// itself uses, such as WebSub hubs. Nothing of the exchange is recorded, and redirects are not followed.
func PostForm(ctx context.Context, dial Dialer, to uri.URI, userAgent string, form url.Values) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, formTimeout)
	defer cancel()
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "User-Agent": {userAgent}}
	status, _, err := post(ctx, dial, to.String(), header, []byte(form.Encode()), maxFormAnswer)
	if err != nil {
		return 0, fmt.Errorf("send a form to %s: %w", to, err)
	}
	return status, nil
}

// PostLines sends lines of text to a server of the operator. It returns the status and the first 4 KiB of the answer.
// It connects to any address, so it must only be used for servers that the configuration names, never for one that a
// page names. Nothing of the exchange is recorded. Redirects are not followed, and no proxy is used.
func PostLines(ctx context.Context, to, userAgent string, lines []byte) (status int, answer string, _ error) {
	return postText(ctx, to, userAgent, "text/plain; charset=utf-8", lines)
}

// PostJSON sends a JSON document to a server of the operator, as [PostLines] sends lines.
func PostJSON(ctx context.Context, to, userAgent string, document []byte) (status int, answer string, _ error) {
	return postText(ctx, to, userAgent, "application/json", document)
}

// postText sends a text to a server of the operator.
func postText(
	ctx context.Context, to, userAgent, contentType string, text []byte,
) (status int, answer string, _ error) {
	ctx, cancel := context.WithTimeout(ctx, linesTimeout)
	defer cancel()
	dialer := net.Dialer{Timeout: linesDialTimeout}
	header := http.Header{"Content-Type": {contentType}, "User-Agent": {userAgent}}
	status, got, err := post(ctx, dialer.DialContext, to, header, text, maxLinesAnswer)
	if err != nil {
		return 0, "", fmt.Errorf("send a text to a server: %w", err)
	}
	return status, string(got), nil
}

// post sends body over a connection of its own, and returns the status of the answer and at most maxAnswer bytes of its
// body.
func post(
	ctx context.Context, dial Dialer, to string, header http.Header, body []byte, maxAnswer int64,
) (status int, answer []byte, _ error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return 0, nil, WithoutURL(err)
	}
	r.Header = header
	res, err := askOnce(r, &http.Transport{DialContext: dial})
	if err != nil {
		return 0, nil, err
	}
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return 0, nil, fmt.Errorf("read the answer: %w", err)
	}
	return res.StatusCode, answer, nil
}

// WithoutURL returns the cause of an error of net/http without the URL that it names. The address of a service of the
// operator may contain a secret, which does not belong into a log.
func WithoutURL(err error) error {
	if named := (*url.Error)(nil); errors.As(err, &named) {
		return named.Err
	}
	return err
}

// OwnServers returns a transport to servers of the operator, such as one that keeps copies of the archive. Like
// [PostLines] it connects to any address, so it must only be used for servers that the configuration names.
func OwnServers() http.RoundTripper {
	dialer := net.Dialer{Timeout: linesDialTimeout}
	return &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: linesDialTimeout, ResponseHeaderTimeout: ownServerTimeout,
		MaxResponseHeaderBytes: maxPostHead, IdleConnTimeout: linesTimeout, MaxIdleConnsPerHost: 1, DisableCompression: true,
	}
}

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
	res, err := askOnce(r, &http.Transport{DialContext: dialer.DialContext, ResponseHeaderTimeout: gotFirstByte})
	if err != nil {
		return fmt.Errorf("request a text from a server: %w", err)
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

// askOnce makes a request over a connection of its own, and returns a redirect as it is. No error names the URL.
func askOnce(r *http.Request, over *http.Transport) (*http.Response, error) {
	over.DisableKeepAlives, over.MaxResponseHeaderBytes = true, maxPostHead
	asIs := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := http.Client{Transport: over, CheckRedirect: asIs}
	res, err := client.Do(r)
	return res, WithoutURL(err)
}
