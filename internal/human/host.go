package human

import (
	"strings"

	"golang.org/x/net/idna"
)

// Host returns a host as people read it: an internationalized name in Unicode, and the form of the network behind it.
func Host(h string) string {
	if u := Unicode(h); u != "" {
		return u + " (" + h + ")"
	}
	return h
}

// Unicode returns a host with an internationalized name in Unicode. It returns "" for other hosts, and for names that
// are not valid.
func Unicode(h string) string {
	name, _, _ := strings.Cut(h, ":")
	u, err := idna.Display.ToUnicode(name)
	if err != nil || u == name {
		return ""
	}
	return u + h[len(name):]
}
