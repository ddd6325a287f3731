package heritrix

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// maxImports bounds the files that a job imports.
const maxImports = 100

// include replaces the imports of a job by the beans of the imported files.
func (j *job) include() {
	done := make(map[string]bool)
	var expanded func(of []*element) []*element
	expanded = func(of []*element) []*element {
		var out []*element
		for _, e := range of {
			if e.name != "import" {
				out = append(out, e)
				continue
			}
			resource := e.attrs["resource"]
			name, _, _ := expand(resource)
			if done[name] {
				continue
			}
			done[name] = true
			text, err := j.read(name)
			if err == nil && len(done) > maxImports {
				err = errors.New("the job imports too many files")
			}
			var in *element
			if err == nil {
				in, err = parse(text, name)
			}
			if err != nil {
				j.note(e.place, "the import of %s is not converted: %v", resource, err)
				continue
			}
			if name != resource {
				j.noteDefault(e.place, "import", resource)
			}
			out = append(out, expanded(in.children)...)
		}
		return out
	}
	j.top.children = expanded(j.top.children)
}

// read reads a file that the job names.
func (j *job) read(name string) ([]byte, error) {
	if j.Read == nil {
		return nil, errors.New("no files are next to the job")
	}
	return j.Read(strings.TrimPrefix(strings.TrimPrefix(name, "classpath:"), "file:"))
}

// findPlaceholders notes text between beans: another program puts beans there before Heritrix reads the job.
func (j *job) findPlaceholders() {
	j.top.all(func(e *element) {
		switch e.name {
		case "beans", "bean", "property", "list", "map", "set", "props":
			if text := strings.Join(strings.Fields(e.text), " "); text != "" {
				j.note(e.place, "the text %s in <%s> is not a setting; if another program replaces it, convert its result", text, e.name)
			}
		}
	})
}

// seedSource converts the seeds that the bean of the seeds contains or names.
func (j *job) seedSource(p *element) {
	p.all(func(e *element) {
		switch {
		case e.name != "property":
		case e.attrs["name"] == "path":
			j.seedFile(e.value(), e.place)
		case e.attrs["name"] == "value" && e.attrs["value"] != "":
			j.seedList(e.attrs["value"], e.place)
		case e.attrs["name"] == "value":
			for _, c := range e.children {
				j.seedList(c.text, c.place)
			}
		}
	})
}

// seedFile converts the seeds in a file that the job names, unless a file of seeds was given.
func (j *job) seedFile(written string, at place) {
	if j.Seeds != "" {
		return
	}
	name, _, complete := expand(written)
	if !complete {
		j.note(at, "the seeds are in %s, which is not known here: give the file with --seeds", written)
		return
	}
	text, err := j.read(name)
	if err != nil {
		j.note(at, "the seeds in %s are not converted: %v; give the file with --seeds", name, err)
		return
	}
	j.seedList(string(text), place{name, 1})
}

// seedList converts a list of seeds that begins at a place.
func (j *job) seedList(text string, at place) {
	for line := range strings.SplitSeq(text, "\n") {
		j.seed(line, at)
		at.line++
	}
}

// seed converts one line of a list of seeds into the file of its host.
func (j *job) seed(text string, at place) {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasPrefix(text, "#") {
		return
	}
	if verb := map[byte]string{'+': "accept ", '-': "reject "}[text[0]]; verb != "" {
		j.prefix(verb, text, at)
		return
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	host, ok := hostOf(text)
	if !ok {
		j.note(at, "%s is not a seed: want http:// or https:// and a host", text)
		return
	}
	j.converted++
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
