package config

import (
	"regexp"
	"strconv"

	"github.com/arcrawl/arcrawl/evaluators"
)

// validatorChoices lists the values of midfetch.decide_by.
var validatorChoices = []evaluators.DecideBy{
	evaluators.Agree, evaluators.ETag, evaluators.LastModified, evaluators.Either, evaluators.Off,
}

// decideByTypes reads a list of tables, each a pattern and what decides for the types that it matches.
func decideByTypes() reader {
	const example = `write for example [{ mime = '^image/.*', decide_by = "either" }]`
	return reader{
		kind: "list of tables with mime and decide_by",
		read: func(f field, d *draft) {
			list, ok := listOfTables(f.value)
			if !ok {
				f.wrongType("a list of tables", example)
				return
			}
			d.settings.Midfetch.ByType = nil
			for i, m := range list {
				e := field{doc: f.doc, name: f.name, path: element(f.path, i), value: m}
				if t, ok := e.decideByType(m, example); ok {
					d.settings.Midfetch.ByType = append(d.settings.Midfetch.ByType, t)
				}
			}
		},
	}
}

// decideByType reads one of them.
func (f field) decideByType(m map[string]any, example string) (t DecideByType, ok bool) {
	for name := range m {
		if name != "mime" && name != "decide_by" {
			at := field{doc: f.doc, name: f.name, path: under(f.path, name), value: m[name]}
			at.fault("has a key "+clip(strconv.Quote(name))+" that is not known", "the keys are mime and decide_by")
			return t, false
		}
	}
	part := func(name string) (field, bool) {
		v, has := m[name]
		if !has {
			f.fault("lacks "+name, example)
		}
		return field{doc: f.doc, name: f.name, path: under(f.path, name), value: v}, has
	}
	mime, has1 := part("mime")
	by, has2 := part("decide_by")
	if !has1 || !has2 {
		return t, false
	}
	re, good := mime.typePattern()
	var scratch draft
	byName := choice(func(d *draft) *evaluators.DecideBy { return &t.DecideBy }, validatorChoices...)
	byName.read(by, &scratch)
	t.MIME = re
	return t, good && !f.doc.bad[by.path]
}

// typePattern is the value as a pattern of content types.
func (f field) typePattern() (*regexp.Regexp, bool) {
	s, ok := f.text(`for example "^text/html.*"`)
	if !ok {
		return nil, false
	}
	re, err := evaluators.Pattern(s)
	if err != nil {
		f.fault("is not a regular expression: "+badExpression(err, s), `write for example "^text/html.*" (RE2 syntax)`)
		return nil, false
	}
	return re, true
}
