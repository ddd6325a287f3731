package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// The bounds of a form that is sent. Only the status of the answer is of interest.
const (
	formTimeout = 30 * time.Second
	maxFormHead = 64 << 10
	maxFormBody = 64 << 10
)

// PostForm sends a form through the given dialer and gives the status of the answer. It is for services that the crawl itself
// needs, such as WebSub hubs; nothing of the exchange is recorded. Redirects are not followed.
func PostForm(ctx context.Context, dial func(ctx context.Context, network, address string) (net.Conn, error), to uri.URI, userAgent string, form url.Values) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, formTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return 0, fmt.Errorf("send a form to %s: %w", to, err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", userAgent)
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true, MaxResponseHeaderBytes: maxFormHead}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		return 0, fmt.Errorf("send a form to %s: %w", to, err)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, maxFormBody))
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return 0, fmt.Errorf("read the answer of %s: %w", to, err)
	}
	return answer.StatusCode, nil
}
