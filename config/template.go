package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// shortKeys are the keys that a short main file lists, each with a sentence.
var shortKeys = map[string]string{
	"operator.name":        "The institution: it is in each WARC file and in the User-Agent.",
	"operator.contact":     "Web page or e-mail address for webmasters.",
	"storage.warc":         "Folder of the WARC files.",
	"admin.listen":         "Address of the dashboard.",
	"politeness.min_delay": "Minimum rest of a site between two requests.",
	"wait.mime":            "Types of content, as a regular expression: all.",
	"wait.rule":            "How often they are visited: as often as they change.",
	"wait.capture_target":  "Share of all versions to capture.",
}

// ShortMainFile returns the text of a new main file as [MainFile] does, with the keys that nearly every crawl sets and
// the keys of values.
func ShortMainFile(values map[string]string) string {
	t := newMainFile(values)
	t.short = true
	t.hints["admin.listen"] = `"127.0.0.1:8471"`
	t.keys = slices.DeleteFunc(t.keys, func(k Key) bool {
		_, isSet := t.set[k.Name]
		return !isSet && shortKeys[k.Name] == ""
	})
	t.comment("The main file of arcrawl. A line such as #key = value shows a default or an example: remove the #. " +
		"All other keys: arcrawl init --all DIR, or docs/config.md. Settings of one site: arcrawl seeds add URI.")
	return t.tables()
}

// MainFile returns the text of a new main file that lists every key with its meaning. values are the keys that it
// sets, as TOML. All others are comments with their default. The new file uses the rule "learned" for all types.
func MainFile(values map[string]string) string {
	t := newMainFile(values)
	t.comment("The main file of arcrawl. A line such as #key = value shows a default: remove the # and write your value.")
	t.comment("Then run: arcrawl check --config FILE. A running daemon applies the file automatically. " +
		"Settings of one host: arcrawl seeds add URI.")
	return t.tables()
}

// newMainFile returns an empty main file that sets values.
func newMainFile(values map[string]string) *template {
	set := map[string]string{
		"operator.name": `""`, "operator.contact": `""`, "wait.mime": `'.*'`, "wait.rule": `"learned"`,
	}
	for name, v := range values {
		set[name] = v
	}
	t := newTemplate(InMain, set)
	shortest, longest := evaluators.DefaultBounds("learned")
	t.hints["wait.min"], t.hints["wait.max"] = Quote(human.Duration(shortest)), Quote(human.Duration(longest))
	// The rule estimates the first wait, so wait.initial has no default.
	t.keys = slices.DeleteFunc(t.keys, func(k Key) bool { return k.Name == "wait.initial" && set[k.Name] == "" })
	return t
}

// tables returns the text with all tables.
func (t *template) tables() string {
	for _, table := range Tables() {
		t.table(table)
	}
	return t.out.String()
}

// hostKeys lists the keys that are most often set for a single host.
var hostKeys = []string{
	"politeness.min_delay", "politeness.max_delay", "politeness.crawl_delay_up_to",
	"wait.mime", "wait.initial", "wait.min", "wait.max",
	"change.mode", "change.scrub", "change.scrub_css",
	"midfetch.decide_by",
	"fetch.body_timeout", "fetch.max_body",
	"scope.by", "scope.prefixes", "scope.max_hops", "scope.embeds_anywhere",
	"seeds.uris",
	"when.uri", "when.time", "when.weekdays", "when.zone", "when.until",
}

// plainName matches a host that can be used as a file name.
var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// HostFileName returns the name of the file of a host, without .toml.
func HostFileName[H ~string](h H) string {
	return strings.Map(func(r rune) rune {
		if plainName.MatchString("x" + string(r)) {
			return r
		}
		return '_'
	}, strings.Trim(string(h), "[]"))
}

// NewHostFile returns the text of a new host file with at least one seed. It lists the keys that are most often set for
// a single host, as comments.
func NewHostFile(h uri.Host, seeds []string) string {
	quoted := make([]string, len(seeds))
	for i, s := range seeds {
		quoted[i] = Quote(s)
	}
	t := newTemplate(InHost, map[string]string{"seeds.uris": "[" + strings.Join(quoted, ", ") + "]"})
	t.commented = true
	t.keys = slices.DeleteFunc(t.keys, func(k Key) bool { return !slices.Contains(hostKeys, k.Name) })
	t.hints["wait.mime"] = `'^text/html.*'`
	t.hints["change.scrub_css"] = `["span.clock"]`
	t.hints["scope.prefixes"] = "[" + quoted[0] + "]"
	t.comment(fmt.Sprintf("Settings of %s. They override the main file. A line such as #key = value is a comment with the default "+
		"or an example: remove the # and write your value, and the # of the [table] above it. All keys: arcrawl init --schema host.", h))
	if !plainName.MatchString(string(h)) {
		fmt.Fprintf(&t.out, "host = %s\n", Quote(string(h)))
	}
	tables := Tables()
	for _, seeds := range []bool{true, false} { // the seeds come first
		for _, table := range tables {
			if (table.Name == "seeds") == seeds {
				t.table(table)
			}
		}
	}
	return t.out.String()
}

