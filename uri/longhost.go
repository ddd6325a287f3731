package uri

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxRawHost is the maximum length of a host as a page writes it, in bytes. A name of 253 bytes that is written in
// another script, even percent-encoded, is shorter.
const maxRawHost = 1024

// checkRawHost returns an error if the host of a reference is too long, before the parser maps it to ASCII. The mapping
// of a host of 4,000 bytes takes two milliseconds, and a page may have thousands of links. It only sees hosts behind
// two slashes; [checkHostname] finds the others.
func checkRawHost(ref string) error {
	if len(ref) <= maxHostname {
		return nil // no host in it is too long, except for a label, which costs little
	}
	rest := strings.TrimLeft(ref, " \t\r\n\f")
	if i := strings.IndexAny(rest, ":/\\?#"); i > 0 && rest[i] == ':' {
		rest = rest[i+1:]
	}
	if len(rest) < 2 || !isSlash(rest[0]) || !isSlash(rest[1]) {
		return nil
	}
	rest = strings.TrimLeft(rest, "/\\")
	host := rest
	if end := strings.IndexAny(rest, "/\\?#"); end >= 0 {
		host = rest[:end]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if len(host) > maxRawHost {
		return fmt.Errorf("host name longer than %d bytes", maxHostname)
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf || r <= ' ' || r == '%' || r == '[' }) {
		return nil // the parser changes its length
	}
	if name, port, ok := strings.Cut(host, ":"); ok && strings.Trim(port, "0123456789") == "" {
		host = name
	}
	if host == "" {
		return nil // the parser says what is wrong
	}
	return checkHostname(host)
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }
