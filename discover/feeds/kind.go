package feeds

import (
	"bytes"
	"mime"
	"strconv"
	"strings"
)

// Kind is what a source is. The numbers are stored and only ever added to.
type Kind uint8

// The kinds.
const (
	None    Kind = iota // neither a feed nor a sitemap
	Awaited             // said to be a feed or a sitemap, and not read yet
	Feed                // RSS, Atom or JSON Feed
	News                // a sitemap with news in it
	Sitemap             // a list of pages
	Index               // a list of sitemaps
)

var kindNames = [...]string{None: "none", Awaited: "awaited", Feed: "feed", News: "news sitemap", Sitemap: "sitemap", Index: "sitemap index"}

// String is a word for people.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// ListsNewest reports whether a source of this kind lists what is newest, so that its items are wanted at once.
func (k Kind) ListsNewest() bool { return k == Feed || k == News }

// headLength is how much of a content is looked at to tell what it is: the root element of real feeds stands in the first
// few KiB, behind comments and style sheet instructions.
const headLength = 4096

// recognise says what a content is by how it begins, in UTF-8: [Feed], [Sitemap] (news or not), [Index] or [None].
func recognise(contentType string, head []byte, awaited bool) Kind {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n")
	switch {
	case len(head) == 0:
		return None
	case head[0] == '{':
		if media := mediaType(contentType); bytes.Contains(head, []byte("jsonfeed.org/version")) || media == "application/feed+json" {
			return Feed
		}
		return None
	case head[0] != '<':
		if awaited && plainURIs(head) {
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

// plainlyNone recognises most pages by their bytes alone: those that are neither packed nor in an encoding in which ASCII
// looks different. No decoder is made for them.
func plainlyNone(contentType string, content []byte, awaited bool) bool {
	head := content[:min(len(content), headLength)]
	packed := bytes.HasPrefix(head, []byte("\x1f\x8b"))
	wide := bytes.HasPrefix(head, []byte("\xFE\xFF")) || bytes.HasPrefix(head, []byte("\xFF\xFE")) || bytes.IndexByte(head, 0) >= 0
	return !packed && !wide && recognise(contentType, head, awaited) == None
}

func mediaType(contentType string) string {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil && t == "" {
		return ""
	}
	return t
}

// plainURIs reports whether the first line of a text is a web address.
func plainURIs(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return bytes.HasPrefix(line, []byte("http://")) || bytes.HasPrefix(line, []byte("https://"))
}

// rootElement is the local name of the first element, empty if there is none in what is given.
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
			if colon := bytes.LastIndexByte(name, ':'); colon >= 0 {
				name = name[colon+1:]
			}
			return string(name)
		}
		n := bytes.Index(head, []byte(end))
		if n < 0 {
			return ""
		}
		head = head[n+len(end):]
	}
}
