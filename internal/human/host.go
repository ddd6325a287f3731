package human

import (
	"net/url"
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

// URI returns a URI as people read it: if its host is internationalized, with the host in Unicode behind it.
func URI(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	if name := Unicode(u.Host); name != "" {
		return text + " (" + name + ")"
	}
	return text
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
