package heritrix

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Result is what came of a job.
type Result struct {
	Main  []byte            // arcrawl.toml
	Hosts map[string][]byte // the file of each host or domain, by its name
	Left  []Note            // what was not converted, in the order of the job
}

// Note is something that was not converted.
type Note struct {
	Line int
	What string
}

// String is the note as a line of a list.
func (n Note) String() string { return fmt.Sprintf("line %d: %s", n.Line, n.What) }

// job is a conversion under way.
type job struct {
	main  *file
	hosts map[string]*file
	left  []Note
}

// Convert reads the crawler-beans.cxml of a job, and the seeds that stand in a file of their own, if any: one on a line.
//
// The error says that it is no job; whatever in it has no counterpart is a [Note].
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
	for line, text := range strings.Split(seeds, "\n") {
		j.seed(text, line+1)
	}
	j.main.settle()
	for _, f := range j.hosts {
		f.settle()
	}
	slices.SortStableFunc(j.left, func(a, b Note) int { return a.Line - b.Line })
	r := &Result{Main: j.main.text(), Hosts: make(map[string][]byte), Left: j.left}
	for name, f := range j.hosts {
		r.Hosts[name] = f.text()
	}
	return r, nil
}

func (j *job) leave(line int, format string, args ...any) {
	j.left = append(j.left, Note{line, fmt.Sprintf(format, args...)})
}

// host is the file of a host or domain.
func (j *job) host(name string) *file {
	f := j.hosts[name]
	if f == nil {
		f = new(file)
		j.hosts[name] = f
	}
	return f
}

// elsewhere are the properties that are converted on their own, and those that mean nothing here.
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

// put writes a setting into a file, if it has a counterpart there.
func (j *job) put(f *file, s setting, host bool) {
	c, ok := conversions[s.path]
	switch {
	case !ok:
		j.leave(s.line, "%s = %s has no counterpart", s.path, s.value)
	case host && !c.host:
		j.leave(s.line, "%s = %s: %s can only be set for the whole crawl", s.path, s.value, c.key)
	default:
		text, err := c.text(s.value)
		if err != nil {
			j.leave(s.line, "%s: %v", s.path, err)
			return
		}
		f.set(c.key, text)
	}
}

// seed puts one line of a list of seeds into the file of its host.
func (j *job) seed(text string, line int) {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasPrefix(text, "#") {
		return
	}
	if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
		j.leave(line, "%s: prefixes of the scope stand in scope.prefixes and scope.rules of a host file", text)
		return
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	host, ok := hostOf(text)
	if !ok {
		j.leave(line, "%s is no seed: want http:// or https:// and a host", text)
		return
	}
	j.host(host).add("seeds.uris", strconv.Quote(text))
}

// hostOf is the name of the file for a URI's host.
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

// convertScope looks for the rules of the scope that have counterparts, wherever they stand.
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
	n, err := strconv.Atoi(p.value())
	if err != nil || n < 0 {
		j.leave(p.line, "%s of %s: %q is not a number", property, e.class(), p.value())
		return
	}
	j.main.set(key, strconv.Itoa(n))
}

// expressions converts a list of expressions. Heritrix matches them with the whole URI.
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
			j.leave(s.line, "the expression %s is not one of RE2: %v", s.value, err)
			continue
		}
		j.main.add("scope.rules", literal(verb+" "+text))
	}
}

// literal writes a TOML string in single quotes where that is possible.
func literal(s string) string {
	if strings.ContainsAny(s, "'\n") {
		return strconv.Quote(s)
	}
	return "'" + s + "'"
}

// convertSheets puts the settings of sheets into the files of the hosts and domains that they are for.
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
			j.leave(bean.line, "this %s is not by SURT prefixes; a host file with [[when]] may do the same", bean.class())
			continue
		}
		for _, prefix := range prefixes.values() {
			name, ok := hostOfSURT(prefix.value)
			if !ok {
				j.leave(prefix.line, "the prefix %s is neither a host nor a domain; a [[when]] with a uri in the host file does the same", prefix.value)
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
			j.leave(s.line, "the sheet %s is for no host", name)
			break
		}
	}
}

// hostOfSURT reads a SURT prefix of a whole host, http://(com,example,www,)/, or of a domain, http://(com,example,
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
