package heritrix

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Result is a converted job.
type Result struct {
	Main  []byte            // arcrawl.toml
	Hosts map[string][]byte // the file of each host or domain, by its name
	Notes []Note            // everything that was not converted, in the order of the job
}

// Note reports a setting that was not converted.
type Note struct {
	File string // "" = the job, "seeds" = the separate file of seeds
	Line int
	What string
	// Harmless says that the setting does not change what is crawled or archived.
	Harmless bool
}

// String returns the note as one line.
func (n Note) String() string {
	if n.File != "" {
		return fmt.Sprintf("%s, line %d: %s", n.File, n.Line, n.What)
	}
	return fmt.Sprintf("line %d: %s", n.Line, n.What)
}

// job is a conversion in progress.
type job struct {
	main  *file
	hosts map[string]*file
	notes []Note
	file  string // which is being converted, as in a Note
}

// Convert converts the crawler-beans.cxml of a job. seeds is the text of a separate file of seeds, one per line; it
// may be empty. An error means that beans is not a job. A setting without a counterpart is a [Note].
func Convert(beans []byte, seeds string) (*Result, error) {
	top, err := parse(beans)
	if err != nil {
		return nil, fmt.Errorf("read the job: %w", err)
	}
	j := &job{main: new(file), hosts: make(map[string]*file)}
	j.convertSettings(settings(top))
	j.convertScope(top)
	j.convertSheets(top)
	j.convertSites(top)
	j.file = "seeds"
	for line, text := range strings.Split(seeds, "\n") {
		j.seed(text, line+1)
	}
	j.main.reconcileDelays()
	for _, f := range j.hosts {
		f.reconcileDelays()
	}
	slices.SortStableFunc(j.notes, func(a, b Note) int {
		harm := func(n Note) int { return map[bool]int{true: 1}[n.Harmless] }
		return cmp.Or(harm(a)-harm(b), strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	r := &Result{Main: j.main.text(), Hosts: make(map[string][]byte), Notes: j.notes}
	for name, f := range j.hosts {
		r.Hosts[name] = f.text()
	}
	return r, nil
}

// note notes a setting that is not converted.
func (j *job) note(line int, format string, args ...any) {
	j.notes = append(j.notes, Note{File: j.file, Line: line, What: fmt.Sprintf(format, args...)})
}

// host returns the file of a host or domain.
func (j *job) host(name string) *file {
	f := j.hosts[name]
	if f == nil {
		f = new(file)
		j.hosts[name] = f
	}
	return f
}

// elsewhere lists the properties that are converted separately, and properties without meaning here.
var elsewhere = map[string]bool{"seeds.textSource.value": true, "metadata.jobName": true, "metadata.description": true}

func (j *job) convertSettings(set []setting) {
	for _, s := range set {
		lines := strings.Split(s.value, "\n")
		s.value = strings.TrimSpace(s.value)
		switch {
		case s.path == "seeds.textSource.value":
			for i, text := range lines {
				j.seed(text, s.line+i)
			}
		case elsewhere[s.path] || strings.HasPrefix(s.value, "[see override"):
		case s.path == "metadata.robotsPolicyName" && s.value == "obey":
		default:
			j.put(j.main, s, false)
		}
	}
}

// put converts a setting into a file. host means that it is the file of a host.
func (j *job) put(f *file, s setting, host bool) {
	c, ok := conversions[s.path]
	if value, expression := withDefault(s.value); ok && expression {
		j.note(s.line, "%s: the default of %s is used", s.path, s.value)
		s.value = value
	}
	switch {
	case !ok:
		j.note(s.line, "%s = %s has no counterpart", s.path, s.value)
		isHarmless := func(bean string) bool { return strings.HasPrefix(s.path, bean) }
		j.notes[len(j.notes)-1].Harmless = slices.ContainsFunc(harmless, isHarmless)
	case host && !c.host:
		j.note(s.line, "%s = %s: %s can only be set for the whole crawl", s.path, s.value, c.key)
	default:
		text, err := c.text(s.value)
		if err != nil {
			j.note(s.line, "%s: %v", s.path, err)
			return
		}
		f.set(c.key, text)
	}
}

// seed converts one line of a list of seeds into the file of its host.
func (j *job) seed(text string, line int) {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasPrefix(text, "#") {
		return
	}
	if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
		j.note(line, "%s: write prefixes of the scope into scope.prefixes and scope.rules of a host file", text)
		return
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	host, ok := hostOf(text)
	if !ok {
		j.note(line, "%s is not a seed: want http:// or https:// and a host", text)
		return
	}
	j.host(host).add("seeds.uris", strconv.Quote(text))
}

// hostOf returns the name of the file for a URI's host.
func hostOf(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", false
	}
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		return strings.ToLower(u.Hostname()) + ":" + port, true
	}
	return strings.ToLower(u.Hostname()), true
}

// convertScope converts the rules of the scope that have counterparts, anywhere in the job.
func (j *job) convertScope(top *element) {
	top.all(func(e *element) {
		switch e.class() {
		case "TooManyHopsDecideRule":
			j.hops(e, "maxHops", "scope.max_hops")
		case "TransclusionDecideRule":
			j.hops(e, "maxTransHops", "scope.max_embed_hops")
		case "MatchesListRegexDecideRule", "MatchesRegexDecideRule":
			j.expressions(e)
		}
	})
}

func (j *job) hops(e *element, property, key string) {
	p := e.property(property)
	if p == nil {
		return
	}
	text, _ := withDefault(p.value())
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		j.note(p.line, "%s of %s: %q is not a number", property, e.class(), p.value())
		return
	}
	j.main.set(key, strconv.Itoa(n))
}

