package config

import (
	"errors"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/digest"
)

// changeMode reads how contents are compared.
func changeMode() reader {
	return choice(func(d *draft) *ChangeMode { return &d.settings.Change.Mode }, Strict, Scrubbed, TextOnly)
}

// changeTypes reads the pattern of the types that are scrubbed.
func changeTypes() reader {
	return reader{
		kind: "regular expression",
		read: func(f field, d *draft) {
			if re, ok := f.typePattern(); ok {
				d.settings.Change.MIME = re
			}
		},
	}
}

// scrubRegexes reads a list of expressions that are fit for scrubbing.
func scrubRegexes() reader {
	const example = `for example '<span class="clock">.*?</span>'`
	return reader{
		kind: "list of regular expressions",
		read: func(f field, d *draft) {
			d.settings.Change.Scrub = nil
			f.texts(example, func(e field, s string) {
				if e.fit(digest.CheckRegex(s), s, "write "+example+" (RE2 syntax)") {
					d.settings.Change.Scrub = append(d.settings.Change.Scrub, s)
				}
			})
		},
	}
}

// scrubSelectors reads a list of selectors that are fit for scrubbing.
func scrubSelectors() reader {
	const example = `for example "span.clock" or "#ads > div"`
	return reader{
		kind: "list of CSS selectors",
		read: func(f field, d *draft) {
			d.settings.Change.ScrubCSS = nil
			f.texts(example, func(e field, s string) {
				if e.fit(digest.CheckSelector(s), s, "write "+example) {
					d.settings.Change.ScrubCSS = append(d.settings.Change.ScrubCSS, s)
				}
			})
		},
	}
}

// fit reports whether a scrubbing rule has no fault, and reports its fault.
func (f field) fit(err error, rule, remedy string) bool {
	var bad *syntax.Error
	switch {
	case err == nil:
		return true
	case errors.Is(err, digest.ErrMatchesEmpty), errors.Is(err, digest.ErrMatchesAll):
		f.fault(err.Error(), "say what stands around the part that changes: "+strings.TrimPrefix(remedy, "write "))
	case errors.As(err, &bad):
		f.fault("is not a regular expression: "+badExpression(err, rule), remedy)
	default:
		f.fault("is not fit for scrubbing: "+err.Error(), remedy)
	}
	return false
}

// keepScrubbed reads what becomes of bytes that differ only in what is scrubbed.
func keepScrubbed() reader {
	const accepted = `accepted: "nothing", "response", or "once per" and a duration, as in "once per 7d"`
	return reader{
		kind: `"nothing", "response" or "once per" and a duration`,
		read: func(f field, d *draft) {
			s, ok := f.text(`"nothing", "response" or "once per 7d"`)
			if !ok {
				return
			}
			switch s {
			case "nothing":
				d.settings.Change.KeepScrubbed = KeepScrubbed{}
			case "response":
				d.settings.Change.KeepScrubbed = KeepScrubbed{Response: true}
			default:
				if every, ok := f.oncePer(s, accepted); ok {
					d.settings.Change.KeepScrubbed = KeepScrubbed{Response: true, Every: every}
				}
			}
		},
	}
}

// oncePer reads "once per 7d", and reports what is something else.
func (f field) oncePer(s, accepted string) (time.Duration, bool) {
	period, once := strings.CutPrefix(s, "once per ")
	if !once {
		f.fault("is not accepted", accepted)
		return 0, false
	}
	every, problem, remedy := parseDuration(period)
	if problem != "" || every < time.Second || every > longWait {
		f.fault("has no period: "+cmpOr(problem, "it is out of bounds"), cmpOr(remedy, accepted))
		return 0, false
	}
	return every, true
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// compile makes the rules of a file's settings. Their parts were checked one by one before.
func (c *Change) compile(doc *document) {
	spec := digest.Spec{Types: c.MIME, MaxSize: c.MaxSize, Sketch: c.Tolerance > 0 && c.Mode != Strict, Text: c.Mode == TextOnly}
	if c.Mode != Strict {
		spec.Regexes, spec.Selectors = c.Scrub, c.ScrubCSS
	}
	rules, err := digest.Compile(spec)
	if err != nil {
		doc.fault(Fault{File: doc.file, Key: "change.scrub", Problem: err.Error(), Remedy: "use fewer rules"})
		return
	}
	c.Rules = rules
}

// warnChange warns of rules that are not used by the file, or by the [[when]] at path.
func (doc *document) warnChange(path string, c Change) {
	for _, name := range []string{"change.scrub", "change.scrub_css", "change.tolerance", "change.keep_scrubbed"} {
		if c.Mode == Strict && doc.has(pathIn(path, name)) {
			at := field{doc: doc, name: name, path: pathIn(path, name), value: []any{}}
			at.warn(`has no effect with change.mode = "strict"`, `set mode = "scrubbed" or "text" too`)
		}
	}
	if c.Mode == Scrubbed && len(c.Scrub)+len(c.ScrubCSS) == 0 && c.Tolerance == 0 && doc.has(pathIn(path, "change.mode")) {
		at := field{doc: doc, name: "change.mode", path: pathIn(path, "change.mode"), value: string(c.Mode)}
		at.warn("has no rules to scrub by, and so is strict", "set change.scrub or change.scrub_css")
	}
}
