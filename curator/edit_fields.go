package curator

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// The sections of the form.
const (
	howOften  = "How often"
	whatIs    = "What is captured, and what is kept out"
	aboutSite = "About the site"
	noiseOf   = "What does not count as a change"
	accessTo  = "Access to the site"
	pageLoad  = "Load on the site, and pages made by scripts"
)

// formKeys are the settings of the form: what curators set for a single host, in words.
var formKeys = []struct{ section, key, label string }{
	{howOften, paceKey, "How often pages are visited"},
	{howOften, sectionsKey, "Front page and sections"},
	{howOften, "articles.ladder", "New articles are visited again at the age of"},
	{howOften, "feeds.min", "Feeds are read at most every"},
	{howOften, "feeds.max", "Feeds are read at least every"},
	{whatIs, "seeds.uris", "Front page and sections"},
	{whatIs, aboutKey, "Title, labels, owner and target of each"},
	{whatIs, "feeds.uris", "Feeds that name new articles"},
	{whatIs, "feeds.sitemaps", "Sitemaps that name new pages"},
	{whatIs, "scope.by", "Which links are followed"},
	{whatIs, "scope.prefixes", "Only below these addresses"},
	{whatIs, "scope.rules", "Addresses that are kept out, or added"},
	{whatIs, "scope.max_hops", "Links from a seed at most"},
	{whatIs, "scope.max_uris", "Pages and files at most"},
	{noiseOf, "change.mode", "What is compared"},
	{noiseOf, "change.scrub_css", "Parts that are ignored"},
	{accessTo, "robots.obey", "robots.txt is obeyed"},
	{accessTo, "robots.reason", "Why it need not be obeyed"},
	{accessTo, "fetch.cookies", "Cookies of the site are sent back"},
	{accessTo, "fetch.cookie", "Cookie after consent"},
	{accessTo, "request.basic", "User name and password"},
	{accessTo, "request.bearer", "Token of the site"},
	{aboutSite, "title", "Title"},
	{aboutSite, "labels", "Labels"},
	{aboutSite, "collections", "Collections"},
	{aboutSite, "owner", "Looked after by"},
	{aboutSite, "note", "Note"},
	{aboutSite, "until", "Captured until"},
	{pageLoad, "politeness.min_delay", "Rest between two requests, at least"},
	{pageLoad, "politeness.max_delay", "Rest between two requests, at most"},
	{pageLoad, "politeness.valence", "Requests at the same time"},
	{pageLoad, "render.pages", "Pages that a browser loads"},
}

// hostWithoutFile is a host that no file names: the settings of the main file apply to it.
const hostWithoutFile uri.Host = "a-host-without-a-file.invalid"

// Kinds of fields.
const (
	kindText   = "text"
	kindLines  = "lines"
	kindChoice = "choice"
	kindPace   = "pace"
	kindRow    = "row"
	kindSeeds  = "seeds"
)

// fields returns the settings of the form with their values in a text. The main file, and a text that is not TOML, have
// no form.
func (w editor) fields(name, text string) []EditField {
	out := []EditField{}
	if name == "" {
		return out
	}
	inForce := map[string]string{}
	for _, s := range w.Config.EffectiveHost(hostWithoutFile, w.Now) {
		inForce[s.Key] = s.Value
	}
	doc := schema.Parse([]byte(text), name)
	if len(doc.Faults) > 0 {
		return out
	}
	for _, own := range formKeys {
		switch own.key {
		case paceKey:
			out = append(out, paceField(own.section, own.label, own.key, paceIn(doc)))
			continue
		case sectionsKey:
			out = append(out, paceField(own.section, own.label, own.key, sectionsIn([]byte(text))))
			continue
		}
		k := keysOf([]string{own.key})[0]
		f := EditField{
			Section: own.section, Label: own.label, Key: k.Name, Doc: k.Doc, Type: k.Type.String(), Kind: kindText,
			Default: inForce[k.Name], Set: doc.Has(schema.Path("").Key(k.Name)),
		}
		switch {
		case k.Name == aboutKey:
			f.Kind, f.Value, f.Default = kindSeeds, aboutIn([]byte(text)), ""
			f.Doc = "What people should know of each, and the share of its versions to capture. A list of seeds has the " +
				"same columns."
		case k.Name == "articles.ladder":
			f.Kind = kindRow
		case k.Type.Kind == schema.List || k.Name == "note":
			f.Kind = kindLines
		case k.Type.Choices != nil && !k.Type.Every:
			f.Kind, f.Choices = kindChoice, slices.Clone(k.Type.Choices)
			if k.Type.OrBoolean {
				f.Choices = append([]string{"true", "false"}, f.Choices...)
			}
		}
		if f.Set && f.Kind != kindSeeds {
			f.Value = formValue(doc.Value(schema.Path("").Key(k.Name)))
		}
		if f.Kind == kindRow {
			f.Value = strings.ReplaceAll(f.Value, "\n", ", ")
		}
		out = append(out, f)
	}
	return out
}

