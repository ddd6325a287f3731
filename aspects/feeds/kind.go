package feeds

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/arcrawl/arcrawl/discover"
)

// Kind is a kind of source. The numbers are stored; new ones are only appended.
type Kind uint8

// The kinds.
const (
	None    Kind = iota // neither a feed nor a sitemap
	Awaited             // announced as a feed or a sitemap, and not read yet
	Feed                // RSS, Atom or JSON Feed
	News                // a sitemap with news in it
	Sitemap             // a list of pages
	Index               // a list of sitemaps
)

var kindNames = [...]string{
	None: "none", Awaited: "awaited", Feed: "feed", News: "news sitemap", Sitemap: "sitemap", Index: "sitemap index",
}

// String returns the name of the kind for people.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// ListsNewest reports whether a source of this kind lists the newest pages of a site, so that its items are to be
// visited at once.
func (k Kind) ListsNewest() bool { return k == Feed || k == News }

// headLength is how much of a content is examined to find its kind. The root element of real feeds appears in the first
// few KiB, after comments and style sheet instructions.
const headLength = 4096

// kindOf returns the kind of a content that begins with head, in UTF-8. It is [Feed], [Sitemap] (with or without news),
// [Index] or [None]. A plain list of addresses is a sitemap only if a source is awaited.
func kindOf(contentType string, head []byte, awaited bool) Kind {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n")
	switch {
	case len(head) == 0:
		return None
	case head[0] == '{':
		named, _, _ := mime.ParseMediaType(contentType)
		if named == "application/feed+json" || bytes.Contains(head, []byte("jsonfeed.org/version")) {
			return Feed
		}
		return None
	case head[0] != '<':
		if awaited && beginsWithAddress(head) {
			return Sitemap
		}
		return None
	}
	switch strings.ToLower(rootElement(head)) {
	case "rss", "rdf", "feed":
		return Feed
	case "urlset":
		return Sitemap
	case "sitemapindex":
		return Index
	}
	return None
}

// clearlyNone reports whether the bytes alone show that a content is not a source. That is true of most pages and saves
// making a decoder. It is false for gzip and for encodings in which ASCII looks different.
func clearlyNone(contentType string, content []byte, awaited bool) bool {
	head := content[:min(len(content), headLength)]
	packed := bytes.HasPrefix(head, []byte(gzipMagic))
	wide := bytes.HasPrefix(head, []byte("\xFE\xFF")) || bytes.HasPrefix(head, []byte("\xFF\xFE")) ||
		bytes.IndexByte(head, 0) >= 0
	return !packed && !wide && kindOf(contentType, head, awaited) == None
}

// beginsWithAddress reports whether the first line of a text is a web address.
func beginsWithAddress(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return bytes.HasPrefix(line, []byte("http://")) || bytes.HasPrefix(line, []byte("https://"))
}

// rootElement returns the local name of the first element, or the empty string if head contains none.
func rootElement(head []byte) string {
	for {
		i := bytes.IndexByte(head, '<')
		if i < 0 {
			return ""
		}
		head = head[i+1:]
		var end string
		switch {
		case bytes.HasPrefix(head, []byte("!--")):
			end = "-->"
		case len(head) > 0 && (head[0] == '?' || head[0] == '!'):
			end = ">"
		default:
			name := head
			if n := bytes.IndexAny(head, " \t\r\n/>"); n >= 0 {
				name = head[:n]
			}
			return string(name[bytes.LastIndexByte(name, ':')+1:]) // without the prefix
		}
		n := bytes.Index(head, []byte(end))
		if n < 0 {
			return ""
		}
		head = head[n+len(end):]
	}
}

var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// decode returns the content in UTF-8, and its beginning without leading white space.
//
// The byte order mark decides about the encoding, else the header, else the XML declaration. Where UTF-8 is declared, a
// content with other bytes in its first 4 KiB is read as windows-1252; later faulty bytes become U+FFFD.
func decode(r io.Reader, contentType string) (content io.Reader, head []byte, err error) {
	raw := bufio.NewReaderSize(r, headLength)
	head, err = raw.Peek(headLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	decoded := bufio.NewReaderSize(transform.NewReader(raw, encodingOf(head, contentType).NewDecoder()), headLength)
	head, err = decoded.Peek(headLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	return decoded, bytes.TrimLeft(head, " \t\r\n"), nil
}

// encodingOf returns the encoding of a content with this beginning and Content-Type.
func encodingOf(head []byte, contentType string) encoding.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		return unicode.UTF8BOM
	case bytes.HasPrefix(head, []byte("\xFE\xFF")), bytes.HasPrefix(head, []byte("\x00<\x00")):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte("\xFF\xFE")), bytes.HasPrefix(head, []byte("<\x00?\x00")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	name := discover.Charset(contentType)
	if name == "" {
		if m := xmlEncoding.FindSubmatch(head); m != nil {
			name = string(m[1])
		}
	}
	if e, err := htmlindex.Get(strings.TrimSpace(name)); err == nil && e != encoding.Replacement && !isUTF16(e) {
		if canonical, _ := htmlindex.Name(e); canonical != "utf-8" {
			return e
		}
	}
	if !discover.ValidUTF8(head) {
		return charmap.Windows1252
	}
	return unicode.UTF8
}

// isUTF16 reports whether e is UTF-16. A content whose beginning was read as ASCII cannot be in UTF-16.
func isUTF16(e encoding.Encoding) bool {
	name, _ := htmlindex.Name(e)
	return strings.HasPrefix(name, "utf-16")
}