// expressions converts a list of regular expressions. In Heritrix they must match the whole URI.
func (j *job) expressions(e *element) {
	verb := "accept"
	if d := e.property("decision"); d != nil && strings.EqualFold(d.value(), "REJECT") {
		verb = "reject"
	}
	var list []setting
	for _, name := range []string{"regexList", "regex"} {
		if p := e.property(name); p != nil {
			list = append(list, p.values()...)
			if _, one := p.attrs["value"]; one {
				list = append(list, setting{value: p.value(), line: p.line})
			}
		}
	}
	for _, s := range list {
		text := "^(?:" + s.value + ")$"
		if _, err := regexp.Compile(text); err != nil {
			j.note(s.line, "RE2 does not support the expression %s: %v", s.value, err)
			continue
		}
		j.main.add("scope.rules", literal(verb+" "+text))
	}
}

// literal returns a TOML string, in single quotes if possible.
func literal(s string) string {
	if strings.ContainsAny(s, "'\n") {
		return strconv.Quote(s)
	}
	return "'" + s + "'"
}

// convertSheets converts sheets into the files of the hosts and domains that they apply to.
func (j *job) convertSheets(top *element) {
	all := sheets(top)
	used := make(map[string]bool)
	for _, bean := range top.children {
		if !strings.HasSuffix(bean.class(), "SheetAssociation") {
			continue
		}
		targets := bean.property("targetSheetNames")
		prefixes := bean.property("surtPrefixes")
		if targets == nil || prefixes == nil {
			j.note(bean.line, "this %s has no SURT prefixes; use a host file with [[when]] instead", bean.class())
			continue
		}
		for _, prefix := range prefixes.values() {
			name, ok := hostOfSURT(prefix.value)
			if !ok {
				j.note(prefix.line,
					"the prefix %s is neither a host nor a domain; use a [[when]] with a uri in the host file instead", prefix.value)
				continue
			}
			for _, target := range targets.values() {
				used[target.value] = true
				for _, s := range all[target.value] {
					j.put(j.host(name), s, true)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if used[name] {
			continue
		}
		for _, s := range all[name] {
			j.note(s.line, "the sheet %s applies to no host", name)
			break
		}
	}
}

// hostOfSURT returns the host or domain of a SURT prefix: http://(com,example,www,)/ is the prefix of a host,
// http://(com,example, of a domain.
func hostOfSURT(prefix string) (string, bool) {
	_, rest, found := strings.Cut(prefix, "://(")
	if !found {
		rest, found = strings.CutPrefix(prefix, "(")
	}
	labels, path, whole := strings.Cut(rest, ")")
	if !found || whole && path != "" && path != "/" {
		return "", false
	}
	labels, port, _ := strings.Cut(labels, ":")
	parts := strings.Split(strings.Trim(labels, ","), ",")
	if len(parts) < 2 || slices.Contains(parts, "") {
		return "", false
	}
	slices.Reverse(parts)
	name := strings.ToLower(strings.Join(parts, "."))
	if port != "" {
		name += ":" + port
	}
	return name, true
}
