package crawllog

import (
	"net/http"
	"strconv"
)

// StatusText returns a status of HTTP or Heritrix with its meaning, for example "404 Not Found".
func StatusText(status int) string {
	meaning := http.StatusText(status)
	if meaning == "" {
		meaning = heritrixStatus[status]
	}
	if meaning == "" {
		return strconv.Itoa(status)
	}
	return strconv.Itoa(status) + " " + meaning
}

// heritrixStatus holds the meanings of the negative status codes of Heritrix that arcrawl uses.
var heritrixStatus = map[int]string{
	-1: "DNS lookup failed", -2: "connection failed", -3: "connection lost", -4: "timed out", -5: "response is not HTTP",
	-404: "empty response", -5000: "out of scope", -9998: "forbidden by robots.txt",
}