// paceField returns a field that says how often something is visited.
func paceField(section, label, key, value string) EditField {
	f := EditField{
		Section: section, Label: label, Key: key, Kind: kindPace, Value: value, Set: value != "", Type: "entries of [[wait]]",
		Doc: "A page is visited as often as it changes, so that a share of its versions is captured, or always after the " +
			"same time. The crawl learns how often each page changes. Politeness bounds the load on the site.",
	}
	if key == sectionsKey {
		f.Type = "[[when]] with the addresses of seeds.uris"
		f.Doc = "A pace of their own for the front page and the sections of the site, which are listed below. It overrides " +
			"capture targets that a list of seeds gave them before."
	}
	return f
}

// keysOf returns keys in the order of their names.
func keysOf(names []string) []config.Key {
	all := config.Keys()
	out := make([]config.Key, 0, len(names))
	for _, name := range names {
		if i := slices.IndexFunc(all, func(k config.Key) bool { return k.Name == name }); i >= 0 {
			out = append(out, all[i])
		}
	}
	return out
}

// formValue returns a value as people write it into a form.
func formValue(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		lines := make([]string, len(v))
		for i, e := range v {
			lines[i] = formValue(e)
		}
		return strings.Join(lines, "\n")
	case time.Time:
		return strings.TrimSuffix(v.Format("2006-01-02T15:04:05Z07:00"), "T00:00:00Z")
	case nil:
		return ""
	}
	return schema.TOML(v)
}

// set returns a text with another value of a setting of the form; an empty value removes the setting.
func set(text []byte, key, written string) ([]byte, error) {
	switch key {
	case paceKey:
		return setPace(text, strings.TrimSpace(written))
	case sectionsKey:
		return setSections(text, strings.TrimSpace(written))
	case aboutKey:
		return setAbout(text, written)
	}
	keys := keysOf([]string{key})
	inForm := slices.ContainsFunc(formKeys, func(f struct{ section, key, label string }) bool { return f.key == key })
	if len(keys) == 0 || !inForm {
		return nil, fmt.Errorf("%q is not a setting of the form; edit the text", key)
	}
	t := keys[0].Type
	written = strings.ReplaceAll(written, "\r\n", "\n")
	if key != "note" {
		written = strings.TrimSpace(written)
	}
	switch {
	case key == "seeds.uris":
		return setSeeds(text, linesOf(written))
	case strings.TrimSpace(written) == "":
		return unsetKey(text, key)
	case key == "articles.ladder":
		ages := strings.FieldsFunc(written, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
		return setKey(text, key, schema.TOML(ages))
	case t.Kind == schema.List:
		return setKey(text, key, listOf(linesOf(written)))
	case t.Kind == schema.Boolean, t.Kind == schema.Whole, t.Kind == schema.Number, t.Kind == schema.Moment,
		t.OrBoolean && (written == "true" || written == "false"):
		return setKey(text, key, bare(written))
	}
	return setKey(text, key, schema.TOML(written))
}

// setSeeds adds and removes seeds, so that comments between them stay.
func setSeeds(text []byte, wanted []string) ([]byte, error) {
	kept := map[string]bool{}
	for _, s := range wanted {
		kept[s] = true
	}
	edited, err := keepSeeds(text, func(seed string) bool { return kept[seed] })
	if err != nil {
		return nil, err
	}
	if edited, err = moreSeeds(edited, wanted); err != nil {
		return nil, err
	}
	return forgetSeeds(edited, text)
}

func linesOf(written string) []string {
	var out []string
	for line := range strings.SplitSeq(written, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// listOf returns a list as TOML, with one element on each line if there are several.
func listOf(elements []string) string {
	quoted := make([]string, len(elements))
	for i, e := range elements {
		quoted[i] = schema.Literal(e)
	}
	if len(quoted) < 2 {
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return "[\n  " + strings.Join(quoted, ",\n  ") + ",\n]"
}

// bare returns a number, a truth value or a date as TOML. Anything else becomes a text, so that the check says what is
// wrong with it.
func bare(written string) string {
	doc := schema.Parse([]byte("x = "+written+"\n"), "the value")
	if len(doc.Faults) == 0 && len(doc.Root) == 1 && !strings.ContainsAny(written, "#\n") {
		return written
	}
	return schema.TOML(written)
}

// misleads reports whether a character is not shown, or changes the direction of the text around it.
func misleads(r rune) bool {
	return r != '\n' && r != '\t' && r != '\r' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r))
}

// misleading returns the faults of a text that no parser finds: characters that make a reader see something else.
func misleading(path, text string) []config.Fault {
	var out []config.Fault
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		column := 0
		for _, r := range line {
			if column++; misleads(r) && len(out) < maxFaults {
				out = append(out, config.Fault{
					File: path, Line: n, Column: column,
					Problem: fmt.Sprintf("there is the character U+%04X, which is not shown or changes the direction of text", r),
					Remedy:  fmt.Sprintf(`remove it, or write \u%04X between double quotes`, r),
				})
			}
		}
	}
	return out
}
