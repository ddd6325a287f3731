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

	ownServerDialTimeout = 10 * time.Second
	ownServerTimeout     = 5 * time.Minute // until the answer to a whole file
	ownServerIdle        = time.Minute

	maxPostHead = 64 << 10 // bytes of the head of an answer
)

// PostForm sends a form through dial and returns the status of the answer. It is meant for services that the crawl
// itself uses, such as WebSub hubs. Nothing of the exchange is recorded, and redirects are not followed.
func PostForm(ctx context.Context, dial Dialer, to uri.URI, userAgent string, form url.Values) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, formTimeout)
	defer cancel()
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "User-Agent": {userAgent}}
	status, _, err := Post(ctx, dial, to.String(), header, []byte(form.Encode()), maxFormAnswer)
	if err != nil {
		return 0, fmt.Errorf("send a form to %s: %w", to, err)
	}
	return status, nil
}

// Post sends body through dial over a connection of its own, and returns the status of the answer and at most maxAnswer
// bytes of its body. If dial is nil, it connects as [AskOwnServer] does.
func Post(
	ctx context.Context, dial Dialer, to string, header http.Header, body []byte, maxAnswer int64,
) (status int, answer []byte, _ error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return 0, nil, uri.WithoutURL(err)
	}
	r.Header = header
	if dial == nil {
		dial = ownServerDialer()
	}
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

// OwnServers returns a transport to servers of the operator, such as one that keeps copies of the archive. It connects
// as [AskOwnServer] does.
func OwnServers() http.RoundTripper {
	return &http.Transport{
		DialContext: ownServerDialer(), TLSHandshakeTimeout: ownServerDialTimeout, ResponseHeaderTimeout: ownServerTimeout,
		MaxResponseHeaderBytes: maxPostHead, IdleConnTimeout: ownServerIdle, MaxIdleConnsPerHost: 1, DisableCompression: true,
	}
}

// AskOwnServer makes a request to a server of the operator. firstByte bounds the time until the head of the answer; 0 =
// no limit.
//
// It connects to any address, so it must only be used for servers that the operator names, never for one that a page
// names. Nothing of the exchange is recorded. Redirects are not followed, and no proxy is used. No error names the URL.
func AskOwnServer(r *http.Request, firstByte time.Duration) (*http.Response, error) {
	return askOnce(r, &http.Transport{DialContext: ownServerDialer(), ResponseHeaderTimeout: firstByte})
}

func ownServerDialer() Dialer { return (&net.Dialer{Timeout: ownServerDialTimeout}).DialContext }

// askOnce makes a request over a connection of its own, and returns a redirect as it is. No error names the URL.
func askOnce(r *http.Request, over *http.Transport) (*http.Response, error) {
	over.DisableKeepAlives, over.MaxResponseHeaderBytes = true, maxPostHead
	asIs := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := http.Client{Transport: over, CheckRedirect: asIs}
	res, err := client.Do(r)
	return res, uri.WithoutURL(err)
}
