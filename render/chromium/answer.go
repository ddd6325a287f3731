package chromium

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	cdpfetch "github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// refusals holds requests that are to fail. A page can make thousands at once; they fail one after the other.
type refusals struct {
	mu   sync.Mutex // guards list
	list []cdpfetch.RequestID
	more chan struct{} // has a token if list is not empty
}

// add adds a request. It does not block.
func (r *refusals) add(id cdpfetch.RequestID) {
	r.mu.Lock()
	r.list = append(r.list, id)
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
}

// take returns all requests that were added.
func (r *refusals) take() []cdpfetch.RequestID {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

// failAll makes refused requests fail until ctx ends.
func (p *process) failAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.refused.more:
		}
		for _, id := range p.refused.take() {
			p.fail(id)
		}
	}
}

// fail makes a request fail as if something in the browser had blocked it.
func (p *process) fail(id cdpfetch.RequestID) {
	_, _ = cdp.Call(p.ctx, chromedp.FromContext(p.ctx).Browser, cdpfetch.FailRequest, cdpfetch.FailRequestParams{
		RequestID: id, ErrorReason: network.ErrorReasonAborted,
	})
}

// fulfill answers a request. If the browser no longer waits for the answer, nothing happens.
func (p *process) fulfill(e *cdpfetch.EventRequestPaused, a Answer) {
	body := a.Body
	if body == nil {
		body = []byte{}
	}
	_, err := cdp.Call(p.ctx, chromedp.FromContext(p.ctx).Browser, cdpfetch.FulfillRequest, cdpfetch.FulfillRequestParams{
		RequestID: e.RequestID, ResponseCode: int64(a.Status), ResponseHeaders: headerOf(a.Header), Body: body,
	})
	if err != nil {
		p.fail(e.RequestID)
	}
}

// dropped are header fields that are not about the body as it is passed to the browser, or that reach beyond the page.
func isDropped(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Transfer-Encoding", "Content-Encoding", "Content-Length", "Trailer", "Upgrade",
		"Strict-Transport-Security", "Alt-Svc", "Report-To", "Nel", "Reporting-Endpoints", "Accept-Ranges", "Content-Range",
		"Link":
		return true
	}
	return false
}

// headerOf returns the header of an answer. Which origins may read it is what the server said.
func headerOf(h http.Header) (list []*cdpfetch.HeaderEntry) {
	for name, values := range h {
		if isDropped(http.CanonicalHeaderKey(name)) {
			continue
		}
		for _, v := range values {
			list = append(list, &cdpfetch.HeaderEntry{Name: name, Value: v})
		}
	}
	return list
}

// preflight returns the answer to a request that asks whether another one may be sent. All may, because the crawl sends
// nothing of them but their addresses. Whether the page can read the answer is said by its own header.
func preflight(e *cdpfetch.EventRequestPaused) Answer {
	return Answer{Status: http.StatusNoContent, Header: http.Header{
		"Access-Control-Allow-Origin":      {fieldOf(e, "Origin")},
		"Access-Control-Allow-Credentials": {"true"},
		"Access-Control-Allow-Methods":     {fieldOf(e, "Access-Control-Request-Method")},
		"Access-Control-Allow-Headers":     {fieldOf(e, "Access-Control-Request-Headers")},
	}}
}

// fieldOf returns a header field of a request; "" if it has none.
func fieldOf(e *cdpfetch.EventRequestPaused, field string) string {
	for name, value := range e.Request.Headers {
		if strings.EqualFold(name, field) {
			if s, ok := any(value).(string); ok {
				return s
			}
		}
	}
	return ""
}