// template is a configuration file that is being written. Each key follows a comment with its meaning.
type template struct {
	keys  []Key             // to be written
	set   map[string]string // values as TOML, by the name of the key; all other keys are comments
	hints map[string]string // values that are shown instead of a default
	// commented makes tables without a value comments too, so that a table that is pasted in does not collide.
	commented bool
	short     bool // no comments of tables, and short ones of keys
	out       strings.Builder
}

// newTemplate returns an empty template of a main or host file.
func newTemplate(scope string, set map[string]string) *template {
	t := &template{set: set, hints: map[string]string{
		"when.uri": `'/live/'`, "when.mime": `'^text/html.*'`, "when.port": `443`, "when.hop": `["seed", "link"]`,
		"when.time": `"06:00-23:00"`, "when.weekdays": `["mon-fri"]`, "when.until": `2035-12-31`,
		"subscription.name": `"softened headlines"`,
	}}
	for _, k := range Keys() {
		if k.In(scope) {
			t.keys = append(t.keys, k)
		}
	}
	return t
}

// commentWidth is the maximum length of a comment line.
const commentWidth = 110

// comment writes a text as comment lines.
func (t *template) comment(text string) { t.out.WriteString(wrap("# ", text, commentWidth)) }

// table writes a table with its keys. It writes nothing if there are none.
func (t *template) table(of Table) {
	var keys []Key
	set := false
	for _, k := range t.keys {
		if table, _ := k.Split(); table == of.Name {
			keys = append(keys, k)
			_, isSet := t.set[k.Name]
			set = set || isSet
		}
	}
	if len(keys) == 0 {
		return
	}
	fmt.Fprintln(&t.out)
	if !t.short {
		t.comment(of.Doc)
	}
	if (of.List || t.commented) && !set { // without the comment sign a list would have an entry
		t.out.WriteString("#")
	}
	fmt.Fprintln(&t.out, brackets(of))
	for _, k := range keys {
		t.key(k)
	}
	if of.Refines {
		t.comment("Its settings, as in the tables above.")
		fmt.Fprintln(&t.out, `#wait = [{ mime = '.*', min = "5m" }]`)
	}
}

// key writes a key after its meaning. It writes nothing if the key has neither value nor default.
func (t *template) key(k Key) {
	v, set := t.set[k.Name]
	if !set {
		v = cmp.Or(t.hints[k.Name], k.Default)
	}
	if v == "" {
		return
	}
	doc := k.Doc + " (" + k.Type.String() + ")"
	if t.short {
		doc = cmp.Or(shortKeys[k.Name], k.Doc)
	}
	t.comment(doc)
	_, name := k.Split()
	if !set {
		name = "#" + name
	}
	fmt.Fprintf(&t.out, "%s = %s\n", name, v)
}

// ParseSet reads KEY=VALUE arguments for [MainFile]. A value that is a text needs no quotes. A list of one element
// needs no brackets. The values are not checked.
func ParseSet(args []string) (map[string]string, error) {
	set := make(map[string]string, len(args))
	for _, arg := range args {
		name, v, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, fmt.Errorf("%q: want KEY=VALUE, as in storage.warc=/srv/warc", arg)
		}
		k, known := coreCatalog().key(name)
		if !known || !k.In(InMain) {
			return nil, fmt.Errorf("%q: the main file has no key %s; docs/config.md and arcrawl init --schema main list all keys", arg, name)
		}
		table, _ := k.Split()
		if t, _ := coreCatalog().table(table); t.List {
			return nil, fmt.Errorf("%q: write the [[%s]] tables into the file", arg, table)
		}
		set[name] = toTOML(k.Type, v)
	}
	return set, nil
}

// CheckOperator returns an error if operator.name or operator.contact cannot have a value.
func CheckOperator(key, value string) error {
	check := schema.CheckContact
	if key == "operator.name" {
		check = schema.CheckNameOf("institution")
	}
	if problem, remedy := check(value); problem != "" {
		return fmt.Errorf("%q %s; %s", value, problem, remedy)
	}
	return nil
}

// toTOML returns the value of an argument as TOML.
func toTOML(t schema.Type, v string) string {
	switch t.Kind {
	case schema.Boolean, schema.Whole, schema.Number:
		return v
	case schema.List, schema.Tables:
		if strings.HasPrefix(strings.TrimSpace(v), "[") {
			return v
		}
		return "[" + Quote(v) + "]"
	}
	return Quote(v)
}

// Quote returns a text as a basic string of TOML. Strings of JSON are such strings.
func Quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // encoding a string cannot fail
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
