package heritrix

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Job is a job of Heritrix 3.
type Job struct {
	MaxDelay time.Duration // politeness.max_delay of a file that does not set it; zero = without a bound
	Beans    []byte        // its crawler-beans.cxml
	Seeds    string        // the text of a separate file of seeds, one per line; may be empty
	// Read reads a file that the job names, by its name as written there. nil = there are no such files.
	Read func(name string) ([]byte, error)
}

// Result is a converted job.
type Result struct {
	Main      []byte            // arcrawl.toml
	Hosts     map[string][]byte // the file of each host or domain, by its name
	Converted int               // number of settings, rules, seeds and sites that were converted
	Notes     []Note            // everything that was not converted, in the order of the job
}

// Note reports a setting that was not converted, or whose value may be another one.
type Note struct {
	File string // "" = the job, "seeds" = the separate file of seeds, else a file that the job names
	Line int
	What string
	// Harmless says that the setting does not change what is crawled or archived.
	Harmless bool
	// Default says that the setting was converted, with the default of an expression.
	Default bool
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
	Job
	main      *file
	hosts     map[string]*file
	top       *element
	beans     map[string]*element // by id, the last definition as in Spring
	rules     map[*element]bool   // the beans that are rules of the scope
	verdicts  []string            // the scope's rules, in the job's order: the last match decides
	origin    map[string]string   // the setting that each key of the main file is from
	converted int
	notes     []Note
	noted     map[Note]bool
}

// Convert converts a job. An error means that its beans are not a job. A setting without a counterpart is a [Note].
func Convert(from Job) (*Result, error) {
	top, err := parse(from.Beans, "")
	if err != nil {
		return nil, fmt.Errorf("read the job: %w", err)
	}
	j := &job{
		Job: from, top: top, main: new(file), hosts: make(map[string]*file), beans: make(map[string]*element),
		rules: make(map[*element]bool), origin: make(map[string]string), noted: make(map[Note]bool),
	}
	j.include()
	top.all(func(e *element) {
		if e.name == "bean" && e.attrs["id"] != "" {
			j.beans[e.attrs["id"]] = e
		}
	})
	j.findPlaceholders()
	free := j.override()
	j.convertScope()
	for _, bean := range top.children {
		j.bean(bean)
	}
	for _, s := range free {
		j.put(j.main, s, false)
	}
	j.convertSheets()
	j.convertSites(top)
	j.seedList(from.Seeds, place{"seeds", 1})
	return j.result(), nil
}

