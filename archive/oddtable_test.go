package archive

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"strings"
)

// oddAnswers holds answers that break the rules of HTTP, by path. The connection is closed after each.
var oddAnswers = map[string]string{
	"/chunks-end":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n",
	"/chunks-middle":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nHello",
	"/chunks-zz":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\nzz\r\nagain\r\n0\r\n\r\n",
	"/chunks-long":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello world\r\n0\r\n\r\n",
	"/chunks-none":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n<p>no chunks at all</p>",
	"/chunks-size":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5",
	"/chunks-empty":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
	"/chunks-spaces":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5   \r\nHello\r\n0\r\n\r\n",
	"/chunks-lf":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nHello\n0\n\n",
	"/chunks-first":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-gzip":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-twice":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-other":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-identity":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nHello",
	"/chunks-x":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-blank":     "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-folded":    "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-1.0":       "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-junk":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\njunk",
	"/chunks-trailer":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\nno trailer",
	"/chunks-extension": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" + strings.Repeat("a", 5000) + "\r\nHello\r\n0\r\n\r\n",
	"/chunks-big":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nHello\r\n0\r\n\r\n",
	"/chunks-minus":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nHello\r\n0\r\n\r\n",
	"/chunks-coded":     "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\nzz\r\n",
	"/length-short":     "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nHello",
	"/length-two":       "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nHello",
	"/length-long":      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello world",
	"/coded":            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nHello",
	"/lower":            "http/1.1 200 ok\r\n\r\nHello",
	"/icy":              "ICY 200 OK\r\n\r\nHello",
	"/bytes":            "\x16\x03\x01\x02 not http",
	"/head-cut":         "HTTP/1.1 200 OK\r\nContent-Ty",
	"/status-cut":       "HTTP/1.",
	"/nothing":          "",
	"/304":              "HTTP/1.1 304 Not Modified\r\n\r\n",
	"/204-body":         "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nHello",
	"/101":              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nHello",
	"/206":              "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-4/10\r\nContent-Length: 5\r\n\r\nHello",

	"/chunks-more":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b;c=\"d\"\r\nHello\r\n0\r\n\r\n",
	"/chunks-trailers":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\nX-Sum: 1\r\nDate: x\r\n\r\n",
	"/chunks-zeros":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0000000005\r\nHello\r\n000\r\n\r\n",
	"/chunks-hex":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nHello\r\n0\r\n\r\n",
	"/chunks-plus":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nHello\r\n0\r\n\r\n",
	"/chunks-upper":       "HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: CHUNKED\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-length":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-nul":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n\x00\x00\x00\x00\x00\r\n0\r\n\r\n",
	"/chunks-bytes":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1\r\nx\r\n", 2000) + "0\r\n\r\n",
	"/chunks-zero":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"/chunks-206":         "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-4/9\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-404":         "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\nzz",
	"/chunks-204":         "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-304":         "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
	"/chunks-gzip-right":  "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(zipped("Hello")) + "0\r\n\r\n",
	"/chunks-gzip-cut":    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(zipped("Hello")[:9]) + "0\r\n\r\n",
	"/transfer-gzip":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n" + zipped("Hello"),
	"/transfer-both":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + chunk(zipped("Hello")) + "0\r\n\r\n",
	"/transfer-none":      "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nContent-Length: 5\r\n\r\nHello",
	"/coded-right":        coded("gzip", zipped("Hello")),
	"/coded-cut":          coded("gzip", zipped("Hello")[:12]),
	"/coded-junk":         coded("gzip", zipped("Hello")+"junk"),
	"/coded-twice":        coded("gzip, gzip", zipped(zipped("Hello"))),
	"/coded-once-of-two":  coded("gzip, gzip", zipped("Hello")),
	"/coded-members":      coded("gzip", zipped("Hello")+zipped(" again")),
	"/coded-x":            coded("x-gzip", zipped("Hello")),
	"/coded-upper":        coded("GZIP", zipped("Hello")),
	"/coded-deflate":      coded("deflate", zlibbed("Hello")),
	"/coded-raw":          coded("deflate", deflated("Hello")),
	"/coded-both":         coded("deflate, gzip", zipped(zlibbed("Hello"))),
	"/coded-br":           coded("br", "\x0b\x02\x80Hello\x03"),
	"/coded-br-wrong":     coded("br", "Hello"),
	"/coded-zstd":         coded("zstd", "Hello"),
	"/coded-compress":     coded("compress", "\x1f\x9dHello"),
	"/coded-unknown":      coded("rot13", "Uryyb"),
	"/coded-identity":     coded("identity", "Hello"),
	"/coded-empty":        coded("gzip", ""),
	"/coded-nothing":      coded("", "Hello"),
	"/coded-many":         coded(strings.Repeat("gzip, ", 50)+"gzip", "Hello"),
	"/coded-bomb":         coded("gzip", zipped(strings.Repeat("\x00", 1<<20))),
	"/length-none":        "HTTP/1.1 200 OK\r\n\r\nHello",
	"/length-minus":       "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nHello",
	"/length-plus":        "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nHello",
	"/length-word":        "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nHello",
	"/length-empty":       "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nHello",
	"/length-huge":        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nHello",
	"/length-list":        "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nHello",
	"/length-same":        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nHello",
	"/length-fraction":    "HTTP/1.1 200 OK\r\nContent-Length: 5.0\r\n\r\nHello",
	"/length-zero":        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHello",
	"/length-exact":       "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello",
	"/head-folded":        "HTTP/1.1 200 OK\r\nX-Long: one\r\n two\r\n\tthree\r\n\r\nHello",
	"/head-same":          "HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nx-a: 3\r\n\r\nHello",
	"/head-bytes":         "HTTP/1.1 200 OK\r\nX-Bin: \x80\xff\xfe\r\n\r\nHello",
	"/head-nul":           "HTTP/1.1 200 OK\r\nX-Nul: a\x00b\r\n\r\nHello",
	"/head-cr":            "HTTP/1.1 200 OK\r\nX-Cr: a\rb\r\n\r\nHello",
	"/head-lf":            "HTTP/1.1 200 OK\nContent-Type: text/html\n\nHello",
	"/head-mixed":         "HTTP/1.1 200 OK\r\nX-A: 1\nX-B: 2\r\n\nHello",
	"/head-no-colon":      "HTTP/1.1 200 OK\r\nno colon here\r\n\r\nHello",
	"/head-no-name":       "HTTP/1.1 200 OK\r\n: value\r\n\r\nHello",
	"/head-space":         "HTTP/1.1 200 OK\r\nX A: 1\r\n\r\nHello",
	"/head-leading":       "HTTP/1.1 200 OK\r\n X-A: 1\r\n\r\nHello",
	"/head-utf8":          "HTTP/1.1 200 OK\r\nX-Größe: groß\r\n\r\nHello",
	"/head-big":           "HTTP/1.1 200 OK\r\nX-Big: " + strings.Repeat("a", 60_000) + "\r\n\r\nHello",
	"/head-many":          "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: 1\r\n", 500) + "\r\nHello",
	"/head-none":          "HTTP/1.1 200 OK\r\n\r\n",
	"/head-only":          "HTTP/1.1 200 OK\r\n",
	"/head-warc":          "HTTP/1.1 200 OK\r\nServer: odd\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n",
	"/head-http":          "HTTP/1.1 200 OK\r\nServer: odd\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello",
	"/status-none":        "HTTP/1.1\r\nServer: odd\r\n\r\nHello",
	"/status-no-reason":   "HTTP/1.1 200\r\nServer: odd\r\n\r\nHello",
	"/status-empty":       "HTTP/1.1 200 \r\nServer: odd\r\n\r\nHello",
	"/status-bytes":       "HTTP/1.1 200 \xff\xfe\x00\r\nServer: odd\r\n\r\nHello",
	"/status-long":        "HTTP/1.1 200 " + strings.Repeat("O", 5000) + "\r\nServer: odd\r\n\r\nHello",
	"/status-word":        "HTTP/1.1 two hundred\r\nServer: odd\r\n\r\nHello",
	"/status-2-digits":    "HTTP/1.1 20 OK\r\nServer: odd\r\n\r\nHello",
	"/status-4-digits":    "HTTP/1.1 2000 OK\r\nServer: odd\r\n\r\nHello",
	"/status-minus":       "HTTP/1.1 -200 OK\r\nServer: odd\r\n\r\nHello",
	"/status-blanks":      "HTTP/1.1  200  OK\r\nServer: odd\r\n\r\nHello",
	"/status-leading":     "\r\n\r\nHTTP/1.1 200 OK\r\nServer: odd\r\n\r\nHello",
	"/version-0.9":        "<html>Hello</html>",
	"/version-0.9-empty":  "\n",
	"/version-1.0":        "HTTP/1.0 200 OK\r\nServer: odd\r\n\r\nHello",
	"/version-1.0-length": "HTTP/1.0 200 OK\r\nContent-Length: 50\r\n\r\nHello",
	"/version-1.2":        "HTTP/1.2 200 OK\r\nServer: odd\r\n\r\nHello",
	"/version-2":          "HTTP/2 200 OK\r\nServer: odd\r\n\r\nHello",
	"/version-2.0":        "HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nHello",
	"/version-9":          "HTTP/9.9 200 OK\r\nServer: odd\r\n\r\nHello",
	"/100":                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello",
	"/100-only":           "HTTP/1.1 100 Continue\r\n\r\n",
	"/100-many":           strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 20) + "HTTP/1.1 200 OK\r\nServer: odd\r\n\r\nHello",
	"/102":                "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nServer: odd\r\n\r\nHello",
	"/103":                "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello",
	"/199":                "HTTP/1.1 199 Odd\r\nServer: odd\r\n\r\nHello",
	"/204":                "HTTP/1.1 204 No Content\r\nServer: odd\r\n\r\n",
	"/205-body":           "HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\n\r\nHello",
	"/206-unasked":        "HTTP/1.1 206 Partial Content\r\nServer: odd\r\n\r\nHello",
	"/206-false":          "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 7-3/2\r\nContent-Length: 5\r\n\r\nHello",
	"/206-parts":          "HTTP/1.1 206 Partial Content\r\nContent-Type: multipart/byteranges; boundary=x\r\n\r\n--x\r\n\r\nHello\r\n--x--\r\n",
	"/226":                "HTTP/1.1 226 IM Used\r\nIM: feed\r\n\r\nHello",
	"/300":                "HTTP/1.1 300 Multiple Choices\r\nServer: odd\r\n\r\n<a href=/204>x</a>",
	"/301-nowhere":        "HTTP/1.1 301 Moved\r\nServer: odd\r\n\r\nHello",
	"/301-empty":          "HTTP/1.1 301 Moved\r\nLocation:\r\n\r\n",
	"/301-self":           "HTTP/1.1 301 Moved\r\nLocation: /301-self\r\n\r\n",
	"/301-bytes":          "HTTP/1.1 301 Moved\r\nLocation: /\xff\xfe\x01\r\n\r\n",
	"/301-two":            "HTTP/1.1 301 Moved\r\nLocation: /204\r\nLocation: /304\r\n\r\n",
	"/301-script":         "HTTP/1.1 301 Moved\r\nLocation: javascript:alert(1)\r\n\r\n",
	"/301-port":           "HTTP/1.1 301 Moved\r\nLocation: http://news.example:99999/\r\n\r\n",
	"/301-long":           "HTTP/1.1 301 Moved\r\nLocation: /" + strings.Repeat("a/", 3000) + "\r\n\r\n",
	"/302-spaces":         "HTTP/1.1 302 Found\r\nLocation:   /204   \r\n\r\n",
	"/303-file":           "HTTP/1.1 303 See Other\r\nLocation: file:///etc/passwd\r\n\r\n",
	"/304-body":           "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nHello",
	"/304-tagged":         "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\nHello",
	"/307-scheme":         "HTTP/1.1 307 Temporary Redirect\r\nLocation: //\r\n\r\n",
	"/399":                "HTTP/1.1 399 Odd\r\nServer: odd\r\n\r\nHello",
	"/416":                "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */5\r\n\r\n",
	"/418":                "HTTP/1.1 418 I'm a teapot\r\nContent-Length: 0\r\n\r\n",
	"/451":                "HTTP/1.1 451 Unavailable\r\nLink: <https://law.example/>; rel=\"blocked-by\"\r\n\r\nHello",
	"/499":                "HTTP/1.1 499 Odd\r\nServer: odd\r\n\r\nHello",
	"/599":                "HTTP/1.1 599 Odd\r\nServer: odd\r\n\r\nHello",
	"/600":                "HTTP/1.1 600 Odd\r\nServer: odd\r\n\r\nHello",
	"/999":                "HTTP/1.1 999 Request denied\r\nServer: odd\r\n\r\nHello",
	"/000":                "HTTP/1.1 000 Odd\r\nServer: odd\r\n\r\nHello",
	"/charset-false":      "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\nGr\xf6\xdfe",
	"/charset-unknown":    "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=klingon\r\n\r\nHello",
	"/charset-utf16":      "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-16\r\n\r\n\xff\xfeH\x00i\x00",
	"/charset-two":        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8; charset=latin1\r\n\r\nHello",
	"/type-two":           "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Type: image/png\r\n\r\nHello",
	"/type-junk":          "HTTP/1.1 200 OK\r\nContent-Type: ;;;=\r\n\r\nHello",
	"/type-bytes":         "HTTP/1.1 200 OK\r\nContent-Type: \xff/\xfe\r\n\r\nHello",
	"/type-false":         "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n<p>Hello</p>",
	"/type-http":          "HTTP/1.1 200 OK\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
	"/cookies":            "HTTP/1.1 200 OK\r\n" + strings.Repeat("Set-Cookie: a=b; path=/\r\n", 100) + "\r\nHello",
	"/cookie-bytes":       "HTTP/1.1 200 OK\r\nSet-Cookie: \xff\x01=;;; domain=.\r\n\r\nHello",
	"/etag-bytes":         "HTTP/1.1 200 OK\r\nETag: \xff\xfe\r\nLast-Modified: yesterday\r\n\r\nHello",
	"/dates":              "HTTP/1.1 200 OK\r\nDate: Thu, 99 Foo 99999 99:99:99 GMT\r\nExpires: -1\r\nLast-Modified: 0\r\n\r\nHello",
	"/nul":                "HTTP/1.1 200 OK\r\nServer: odd\r\n\r\n\x00\x00\x00",
	"/nul-only":           "\x00\x00\x00\x00",
	"/newlines":           "\r\n\r\n\r\n\r\n",
	"/body-newlines":      "HTTP/1.1 200 OK\r\nServer: odd\r\n\r\n\r\n\r\n\r\n\r\n",
	"/ftp":                "220 ready\r\n",
	"/ssh":                "SSH-2.0-OpenSSH_9.9\r\n",
}

// coded returns an answer whose body has a content coding, or says so.
func coded(as, body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", as, len(body), body)
}

// chunk returns a chunk of a body.
func chunk(of string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(of), of) }

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // a buffer never fails, nor does it below
	_ = w.Close()
	return b.String()
}

func zlibbed(text string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func deflated(text string) string {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed) // the level is known
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}
