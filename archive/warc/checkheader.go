package warc

import "strings"

// The headers that every record must have, the types that must have a target, and the known profiles of revisits.
var (
	required   = []string{"WARC-Type", "WARC-Record-ID", "WARC-Date"}
	withTarget = map[string]bool{
		"response": true, "resource": true, "request": true, "revisit": true, "conversion": true, "continuation": true,
	}
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

// headers checks the header of a record.
func (c *Checker) headers(rec *Record) {
	h := rec.Header
	for _, text := range rec.faults {
		c.fail(rec, BadHeader, "%s", text)
	}
	if rec.Version != "1.0" && rec.Version != "1.1" {
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
	for i, f := range h {
		if hasWARCName(f) && !strings.EqualFold(f.Name, "WARC-Concurrent-To") && h[:i].Get(f.Name) != "" {
			c.fail(rec, BadHeader, "%s occurs twice", f.Name)
		}
	}
	if date := h.Get("WARC-Date"); date != "" {
		if _, err := ParseDate(date); err != nil {
			c.fail(rec, BadHeader, "WARC-Date: %v", err)
		}
	}
	if id := h.Get("WARC-Record-ID"); id != "" && (!strings.HasPrefix(id, "<") || !strings.HasSuffix(id, ">")) {
		c.warn(rec, BadHeader, "WARC-Record-ID is not in angle brackets")
	}
	if strings.HasPrefix(h.Get("WARC-Target-URI"), "<") && rec.Version != "1.0" { // WARC/1.0 has them in its grammar
		c.warn(rec, BadHeader, "WARC-Target-URI is in angle brackets, which WARC/1.1 does not allow")
	}
	if h.Type() == "revisit" {
		c.revisitHeaders(rec)
	}
}

// revisitHeaders checks the headers that only revisits have.
func (c *Checker) revisitHeaders(rec *Record) {
	h := rec.Header
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