// result returns what has been converted.
func (j *job) result() *Result {
	for _, rule := range slices.Backward(j.verdicts) { // here the first match decides
		j.main.add("scope.rules", literal(rule))
	}
	j.needOperator()
	j.main.reconcileDelays(j.MaxDelay)
	for _, f := range j.hosts {
		f.reconcileDelays(j.MaxDelay)
	}
	slices.SortStableFunc(j.notes, func(a, b Note) int {
		harm := func(n Note) int { return map[bool]int{true: 1}[n.Harmless] }
		return cmp.Or(harm(a)-harm(b), strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	r := &Result{Main: j.main.text(), Hosts: make(map[string][]byte), Converted: j.converted, Notes: j.notes}
	for name, f := range j.hosts {
		if len(f.keys) > 0 {
			r.Hosts[name] = f.text()
		}
	}
	return r
}

// note notes a setting that is not converted, once.
func (j *job) note(at place, format string, args ...any) {
	j.remember(Note{File: at.file, Line: at.line, What: fmt.Sprintf(format, args...)})
}

// noteDefault notes an expression of which the default is used.
func (j *job) noteDefault(at place, name, expression string) {
	what := fmt.Sprintf("%s: the default of %s is used", name, expression)
	j.remember(Note{File: at.file, Line: at.line, What: what, Default: true})
}

func (j *job) remember(n Note) {
	if !j.noted[n] {
		j.noted[n] = true
		j.notes = append(j.notes, n)
	}
}

// needOperator notes what every configuration needs and this job does not have.
func (j *job) needOperator() {
	at := place{line: 1}
	if bean := j.beans["metadata"]; bean != nil {
		at = bean.place
	}
	for _, needed := range []struct{ of, key string }{
		{"metadata.operator or organization", "operator.name"}, {"metadata.operatorContactUrl", "operator.contact"},
	} {
		if _, known := j.origin[needed.key]; !known {
			j.note(at, "the job has no %s: write %s", needed.of, needed.key)
		}
	}
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

// override applies the job's overrides to its beans and returns those for beans that the job does not contain.
func (j *job) override() []setting {
	var free []setting
	for _, bean := range j.top.children {
		if bean.class() != "PropertyOverrideConfigurer" {
			continue
		}
		for _, s := range overrides(bean) {
			switch {
			case s.path == "":
				j.note(s.place, "%s is not a property", s.value)
			case s.path == "seeds.textSource.value":
				j.seedList(s.value, s.place)
				j.drop("seeds.textSource")
			case s.path == "seeds.textSource.path":
				j.seedFile(s.value, s.place)
				j.drop("seeds.textSource")
			default:
				s.value = strings.TrimSpace(s.value)
				if !j.replace(s) {
					free = slices.DeleteFunc(free, func(old setting) bool { return old.path == s.path })
					free = append(free, s)
				}
			}
		}
	}
	return free
}

// replace sets a property of a bean, or of a bean in a list as in scope.rules[2].maxHops. It reports whether the bean
// exists.
func (j *job) replace(s setting) bool {
	steps := strings.Split(s.path, ".")
	bean := j.beans[steps[0]]
	if bean == nil || len(steps) < 2 {
		return false
	}
	for _, step := range steps[1 : len(steps)-1] {
		name, index, _ := strings.Cut(strings.TrimSuffix(step, "]"), "[")
		n, err := strconv.Atoi(index)
		if bean == nil || err != nil || bean.property(name) == nil {
			return false
		}
		in := j.list(bean.property(name))
		if n < 0 || n >= len(in) {
			return false
		}
		bean = in[n]
	}
	if bean == nil {
		return false
	}
	name := steps[len(steps)-1]
	bean.children = slices.DeleteFunc(bean.children, func(e *element) bool { return e.attrs["name"] == name })
	set := map[string]string{"name": name, "value": s.value}
	bean.children = append(bean.children, &element{name: "property", attrs: set, place: s.place})
	return true
}

// drop removes a property that an override replaces.
func (j *job) drop(path string) {
	id, name, _ := strings.Cut(path, ".")
	if bean := j.beans[id]; bean != nil {
		bean.children = slices.DeleteFunc(bean.children, func(e *element) bool { return e.attrs["name"] == name })
	}
}

// list returns the beans in the list of a property, written there or referred to. An unknown bean is nil.
func (j *job) list(p *element) []*element {
	var in []*element
	if name := p.target(); name != "" && j.beans[name] != nil {
		p = j.beans[name]
	}
	p.all(func(e *element) {
		if e.name != "list" || in != nil {
			return
		}
		for _, c := range e.children {
			if c.name == "ref" {
				c = j.beans[c.target()]
			}
			in = append(in, c)
		}
	})
	return in
}

// bean converts the settings of a bean of the job.
func (j *job) bean(bean *element) {
	class := bean.class()
	switch {
	case bean.name != "bean" || j.rules[bean] || strings.HasSuffix(class, "SheetAssociation"):
		return
	case class == "Sheet" || class == "RssSite" || class == "PropertyOverrideConfigurer":
		return
	}
	name := cmp.Or(bean.attrs["id"], class)
	for _, p := range bean.children {
		s := setting{name + "." + p.attrs["name"], p.value(), p.place}
		switch {
		case p.name != "property" || s.path == "scope.rules":
		case s.path == "seeds.textSource":
			j.seedSource(p)
		case p.isPlain():
			j.put(j.main, s, false)
		default:
			j.loseList(s, p)
		}
	}
}

// loseList notes a property that is not a single value, unless it only connects beans.
func (j *job) loseList(s setting, p *element) {
	beans, values := 0, 0
	p.all(func(e *element) {
		switch {
		case e.name == "bean":
			beans++
		case e.name == "value" || e.name == "entry" && e.attrs["value"] != "":
			values++
		}
	})
	if beans+values > 0 {
		s.value = fmt.Sprintf("(%d beans, %d values)", beans, values)
		j.lose(s)
	}
}

// put converts a setting into a file. host means that it is the file of a host.
func (j *job) put(f *file, s setting, host bool) {
	c, ok := conversions[j.known(s.path)]
	value, expanded, complete := expand(s.value)
	switch {
	case ignored[s.path] || strings.HasPrefix(s.value, "[see override"):
		return
	case !ok:
		j.lose(s)
		return
	case host && !c.host:
		j.note(s.place, "%s = %s: %s can only be set for the whole crawl", s.path, s.value, c.key)
		return
	case !complete:
		j.note(s.place, "%s = %s has no default: write %s", s.path, s.value, c.key)
		return
	case value == "":
		return
	}
	text, err := c.text(value)
	if err != nil {
		j.note(s.place, "%s: %v", s.path, err)
		j.origin[c.key] += "" // it has a note now
		return
	}
	if other := j.origin[c.key]; f == j.main && other != "" && other != s.path {
		if j.main.entry(c.key).value != text {
			j.note(s.place, "%s = %s: %s is used for %s", s.path, s.value, other, c.key)
		}
		return
	}
	if f == j.main {
		j.origin[c.key] = s.path
	}
	if expanded {
		j.noteDefault(s.place, s.path, s.value)
	}
	j.converted++
	f.set(c.key, text)
}

// lose notes a setting without counterpart.
func (j *job) lose(s setting) {
	known := j.known(s.path)
	value, _, _ := expand(s.value)
	if strings.HasSuffix(strings.ToLower(s.path), "password") {
		s.value = "(hidden)"
	}
	if known == "metadata.robotsPolicyName" && (value == "obey" || value == "classic") {
		return
	}
	what := fmt.Sprintf("%s = %s has no counterpart", s.path, s.value)
	j.remember(Note{File: s.file, Line: s.line, What: what, Harmless: isHarmless(known, value)})
}

// known returns the path of a setting under the name that its bean has in the profiles of Heritrix.
func (j *job) known(path string) string {
	id, property, _ := strings.Cut(path, ".")
	class := id
	if bean := j.beans[id]; bean != nil {
		class = bean.class()
	}
	for _, k := range kinds {
		if strings.HasSuffix(class, k.suffix) {
			return k.id + "." + property
		}
	}
	return path
}
