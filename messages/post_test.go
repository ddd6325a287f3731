package messages

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

func TestWebhookReceivesAlarms(t *testing.T) {
	t.Parallel()
	var got map[string]any
	status := http.StatusNoContent
	s := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		if err := json.NewDecoder(from.Body).Decode(&got); err != nil || from.Method != http.MethodPost {
			t.Errorf("%s, %v; want a POST with JSON", from.Method, err)
		}
		to.WriteHeader(status)
	}))
	defer s.Close()
	n := notice{Alarm: api.Alarm{Kind: alarm.Host, About: "a.example", Text: "a.example is down", Since: noon, Host: "a.example"}, Raised: true, At: noon, Instance: "press", Institution: "National Library", Link: "https://c.example/#/host/a.example", Labels: []string{"press"}}
	archivetest.Must(t, postNotice(t.Context(), s.URL, n))
	if got["kind"] != "host" || got["about"] != "a.example" || got["raised"] != true || got["message"] != "arcrawl press: a.example is down" {
		t.Errorf("the webhook received %v", got)
	}
	if got["host"] != "a.example" || got["instance"] != "press" || got["institution"] != "National Library" || got["link"] != "https://c.example/#/host/a.example" ||
		fmt.Sprint(got["labels"]) != "[press]" {
		t.Errorf("the webhook cannot tell whose alarm it is: %v", got)
	}
	status = http.StatusInternalServerError
	if err := postNotice(t.Context(), s.URL, n); err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("an error of the webhook is reported as %v", err)
	}
	final := []int{400, 413, 415, 422}
	for _, code := range append(final, 401, 404, 429, 503) {
		refused := slices.Contains(final, code)
		status = code
		if err := postNotice(t.Context(), s.URL, n); err == nil || errors.Is(err, errRefused) != refused {
			t.Errorf("status %d: %v; want an error that is permanent: %v", code, err, refused)
		}
	}
}

// The address of a webhook often contains a secret. No error names it, so no log has it.
func TestErrorsOfAWebhookDoNotNameItsAddress(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, url := range []string{
		gone.URL + "/services/s3cr3t?token=s3cr3t", "http://user:s3cr3t@127.0.0.1:1/s3cr3t", "http://s3cr3t\x7f/",
		"nonsense://s3cr3t/",
	} {
		if err := postNotice(t.Context(), url, notice{}); err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%q: the error is %v, want one without the address", url, err)
		}
	}
}
