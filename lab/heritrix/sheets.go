package heritrix

import (
	"maps"
	"slices"
	"strings"
)

// convertSheets converts sheets into the files of the hosts and domains that they apply to.
func (j *job) convertSheets() {
	all := sheets(j.top)
	used := make(map[string]bool)
	for _, bean := range j.top.children {
		if !strings.HasSuffix(bean.class(), "SheetAssociation") {
			continue
		}
		var targets []setting
		if p := bean.property("targetSheetNames"); p != nil {
			targets = p.values()
		}
		for _, target := range targets {
			used[target.value] = true
		}
		prefixes := bean.property("surtPrefixes")
		if targets == nil || prefixes == nil {
			j.note(bean.place, "this %s has no SURT prefixes; use a host file with [[when]] instead", bean.class())
			continue
		}
		for _, prefix := range prefixes.values() {
			for _, target := range targets {
				j.sheet(all[target.value], prefix)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !used[name] && len(all[name]) > 0 {
			s := all[name][0]
			what := "the sheet " + name + " applies to no host"
			j.remember(Note{File: s.file, Line: s.line, What: what, Harmless: true})
		}
	}
}

// sheet converts the settings of a sheet for the hosts with a SURT prefix.
func (j *job) sheet(set []setting, prefix setting) {
	name, ok := hostOfSURT(prefix.value)
	for _, s := range set {
		switch {
		case j.known(s.path) == "preselector.blockAll" && s.value == "true":
			j.prefix("reject ", prefix.value, prefix.place)
		case !ok:
			j.note(prefix.place,
				"the prefix %s is neither a host nor a domain; use a [[when]] with a uri in the host file instead", prefix.value)
		default:
			j.put(j.host(name), s, true)
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
