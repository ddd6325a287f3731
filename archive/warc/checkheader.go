package warc

import (
	"path"
	"path/filepath"
	"strings"
	"time"
)

// The headers that every record must have, the types that must have a target, all types, and the known profiles of
// revisits.
var (
	required   = []string{"WARC-Type", "WARC-Record-ID", "WARC-Date"}
	withTarget = map[string]bool{
		"response": true, "resource": true, "request": true, "revisit": true, "conversion": true, "continuation": true,
	}
	draftVersions = map[string]bool{"0.17": true, "0.18": true}
	knownTypes    = map[string]bool{
		"warcinfo": true, "response": true, "resource": true, "request": true, "metadata": true, "revisit": true,
		"conversion": true, "continuation": true,
	}
	truncations = map[string]bool{"": true, "length": true, "time": true, "disconnect": true, "unspecified": true}
	// Headers that a record may have several times: the second is a proposal of the IIPC.
	repeated       = map[string]bool{"warc-concurrent-to": true, "warc-protocol": true}
	revisitProfile = map[string]bool{
		"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest": true,
		"http://netpreserve.org/warc/1.1/revisit/server-not-modified":      true,
		"http://netpreserve.org/warc/1.0/revisit/identical-payload-digest": true,
		"http://netpreserve.org/warc/1.0/revisit/server-not-modified":      true,
	}
)

// hasWARCName reports whether the specification defines a header, so that it may occur only once.
func hasWARCName(f Field) bool {
	const prefix = "WARC-"
	return len(f.Name) > len(prefix) && strings.EqualFold(f.Name[:len(prefix)], prefix) ||
		strings.EqualFold(f.Name, "Content-Length")
}

func (c *Checker) headers(rec *Record) {
	h := rec.Header
	for _, text := range rec.faults {
		c.fail(rec, BadHeader, "%s", text)
	}
	switch {
	case draftVersions[rec.Version]:
		if c.draft != rec.File {
			c.warn(rec, BadVersion, "the version of the records is %s, a draft of WARC/1.0, as Heritrix 1 wrote it; "+
				"not every reader takes it", rec.Version)
		}
		c.draft = rec.File
	case rec.Version != "1.0" && rec.Version != "1.1":
		c.fail(rec, BadVersion, "the version of the record is %.20q, want 1.0 or 1.1", rec.Version)
	}
	for _, name := range required {
		if h.Get(name) == "" {
			c.fail(rec, BadHeader, "%s is missing", name)
		}
	}
	if withTarget[h.Type()] && h.Target() == "" {
		c.fail(rec, BadHeader, "WARC-Target-URI is missing in a %s record", h.Type())
	}
	if kind := h.Type(); kind != "" && !knownTypes[kind] {
		c.fail(rec, BadHeader, "WARC-Type is %.40q, which WARC/1.1 does not define: readers skip such a record", kind)
	}
	if fault := targetFault(h.Target()); fault != "" {
		c.fail(rec, BadHeader, "WARC-Target-URI is %.200q: %s", h.Target(), fault)
	}
	for i, f := range h {
		if hasWARCName(f) && !repeated[strings.ToLower(f.Name)] && h[:i].Get(f.Name) != "" {
			c.fail(rec, BadHeader, "%s occurs twice", f.Name)
		}
	}
	if kind := msgtype(h); kind != "" && messageKind(h) != "" && kind != messageKind(h) {
		c.fail(rec, BadHeader, "the Content-Type of a %s record says msgtype=%s", h.Type(), kind)
	}
	if why := h.Get("WARC-Truncated"); !truncations[strings.ToLower(why)] {
		c.warn(rec, BadHeader, "WARC-Truncated is %.40q, which WARC/1.1 does not define", why)
	}
	if name := h.Get("WARC-Filename"); rec.Offset == 0 && name != "" && !isNameOf(name, rec.File) {
		c.warn(rec, NoInfo, "WARC-Filename is %.200q: the file had another name when it was written", name)
	}
	if !c.Now.IsZero() && h.Date().After(c.Now.Add(maxAhead)) {
		c.warn(rec, BadHeader, "WARC-Date is in the future: %s", h.Get("WARC-Date"))
	}
	c.date(rec, "WARC-Date")
	c.date(rec, "WARC-Refers-To-Date")
	if id := h.Get("WARC-Record-ID"); id != "" && (!strings.HasPrefix(id, "<") || !strings.HasSuffix(id, ">")) {
		c.failButWget(rec, BadHeader, "WARC-Record-ID is not in angle brackets")
	}
	if strings.HasPrefix(h.Get("WARC-Target-URI"), "<") && rec.Version != "1.0" { // WARC/1.0 has them in its grammar
		c.warn(rec, BadHeader, "WARC-Target-URI is in angle brackets, which WARC/1.1 does not allow")
	}
	if h.Type() == "revisit" {
		c.revisitHeaders(rec)
	}
}

