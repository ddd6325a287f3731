package messages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// webhookTime is the maximum duration of a call.
const webhookTime = 10 * time.Second

// errRefused is the error of what the webhook will never take.
var errRefused = errors.New("the webhook refuses this notice")

// refusals are statuses that say that the request itself is wrong, so that it is useless to repeat it.
var refusals = []int{
	http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
	http.StatusUnprocessableEntity,
}

// postNotice sends a notice of an alarm to a webhook, with a "message" for people.
func postNotice(ctx context.Context, url string, n notice) error {
	return post(ctx, url, struct {
		notice
		Words string `json:"message"`
	}{n, n.Source() + ": " + n.Words()})
}

// post sends a value to a webhook: a POST with it as JSON. It does not follow redirects. A status other than 2xx is an
// error, some are [errRefused]. No error names the URL, which may contain a secret.
func post(ctx context.Context, url string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the notice: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("call the webhook: %w", uri.WithoutURL(err))
	}
	r.Header.Set("Content-Type", "application/json")
	c := http.Client{
		Timeout:       webhookTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	got, err := c.Do(r)
	if err != nil {
		return fmt.Errorf("call the webhook: %w", uri.WithoutURL(err))
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(got.Body, 64<<10)) // so that the connection can be reused
	if err := got.Body.Close(); err != nil {
		return fmt.Errorf("call the webhook: %w", err)
	}
	if slices.Contains(refusals, got.StatusCode) {
		return fmt.Errorf("call the webhook: status %s: %w", got.Status, errRefused)
	}
	if got.StatusCode/100 != 2 {
		return fmt.Errorf("call the webhook: status %s", got.Status)
	}
	return nil
}
