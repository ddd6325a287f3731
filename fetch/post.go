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
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true, MaxResponseHeaderBytes: maxPostHead}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, CheckRedirect: notFollowed}
	res, err := client.Do(r)
	if err != nil {
		return 0, nil, WithoutURL(err)
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
