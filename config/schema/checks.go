package schema

import (
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/arcrawl/arcrawl/uri"
)

// Check returns what is wrong with a text and what to write instead. An empty problem means that the text is accepted.
type Check func(s string) (problem, remedy string)

// Accept returns the check that accepts the texts for which fits returns true.
func Accept(fits func(s string) bool, problem, remedy string) Check {
	return func(s string) (string, string) {
		if fits(s) {
			return "", ""
		}
		return problem, remedy
	}
}

// Match returns the check that accepts the texts that an expression matches.
func Match(expression, problem, remedy string) Check {
	return Accept(regexp.MustCompile(expression).MatchString, problem, remedy)
}

// Bounds of texts that end up in file names, HTTP headers and WARC headers, in bytes.
const (
	maxName  = 200
	maxGroup = 100
	maxPath  = 4096 // PATH_MAX of Linux
)

// CheckNameOf returns the check of the name of something, which is one line.
func CheckNameOf(what string) Check {
	return func(s string) (problem, remedy string) {
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

// The checks of texts about which there is one thing to say.
var (
	// CheckFilePrefix accepts what the name of a WARC file can begin with.
	CheckFilePrefix = Match(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`,
		"cannot begin a file name", "use up to 64 letters, digits, - _ and ., a letter or digit first")
	// CheckGroup accepts the name of a politeness group.
	CheckGroup = Accept(func(s string) bool { return len(s) <= maxGroup && !strings.ContainsAny(s, "\r\n\t") },
		"is not the name of a group", `write a short name, such as "shop platform"`)
	// CheckWebhook accepts an address that receives POST requests.
	CheckWebhook = Accept(isWebAddress,
		"is not a web address", `write for example "https://alarms.library.example/arcrawl"`)
	// CheckCallback accepts a public web address without a query.
	CheckCallback = Accept(func(s string) bool { return isWebAddress(s) && !strings.ContainsAny(s, "?#") },
		"is not a web address without a query", `write for example "https://crawler.library.example/websub"`)
	// CheckHeader accepts the value of a header field.
	CheckHeader = Accept(func(s string) bool {
		bad := func(r rune) bool { return r < ' ' || r > '~' }
		return len(s) <= 4<<10 && strings.TrimSpace(s) == s && !strings.ContainsFunc(s, bad)
	}, "is not the value of a header field", "write at most 4096 printable ASCII characters")
	// CheckCommand accepts the absolute path of a program.
	CheckCommand = Accept(func(s string) bool { return filepath.IsAbs(s) && !strings.ContainsFunc(s, unicode.IsControl) },
		"is not the absolute path of a program", `write for example "/usr/local/bin/store-warc"; arguments belong into a script`)
	// CheckAddress accepts an IP address with a port.
	CheckAddress = Accept(func(s string) bool {
		_, err := netip.ParseAddrPort(s)
		return err == nil
	}, "is not an address with a port", `write for example "127.0.0.1:8472"`)
)

// isWebAddress reports whether a text is a URI that names its scheme.
func isWebAddress(s string) bool {
	u, err := uri.Parse(s)
	return err == nil && strings.Contains(s, "://") && u.Hostname() != ""
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
