package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// The bounds of an exchange with a server that takes lines.
const (
	linesTimeout    = time.Minute
	maxLinesHead    = 64 << 10
	maxLinesAnswer  = 4 << 10
	linesDialWithin = 10 * time.Second
)

// PostLines sends lines of text to a server of the operator's own, wherever it is, and gives the status of its answer and the beginning of
// what it says. It is for servers that the configuration names, never for one that a page names: there is no guard. Nothing of the exchange
// is recorded. Redirects are not followed, and no proxy is asked.
func PostLines(ctx context.Context, to, userAgent string, lines []byte) (status int, says string, _ error) {
	ctx, cancel := context.WithTimeout(ctx, linesTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(lines))
	if err != nil {
		return 0, "", fmt.Errorf("send lines: %w", err)
	}
	r.Header.Set("Content-Type", "text/plain; charset=utf-8")
	r.Header.Set("User-Agent", userAgent)
	dialer := net.Dialer{Timeout: linesDialWithin}
	transport := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: maxLinesHead}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		return 0, "", fmt.Errorf("send lines: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxLinesAnswer))
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return 0, "", fmt.Errorf("read the answer to lines: %w", err)
	}
	return answer.StatusCode, string(text), nil
}
