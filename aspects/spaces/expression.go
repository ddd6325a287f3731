package spaces

import (
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// parameterPattern returns the expression that finds the URIs of a host and port with a parameter.
func parameterPattern(authority, parameter string) string {
	begin := "^https?://" + quote(authority)
	if name, ok := strings.CutPrefix(parameter, ";"); ok {
		return "^(" + begin[1:] + "/[^?]*);" + quote(name) + "=[^/?]*"
	}
	return begin + `/[^?]*\?(?:.*&)?` + quote(parameter) + "=[^&]*"
}

// spacePattern returns the expression that finds the URIs of a path with certain names of parameters, as [Trap].Space
// has them, on a host and port.
func spacePattern(authority, space string) string {
	path, names, _ := strings.Cut(space, "?")
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if parts[i] = quote(part); part == "*" {
			parts[i] = "[^/?]+"
		}
	}
	list := strings.Split(names, "&")
	for i := range list {
		list[i] = quote(list[i])
	}
	one := "(?:" + strings.Join(slices.Compact(list), "|") + ")(?:=[^&]*)?"
	return "^https?://" + quote(authority) + strings.Join(parts, "/") + `\?` + one + "(?:&" + one + ")*$"
}

// spacePatternOfHost returns [spacePattern] for a host and all of its ports.
func spacePatternOfHost(h uri.Host, space string) string {
	return strings.Replace(spacePattern(string(h), space), quote(string(h)), quote(string(h))+"(?::[0-9]+)?", 1)
}
