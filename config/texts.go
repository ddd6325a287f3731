package config

import (
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"

	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of free texts; they stand in file names, HTTP headers and WARC headers.
const (
	maxName   = 200
	maxPrefix = 64
	maxPath   = 4096 // PATH_MAX of Linux
)

// text reads a text that a check approves by giving no problem.
func text(check func(string) (problem, remedy string), at func(*draft) *string) reader {
	return reader{
		kind: "text",
		read: func(f field, d *draft) {
			s, ok := f.text("a text in quotes")
			if !ok {
				return
			}
			if problem, remedy := check(s); problem != "" {
				f.fault(problem, remedy)
				return
			}
			*at(d) = s
		},
	}
}

func operatorName(s string) (problem, remedy string) {
	switch {
	case strings.TrimSpace(s) == "":
		return "is empty", "write the institution's name"
	case len(s) > maxName:
		return "is too long", fmt.Sprintf("at most %d bytes", maxName)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "has control characters in it", "write it on one line"
	}
	return "", ""
}

// contact approves what can stand in the comment of a User-Agent header.
func contact(s string) (problem, remedy string) {
	const example = `write for example "https://library.example/crawler" or "crawler@library.example"`
	if len(s) > maxName {
		return "is too long", fmt.Sprintf("at most %d bytes", maxName)
	}
	if s == "" {
		return "is empty", example
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`()<>"\;`, r) }) {
		return "has characters that cannot stand in a User-Agent", example
	}
	if a, err := mail.ParseAddress(s); err == nil && a.Address == s && strings.Contains(s, ".") {
		return "", ""
	}
	if u, err := uri.Parse(s); err == nil && strings.Contains(s, "://") && strings.Contains(u.Hostname(), ".") {
		return "", ""
	}
	return "is neither a web address nor an e-mail address", example
}

func path(s string) (problem, remedy string) {
	switch {
	case s == "":
		return "is empty", "write a path, absolute or as seen from this file's folder"
	case len(s) > maxPath || strings.ContainsFunc(s, unicode.IsControl):
		return "is not a path", "write a path, absolute or as seen from this file's folder"
	case strings.HasPrefix(s, "~"):
		return "begins with ~, which only a shell understands", "write the whole path"
	}
	return "", ""
}

func warcPrefix(s string) (problem, remedy string) {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	}
	if s == "" || len(s) > maxPrefix || strings.ContainsFunc(s, other) || strings.Trim(s[:1], "-_.") == "" {
		return "cannot begin a file name", fmt.Sprintf("use up to %d letters, digits, - _ and ., a letter or digit first", maxPrefix)
	}
	return "", ""
}

// hostName reads the key that names the host of a host file.
func hostName() reader {
	return reader{
		kind: "host name, with port when not the scheme's own",
		read: func(f field, d *draft) {
			s, ok := f.text(`for example "www.news.example" or "www.news.example:8080"`)
			if !ok {
				return
			}
			h, problem, remedy := parseHost(s)
			if problem != "" {
				f.fault(problem, remedy)
				return
			}
			d.host = h
		},
	}
}

func parseHost(s string) (h uri.Host, problem, remedy string) {
	const example = `write only name, or name:port, as in "www.news.example"`
	if s == "" || strings.ContainsAny(s, `/?#@\%`) || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' }) {
		return "", "is not a host", example
	}
	u, err := uri.Parse("http://" + s + "/")
	if err != nil {
		return "", "is not a host", example
	}
	if u.Port() == "443" || strings.HasSuffix(s, ":80") {
		return "", "names the port that belongs to the scheme", "write " + strconv.Quote(u.Hostname())
	}
	return u.Host(), "", ""
}

// pattern reads the MIME pattern of a wait evaluator.
func pattern() reader {
	return reader{
		kind: "regular expression",
		read: func(f field, d *draft) {
			if re, ok := f.typePattern(); ok {
				d.entry.MIME, d.entry.Name = re, f.value.(string)
			}
		},
	}
}

// badExpression is why s is no regular expression.
func badExpression(err error, s string) string {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return err.Error()
	}
	if bad.Expr == "" || bad.Expr == s {
		return bad.Code.String()
	}
	return bad.Code.String() + " at " + clip(strconv.Quote(bad.Expr))
}

// networks reads a list of CIDRs.
func networks() reader {
	return reader{
		kind: "list of networks (CIDR)",
		read: func(f field, d *draft) {
			d.config.AllowNetworks = nil
			f.texts(`for example "127.0.0.0/8" or "fd00::/8"`, func(e field, s string) {
				p, err := netip.ParsePrefix(s)
				switch {
				case err != nil:
					remedy := `write address and length, as in "127.0.0.0/8" or "fd00::/8"`
					if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
						remedy = fmt.Sprintf(`write "%s/%d"`, a.Unmap(), a.Unmap().BitLen())
					}
					e.fault("is not a network", remedy)
				case p.Addr().Is4In6():
					e.fault("is an IPv4 network in IPv6 notation", `write it as IPv4, as in "127.0.0.0/8"`)
				case p.Masked() != p:
					e.fault("has an address that does not begin its network", "write "+strconv.Quote(p.Masked().String()))
				default:
					if p.Bits() == 0 {
						e.warn("switches the guard against private networks off", "name the networks that are needed")
					}
					d.config.AllowNetworks = append(d.config.AllowNetworks, p)
				}
			})
		},
	}
}

// prefixes reads a list of URI prefixes.
func prefixes() reader {
	return reader{
		kind: "list of URIs",
		read: func(f field, d *draft) {
			d.settings.Scope.Prefixes = nil
			f.texts(`for example "https://www.news.example/sport/"`, func(e field, s string) {
				if u, ok := e.uri(s); ok {
					d.settings.Scope.Prefixes = append(d.settings.Scope.Prefixes, u.String())
				}
			})
		},
	}
}

// seeds reads a list of seeds, or of what is one too; whose they are and whether they are new is checked when all files are
// read.
func seeds(example string, at func(*draft) *[]seed) reader {
	return reader{
		kind: "list of URIs",
		read: func(f field, d *draft) {
			f.texts("for example "+example, func(e field, s string) {
				if u, ok := e.uri(s); ok {
					*at(d) = append(*at(d), seed{uri: u, at: e})
				}
			})
		},
	}
}

// uri reads an http(s) URI, or says how it should look.
func (f field) uri(s string) (uri.URI, bool) {
	u, err := uri.Parse(s)
	_, _, hasScheme := strings.Cut(s, "://")
	switch {
	case err == nil && hasScheme:
		return u, true
	case errors.Is(err, uri.ErrScheme):
		f.fault("is neither http nor https", "only these are crawled")
	case strings.TrimSpace(s) == "":
		f.fault("is empty", `write a whole URI, as in "https://www.news.example/"`)
	case !hasScheme:
		remedy := `write a whole URI, as in "https://www.news.example/"`
		if guess, err := uri.Parse("https://" + strings.TrimLeft(s, "/:")); err == nil {
			remedy = "write " + clip(strconv.Quote(guess.String()))
		}
		f.fault("has no http:// or https://", remedy)
	default:
		f.fault("is not a URI: "+cause(err), `write a whole URI, as in "https://www.news.example/"`)
	}
	return uri.URI{}, false
}

// cause is what an error of the URI parser says apart from the URI, which the fault shows already.
func cause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		err = inner
	}
	why, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "Error: "), ". Url: ")
	return why
}
