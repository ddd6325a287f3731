package config

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/arcrawl/arcrawl/config/schema"
)

// RequestSettings say what is sent to a host besides what arcrawl always sends.
type RequestSettings struct {
	Headers        []Header // header fields that everybody may know
	SecretHeaders  []Header // header fields that nobody may know
	Basic          Secret   // "user:password"
	Bearer         Secret
	ArchiveSecrets bool // write them into the archive as they were sent
	OverHTTP       bool // send them without encryption too
	Login          Login
}

// Header is a header field of a request. Exactly one of Value and Secret is set.
type Header struct {
	Name   string
	Value  string
	Secret Secret
}

// Any reports whether anything is sent that arcrawl does not always send.
func (s *RequestSettings) Any() bool {
	return len(s.Headers)+len(s.SecretHeaders) > 0 || s.Basic.IsSet() || s.Bearer.IsSet()
}

// Unread returns the place of a secret that could not be read here; "" if all could.
func (s *RequestSettings) Unread() string {
	all := []Secret{s.Basic, s.Bearer}
	for _, h := range slices.Concat(s.SecretHeaders, s.Login.SecretFields) {
		all = append(all, h.Secret)
	}
	for _, secret := range all {
		if secret.IsSet() && !secret.Known() {
			return secret.String()
		}
	}
	return ""
}

// SecretCookies returns the secret values of the header field Cookie.
func (s *RequestSettings) SecretCookies() (all []string) {
	for _, h := range s.SecretHeaders {
		if strings.EqualFold(h.Name, "Cookie") {
			all = append(all, h.Secret.Reveal())
		}
	}
	return all
}

// SentField is a header field as it is sent.
type SentField struct {
	Name, Value string
	Secret      bool // it must not be shown
}

// Fields returns the header fields to send. cookie is what is sent as Cookie besides; secure says that the connection
// is encrypted.
func (s *RequestSettings) Fields(cookie string, secure bool) []SentField {
	all := make([]SentField, 0, len(s.Headers)+len(s.SecretHeaders)+2)
	for _, h := range s.Headers {
		all = append(all, SentField{Name: h.Name, Value: h.Value})
	}
	cookies := SentField{Name: "Cookie", Value: cookie}
	if secure || s.OverHTTP {
		for _, h := range s.SecretHeaders {
			if !strings.EqualFold(h.Name, cookies.Name) {
				all = append(all, SentField{h.Name, h.Secret.Reveal(), true})
				continue
			}
			if cookies.Value != "" {
				cookies.Value += "; "
			}
			cookies.Value, cookies.Secret = cookies.Value+h.Secret.Reveal(), true
		}
		switch {
		case s.Basic.IsSet():
			encoded := base64.StdEncoding.EncodeToString([]byte(s.Basic.Reveal()))
			all = append(all, SentField{"Authorization", "Basic " + encoded, true})
		case s.Bearer.IsSet():
			all = append(all, SentField{"Authorization", "Bearer " + s.Bearer.Reveal(), true})
		}
	}
	if cookies.Value != "" {
		all = append(all, cookies)
	}
	if s.ArchiveSecrets {
		for i := range all {
			all[i].Secret = false
		}
	}
	return all
}

// Check reports two credentials that a file, or the refinement at path, sets for one host, and a login that cannot
// work.
func (s *RequestSettings) Check(doc *schema.Document, path schema.Path) {
	s.Login.checkLogin(doc, path, s.OverHTTP)
	named := slices.ContainsFunc(s.SecretHeaders, func(h Header) bool {
		return strings.EqualFold(h.Name, "Authorization")
	})
	two := s.Basic.IsSet() && s.Bearer.IsSet() || named && (s.Basic.IsSet() || s.Bearer.IsSet())
	for _, name := range []string{"request.basic", "request.bearer"} {
		if f, set := doc.Setting(path, name); set && two {
			hidden(f, "is the second value of the header field Authorization", `keep one of them, and set the other to ""`)
			return
		}
	}
}

