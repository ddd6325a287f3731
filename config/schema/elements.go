package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// wholeURI is the remedy for a text that is not a URI.
const wholeURI = `write a whole URI, as in "https://www.news.example/"`

// ReadURI reads an http or https URI from the text s of f.
func ReadURI(f Field, s string) (uri.URI, bool) {
	u, err := uri.Parse(s)
	_, _, hasScheme := strings.Cut(s, "://")
	switch {
	case err == nil && hasScheme:
		problem, remedy := checkAuthority(s)
		if problem != "" {
			f.Fault(problem, remedy)
		}
		return u, problem == ""
	case errors.Is(err, uri.ErrScheme):
		f.Fault("is neither http nor https", "only these are crawled")
	case strings.TrimSpace(s) == "":
		f.Fault("is empty", wholeURI)
	case !hasScheme:
		remedy := wholeURI
		if guess, err := uri.Parse("https://" + strings.TrimLeft(s, "/:")); err == nil {
			remedy = "write " + Clip(strconv.Quote(guess.String()))
		}
		f.Fault("has no http:// or https://", remedy)
	default:
		f.Fault("is not a URI: "+cause(err), wholeURI)
	}
	return uri.URI{}, false
}

// checkAuthority reports what makes the text of a URI unfit for a setting, although it can be parsed.
func checkAuthority(text string) (problem, remedy string) {
	_, rest, _ := strings.Cut(text, "://")
	authority := strings.TrimLeft(rest, "/")
	if end := strings.IndexAny(authority, `/?#\`); end >= 0 {
		authority = authority[:end]
	}
	if strings.Contains(authority, "@") {
		return "contains a user name or password, which is never sent", "remove it, with the @ behind it"
	}
	host, _, _ := strings.Cut(authority, ":")
	if strings.HasSuffix(host, ".") {
		return "has a host that ends in a dot: a second name of the same host",
			"remove the dot: " + strings.Replace(text, host, strings.TrimRight(host, "."), 1)
	}
	return "", ""
}

// cause returns the innermost message of an error of the URI parser, without the URI, which the fault already shows.
func cause(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	why, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "Error: "), ". Url: ")
	return why
}

// ParseHost reads the name of a host, with a port if it is not the default.
func ParseHost(s string) (h uri.Host, problem, remedy string) {
	const example = `write only the name, or name:port, as in "www.news.example"`
	if s == "" || strings.ContainsAny(s, `/?#@\%`) || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' }) {
		return "", "is not a host", example
	}
	u, err := uri.Parse("http://" + s + "/")
	if err != nil {
		return "", "is not a host", example
	}
	if name, _, _ := strings.Cut(s, ":"); strings.HasSuffix(name, ".") {
		return "", "ends in a dot, which makes it a second name of the same host", "remove the dot"
	}
	if u.Port() == "443" || strings.HasSuffix(s, ":80") {
		return "", "names the default port", "write " + strconv.Quote(u.Hostname())
	}
	return u.Host(), "", ""
}

// ReadTypePattern reads a pattern of content types.
func ReadTypePattern(f Field) (*regexp.Regexp, bool) {
	s, ok := f.Text(`for example "^text/html.*"`)
	if !ok {
		return nil, false
	}
	re, err := digest.TypePattern(s)
	if err != nil {
		f.Fault("is not a regular expression: "+regexProblem(err, s), `write for example "^text/html.*" (RE2 syntax)`)
		return nil, false
	}
	return re, true
}

// maxRegex bounds a regular expression that is tried on every link, in bytes.
const maxRegex = 2000

// ReadRegex reads the regular expression s, which is the text of f or a part of it.
func ReadRegex(f Field, s, remedy string) (*regexp.Regexp, bool) {
	switch {
	case s == "":
		f.Fault("has no regular expression", remedy)
		return nil, false
	case len(s) > maxRegex:
		f.Fault("is too long", fmt.Sprintf("maximum: %d bytes", maxRegex))
		return nil, false
	}
	re, err := digest.CompilePattern(s)
	if large := (digest.PatternTooLargeError{}); errors.As(err, &large) {
		f.Fault("is too large", large.Error())
		return nil, false
	}
	if err != nil {
		f.Fault("is not a regular expression: "+regexProblem(err, s), remedy+" (RE2 syntax)")
		return nil, false
	}
	return re, true
}

// ParseRewrite parses a rewrite of URIs, "expression -> replacement".
func ParseRewrite(s string) (uri.Rewrite, error) {
	const arrow = " -> "
	match, to, ok := strings.Cut(s, arrow)
	if !ok {
		match, ok = strings.CutSuffix(s, strings.TrimRight(arrow, " "))
	}
	if !ok || match == "" {
		return uri.Rewrite{}, fmt.Errorf("it is not of the form 'expression%sreplacement'", arrow)
	}
	re, err := digest.CompilePattern(match)
	if err != nil {
		return uri.Rewrite{}, err
	}
	if re.MatchString("") {
		return uri.Rewrite{}, errors.New("the expression matches the empty text")
	}
	return uri.Rewrite{Match: re, To: to}, nil
}

// regexProblem returns why s is not a regular expression.
func regexProblem(err error, s string) string {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return err.Error()
	}
	if bad.Expr == "" || bad.Expr == s {
		return bad.Code.String()
	}
	return bad.Code.String() + " at " + Clip(strconv.Quote(bad.Expr))
}

// AcceptRule reports whether a scrubbing rule was accepted with err == nil, and reports its fault otherwise.
func AcceptRule(f Field, err error, rule, remedy string) bool {
	var bad *syntax.Error
	switch {
	case err == nil:
		return true
	case errors.Is(err, digest.ErrMatchesEmpty), errors.Is(err, digest.ErrMatchesAll):
		f.Fault(err.Error(), "describe the text around the part that changes: "+strings.TrimPrefix(remedy, "write "))
	case errors.As(err, &bad):
		f.Fault("is not a regular expression: "+regexProblem(err, rule), remedy)
	default:
		f.Fault("cannot be used for scrubbing: "+err.Error(), remedy)
	}
	return false
}

// ReadMoment reads the end of a period. The end of a date is the end of that day. zone applies to values without an
// offset.
func ReadMoment(f Field, zone *time.Location) (time.Time, bool) {
	const example = "write a date without quotes, as in 2026-12-01, or a time, as in 2026-12-01T18:00:00"
	t, ok := f.Value.(time.Time)
	if !ok {
		f.WrongType("a date or time", example)
		return time.Time{}, false
	}
	year, month, date := t.Date()
	hour, minute, second := t.Clock()
	switch t.Location().String() { // names by which the decoder marks values without an offset
	case "date-local":
		return time.Date(year, month, date+1, 0, 0, 0, 0, zone), true
	case "datetime-local":
		return time.Date(year, month, date, hour, minute, second, t.Nanosecond(), zone), true
	case "time-local":
		f.Fault("is a time without a date", example)
		return time.Time{}, false
	}
	return t, true
}
