package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// webhookTime bounds how long a webhook may take.
const webhookTime = 10 * time.Second

// PostNotice tells a webhook of an alarm: a POST with the notice as JSON, and a "message" for people beside it. Redirects
// are not followed. An answer other than 2xx is an error.
func PostNotice(ctx context.Context, url string, n Notice) error {
	words := "arcrawl: "
	if !n.Raised {
		words += "over: "
	}
	body, err := json.Marshal(struct {
		Notice
		Words string `json:"message"`
	}{n, words + n.Text})
	if err != nil {
		return fmt.Errorf("write the notice: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("tell the webhook: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	c := http.Client{Timeout: webhookTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	got, err := c.Do(r)
	if err != nil {
		return fmt.Errorf("tell the webhook: %w", err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(got.Body, maxProblem)) // so that the connection can end well
	if err := got.Body.Close(); err != nil {
		return fmt.Errorf("tell the webhook: %w", err)
	}
	if got.StatusCode/100 != 2 {
		return fmt.Errorf("tell the webhook: it answered %s", got.Status)
	}
	return nil
}