// Mark returns a number that stands for what is sent: another number means that a server may answer otherwise. It is
// zero if nothing is sent that arcrawl does not always send.
func (s *RequestSettings) Mark(cookie string) int {
	if !s.Any() && cookie == "" {
		return 0
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%q %v", cookie, s.OverHTTP)
	for _, x := range slices.Concat(s.Headers, s.SecretHeaders) {
		fmt.Fprintf(h, "\n%q %q %q %x", strings.ToLower(x.Name), x.Value, x.Secret, x.Secret.mark())
	}
	fmt.Fprintf(h, "\n%q %x %q %x", s.Basic, s.Basic.mark(), s.Bearer, s.Bearer.mark())
	return int(h.Sum32()>>1) | 1
}

// maxHeaders and maxValue bound the header fields of one host.
const (
	maxHeaders = 50
	maxValue   = 4 << 10
)

// readOpenHeaders reads a list of header fields that everybody may know.
func readOpenHeaders(f schema.Field) []Header {
	const example = `write for example [{ name = "Accept-Language", value = "da, en;q=0.5" }]`
	return readNamed(f, "value", example, CheckHeaderName, func(h *Header, v schema.Field) bool {
		if remedy := secretName(h.Name); remedy != "" {
			hidden(v, "is in the header field "+h.Name+", which holds a secret", remedy)
			return false
		}
		text, ok := v.Text("a text in quotes")
		if ok && (!validValue(text) || len(text) > maxValue) {
			v.Fault("is not the value of a header field", fmt.Sprintf("write up to %d characters on one line", maxValue))
			return false
		}
		h.Value = text
		return ok
	})
}

// readSecretHeaders reads a list of header fields that nobody may know.
func readSecretHeaders(f schema.Field) []Header {
	const example = `write for example [{ name = "X-Api-Key", secret = "file:news-key" }]`
	return readNamed(f, "secret", example, CheckHeaderName, func(h *Header, v schema.Field) (ok bool) {
		h.Secret, ok = readSecret(v, checkValue)
		return ok
	})
}

// readBasic reads the place of a user name and a password.
func readBasic(f schema.Field) (Secret, bool) {
	return readSecret(f, func(s string) (problem, remedy string) {
		const wanted = "write USER:PASSWORD into it, on one line"
		switch user, _, ok := strings.Cut(s, ":"); {
		case !ok || user == "":
			return "holds no user name and password", wanted
		case len(s) > maxSecret || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return "holds a control character, or is too long", wanted
		}
		return "", ""
	})
}

// readBearer reads the place of a token.
func readBearer(f schema.Field) (Secret, bool) { return readSecret(f, checkValue) }

// checkValue accepts a secret that is the value of a header field.
func checkValue(s string) (problem, remedy string) {
	switch {
	case s == "":
		return "holds nothing", "write the secret into it, on one line"
	case len(s) > maxSecret:
		return fmt.Sprintf("holds more than %d bytes", maxSecret), "check the place"
	case !validValue(s):
		return "holds a line end, a control character, or white space around the secret", "write the secret alone, on one line"
	}
	return "", ""
}

// validValue reports whether a text can be the value of a header field.
func validValue(s string) bool {
	return httpguts.ValidHeaderFieldValue(s) && strings.TrimSpace(s) == s
}

// readNamed reads a list of tables with a name that check accepts and one more column.
func readNamed(
	f schema.Field, column, example string, check schema.Check, read func(*Header, schema.Field) bool,
) (all []Header) {
	tables, ok := f.Tables(example)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for _, table := range tables {
		m, _ := table.Value.(map[string]any)
		if keys := slices.Sorted(maps.Keys(m)); !slices.Equal(keys, []string{"name", column}) {
			hidden(table, "does not have exactly the keys name and "+column, example)
			continue
		}
		name := table.Child("name", m["name"])
		text, ok := name.Text(`for example "Accept-Language"`)
		if !ok {
			continue
		}
		if problem, remedy := check(text); problem != "" {
			name.Fault(problem, remedy)
			continue
		}
		if seen[strings.ToLower(text)] {
			name.Fault("is named twice", "write one entry for each header field")
			continue
		}
		seen[strings.ToLower(text)] = true
		h := Header{Name: text}
		if read(&h, table.Child(column, m[column])) {
			all = append(all, h)
		}
	}
	if len(all) > maxHeaders {
		f.Fault("has too many header fields", fmt.Sprintf("maximum: %d", maxHeaders))
		return nil
	}
	return all
}

// secretName returns the remedy for a header field whose value is always a secret, or that has a key of its own.
func secretName(name string) string {
	switch strings.ToLower(name) {
	case "authorization":
		return "use request.basic, request.bearer or request.secret_headers, which name the place of the secret"
	case "cookie":
		return "use fetch.cookie for a cookie of consent, which everybody may know, or request.secret_headers"
	}
	return ""
}

// CheckHeaderName accepts the name of a header field that a file may set.
func CheckHeaderName(name string) (problem, remedy string) {
	lower := strings.ToLower(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name) || len(name) > 100:
		return "is not the name of a header field", `write for example "Accept-Language"`
	case slices.Contains(framing, lower) || strings.HasPrefix(lower, "proxy-"):
		return "is a header field of the connection, which arcrawl sets itself", "remove it"
	case strings.HasPrefix(lower, "if-") || lower == "range":
		return "would bring an answer without the page, or a part of it", "remove it: arcrawl asks whether a page has changed by itself"
	case lower == "accept-encoding":
		return "may only name codings that arcrawl undoes", "remove it: gzip, deflate, br and zstd are asked for"
	case lower == "user-agent":
		return "names the crawler and its operator, by which webmasters and robots.txt know it",
			"remove it; set operator.contact, and ask the site to let the crawler in"
	}
	return "", ""
}

// framing lists the header fields of the connection and of the message, in lower case.
var framing = []string{
	"host", "connection", "content-length", "content-type", "transfer-encoding", "te", "trailer", "upgrade", "keep-alive",
	"expect", "http2-settings",
}
