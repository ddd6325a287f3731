package warc

import "strings"

// required are the headers that each record has, and those that records of some types have besides.
var (
	required       = []string{"WARC-Type", "WARC-Record-ID", "WARC-Date"}
	withTarget     = map[string]bool{"response": true, "resource": true, "request": true, "revisit": true, "conversion": true, "continuation": true}
	revisitProfile = map[string]bool{
		"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest": true,
		"http://netpreserve.org/warc/1.1/revisit/server-not-modified":      true,
		"http://netpreserve.org/warc/1.0/revisit/identical-payload-digest": true,
		"http://netpreserve.org/warc/1.0/revisit/server-not-modified":      true,
	}
)

// hasWARCName tells whether the specification speaks of a header, so that it may stand there only once.
func hasWARCName(f Field) bool {
	const prefix = "WARC-"
	return len(f.Name) > len(prefix) && strings.EqualFold(f.Name[:len(prefix)], prefix) || strings.EqualFold(f.Name, "Content-Length")
}

// headers looks at the header of a record by itself.
func (c *Checker) headers(rec *Record) {
	h := rec.Header
	for _, text := range rec.faults {
		c.fail(rec, BadHeader, "%s", text)
	}
	if rec.Version != "1.0" && rec.Version != "1.1" {
		c.fail(rec, BadVersion, "the record is of version %.20q, neither 1.0 nor 1.1", rec.Version)
	}
	for _, name := range required {
		if h.Get(name) == "" {
			c.fail(rec, BadHeader, "there is no %s", name)
		}
	}
	if withTarget[h.Type()] && h.Target() == "" {
		c.fail(rec, BadHeader, "a %s without WARC-Target-URI", h.Type())
	}
	for i, f := range h {
		if hasWARCName(f) && !strings.EqualFold(f.Name, "WARC-Concurrent-To") && h[:i].Get(f.Name) != "" {
			c.fail(rec, BadHeader, "%s stands there twice", f.Name)
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
	if strings.HasPrefix(h.Get("WARC-Target-URI"), "<") && rec.Version != "1.0" { // the grammar of WARC/1.0 has them
		c.warn(rec, BadHeader, "WARC-Target-URI is in angle brackets, which WARC/1.1 does not have")
	}
	if h.Type() == "revisit" {
		c.revisitHeaders(rec)
	}
}

func (c *Checker) revisitHeaders(rec *Record) {
	h := rec.Header
	profile := h.Get("WARC-Profile")
	switch {
	case profile == "":
		c.fail(rec, BadHeader, "a revisit without WARC-Profile")
	case !revisitProfile[profile]:
		c.warn(rec, BadHeader, "WARC-Profile is %.80q, which WARC/1.1 does not name", profile)
	}
	if strings.HasSuffix(profile, "identical-payload-digest") && h.Get("WARC-Payload-Digest") == "" {
		c.fail(rec, BadHeader, "a revisit by payload without WARC-Payload-Digest")
	}
	for _, name := range []string{"WARC-Refers-To-Target-URI", "WARC-Refers-To-Date"} {
		if h.Get(name) == "" {
			c.warn(rec, BadHeader, "a revisit without %s, which replay tools need", name)
		}
	}
}
