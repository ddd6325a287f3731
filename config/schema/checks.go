package schema

import (
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/arcrawl/arcrawl/uri"
)

// Check returns what is wrong with a text and what to write instead. An empty problem means that the text is accepted.
type Check func(s string) (problem, remedy string)

// Bounds of texts that end up in file names, HTTP headers and WARC headers, in bytes.
const (
	maxName   = 200
	maxPrefix = 64
	maxGroup  = 100
	maxPath   = 4096 // PATH_MAX of Linux
)

// CheckOperator accepts the name of an institution.
func CheckOperator(s string) (problem, remedy string) {
	return checkName(s, "institution")
}

// CheckCollectionName accepts the name of a collection.
func CheckCollectionName(s string) (problem, remedy string) { return checkName(s, "collection") }

// checkName accepts a name of one line.
func checkName(s, what string) (problem, remedy string) {
	switch {
	case strings.TrimSpace(s) == "":
		return "is empty", "write the name of the " + what
	case len(s) > maxName:
		return "is too long", fmt.Sprintf("maximum: %d bytes", maxName)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "contains control characters", "write it on one line"
	}
	return "", ""
}

// CheckContact accepts a web page or e-mail address that can be written in the comment of a User-Agent header.
func CheckContact(s string) (problem, remedy string) {
	const example = `write for example "https://library.example/crawler" or "crawler@library.example"`
	if len(s) > maxName {
		return "is too long", fmt.Sprintf("maximum: %d bytes", maxName)
	}
	if s == "" {
		return "is empty", example
	}
	forbidden := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`()<>"\;`, r) }
	if strings.ContainsFunc(s, forbidden) {
		return "contains characters that a User-Agent cannot contain", example
	}
	if a, err := mail.ParseAddress(s); err == nil && a.Address == s && strings.Contains(s, ".") {
		return "", ""
	}
	if u, err := uri.Parse(s); err == nil && strings.Contains(s, "://") && strings.Contains(u.Hostname(), ".") {
		return "", ""
	}
	return "is neither a web address nor an e-mail address", example
}

// CheckPath accepts the path of a file or folder.
func CheckPath(s string) (problem, remedy string) {
	const wanted = "write a path, absolute or relative to the folder of this file"
	switch {
	case s == "":
		return "is empty", wanted
	case len(s) > maxPath || strings.ContainsFunc(s, unicode.IsControl):
		return "is not a path", wanted
	case strings.HasPrefix(s, "~"):
		return "begins with ~, which only a shell understands", "write the whole path"
	}
	return "", ""
}

// CheckFilePrefix accepts what the name of a WARC file can begin with.
func CheckFilePrefix(s string) (problem, remedy string) {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	}
	if s == "" || len(s) > maxPrefix || strings.ContainsFunc(s, other) || strings.Trim(s[:1], "-_.") == "" {
		return "cannot begin a file name",
			fmt.Sprintf("use up to %d letters, digits, - _ and ., a letter or digit first", maxPrefix)
	}
	return "", ""
}

// CheckGroup accepts the name of a politeness group.
func CheckGroup(s string) (problem, remedy string) {
	if len(s) > maxGroup || strings.ContainsAny(s, "\r\n\t") {
		return "is not the name of a group", `write a short name, such as "shop platform"`
	}
	return "", ""
}

// CheckReason accepts a reason that is written into the archive.
func CheckReason(s string) (problem, remedy string) {
	switch {
	case strings.TrimSpace(s) != s || strings.ContainsFunc(s, unicode.IsControl):
		return "has control characters or blanks around it", "write it on one line"
	case len(s) > maxName:
		return "is too long", fmt.Sprintf("maximum: %d bytes", maxName)
	}
	return "", ""
}

// CheckWebhook accepts an address that receives POST requests.
func CheckWebhook(s string) (problem, remedy string) {
	if u, err := uri.Parse(s); err != nil || !strings.Contains(s, "://") || u.Hostname() == "" {
		return "is not a web address", `write for example "https://alarms.library.example/arcrawl"`
	}
	return "", ""
}

// CheckHeader accepts the value of a header field.
func CheckHeader(s string) (problem, remedy string) {
	bad := func(r rune) bool { return r < ' ' || r > '~' }
	if strings.ContainsFunc(s, bad) || strings.TrimSpace(s) != s || len(s) > 4<<10 {
		return "is not the value of a header field", "write at most 4096 printable ASCII characters"
	}
	return "", ""
}

// CheckCommand accepts the absolute path of a program.
func CheckCommand(s string) (problem, remedy string) {
	if !filepath.IsAbs(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return "is not the absolute path of a program", `write for example "/usr/local/bin/store-warc"; arguments belong into a script`
	}
	return "", ""
}

// CheckCallback accepts a public web address without a query.
func CheckCallback(s string) (problem, remedy string) {
	u, err := uri.Parse(s)
	if err != nil || !strings.Contains(s, "://") || strings.ContainsAny(s, "?#") || u.IsZero() {
		return "is not a web address without a query", `write for example "https://crawler.library.example/websub"`
	}
	return "", ""
}

// CheckCollection accepts the address of a collection on an OutbackCDX server.
func CheckCollection(s string) (problem, remedy string) {
	const example = `write for example "http://localhost:8901/arcrawl"`
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return "is not an http(s) address", example
	case strings.ContainsAny(s, "?#"):
		return "has a query or a fragment", example
	case strings.Trim(u.Path, "/") == "":
		return "names no collection", example
	}
	return "", ""
}

// CheckAddress accepts an IP address with a port.
func CheckAddress(s string) (problem, remedy string) {
	if _, err := netip.ParseAddrPort(s); err != nil {
		return "is not an address with a port", `write for example "127.0.0.1:8472"`
	}
	return "", ""
}
