// This file says what the answer of a server means before anything is compared.

package misfortune

import (
	"bytes"
	"net/http"

	"github.com/arcrawl/arcrawl/fetch"
)

// IsMisfortune reports whether a capture says nothing about the page: the connection or the server failed, or the
// server refused to answer us. A body that is cut at our own size limit is not a misfortune, because it is cut there
// every time.
func IsMisfortune(c *fetch.Capture) bool {
	switch c.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout,
		http.StatusTooEarly, http.StatusTooManyRequests, http.StatusNotModified:
		return true
	}
	cut := !c.Complete && c.Truncated != fetch.TruncatedLength
	return c.Status < http.StatusOK || c.Status >= http.StatusInternalServerError || cut
}

// HostDown reports whether a status means that the host itself could not be reached.
func HostDown(status int) bool { return status == fetch.DNSFailed || status == fetch.ConnectFailed }

// IsGone reports whether the server says that there is no such page.
func IsGone(c *fetch.Capture) bool {
	return c.Complete && (c.Status == http.StatusNotFound || c.Status == http.StatusGone)
}

// Protocol returns the version of HTTP of an exchange in the words of WARC-Protocol; "" if its head names another one.
func Protocol(c *fetch.Capture) string {
	if c.HTTP2 {
		return "h2"
	}
	for _, version := range []string{"1.1", "1.0"} {
		if bytes.HasPrefix(c.Head, []byte("HTTP/"+version+" ")) {
			return "http/" + version
		}
	}
	return ""
}