func (c *Checker) date(rec *Record, name string) {
	date := rec.Header.Get(name)
	if date == "" {
		return
	}
	if _, err := ParseDate(date); err != nil {
		c.fail(rec, BadHeader, "%s: %v", name, err)
	} else if strings.Contains(date, "T") && !strings.HasSuffix(date, "Z") {
		c.fail(rec, BadHeader, "%s is %s, which is not in UTC with a Z at its end", name, date)
	}
}

// targetFault returns why a text is not an absolute URI, or "".
func targetFault(target string) string {
	if target == "" {
		return ""
	}
	scheme, rest, ok := strings.Cut(target, ":")
	for i, c := range []byte(scheme) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if ok = ok && (letter || i > 0 && ('0' <= c && c <= '9' || strings.IndexByte("+-.", c) >= 0)); !ok {
			break
		}
	}
	switch {
	case !ok || scheme == "":
		return "it does not begin with a scheme"
	case rest == "" || (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) && !hasHost(rest):
		return "nothing follows the scheme"
	case strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "it contains a space or control character"
	}
	return ""
}

// hasHost reports whether the part of a URI after the scheme has a host.
func hasHost(rest string) bool {
	host, ok := strings.CutPrefix(rest, "//")
	return ok && host != "" && strings.IndexByte("/?#", host[0]) < 0
}

// maxAhead is how far a date may be in the future: clocks differ.
const maxAhead = 24 * time.Hour

// isNameOf reports whether a name in a header is the name of a file, compressed or not.
func isNameOf(name, file string) bool {
	plain := func(s string) string { return strings.TrimSuffix(strings.TrimSuffix(path.Base(s), OpenSuffix), ".gz") }
	return plain(name) == plain(filepath.ToSlash(file))
}

// messageKind returns what an HTTP message in a record is: a request, or for captures a response.
func messageKind(h Header) string {
	switch h.Type() {
	case "request":
		return "request"
	case "response", "revisit":
		return "response"
	}
	return ""
}

// msgtype returns the parameter of the type application/http that says what the message is, in lower case.
func msgtype(h Header) string {
	if !h.IsHTTP() {
		return ""
	}
	_, kind, _ := strings.Cut(strings.ToLower(h.Get("Content-Type")), "msgtype=")
	kind, _, _ = strings.Cut(kind, ";")
	return strings.Trim(kind, " \t\"")
}

// isNotModified reports whether a revisit is one of an answer 304.
func isNotModified(h Header) bool {
	return strings.HasSuffix(h.Get("WARC-Profile"), "/server-not-modified")
}

func (c *Checker) revisitHeaders(rec *Record) {
	h := rec.Header
	to, err := ParseDate(h.Get("WARC-Refers-To-Date"))
	if own := h.Date(); err == nil && !own.IsZero() && to.Unix() > own.Unix() {
		c.warn(rec, BadHeader, "WARC-Refers-To-Date is %s, after the date of the revisit", h.Get("WARC-Refers-To-Date"))
	}
	profile := h.Get("WARC-Profile")
	switch {
	case profile == "":
		c.fail(rec, BadHeader, "WARC-Profile is missing in a revisit record")
	case !revisitProfile[profile]:
		c.warn(rec, BadHeader, "WARC-Profile is %.80q, which WARC/1.1 does not define", profile)
	}
	if strings.HasSuffix(profile, "identical-payload-digest") && h.Get("WARC-Payload-Digest") == "" {
		c.fail(rec, BadHeader, "WARC-Payload-Digest is missing in a revisit by payload")
	}
	for _, name := range []string{"WARC-Refers-To-Target-URI", "WARC-Refers-To-Date"} {
		if h.Get(name) == "" {
			c.warn(rec, BadHeader, "%s is missing in a revisit record; replay tools need it", name)
		}
	}
}
