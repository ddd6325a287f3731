package curator

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// errByHandRename says that a host cannot be replaced safely in a file, so that a person must do it.
var errByHandRename = errors.New("cannot replace the host in the file safely; copy the file and edit it by hand")

// replaceHost returns the text of a host file with another host: in the key host and in each seed on the old host, also
// where another setting repeats the seed. named says that the name of the new file is enough to know the host, so that
// the key host is not added.
func replaceHost(text []byte, from, to uri.Host, named bool) ([]byte, error) {
	e, err := schema.Edit(text, "rename")
	if err != nil {
		return nil, err
	}
	key := schema.Path("").Child("host")
	line := "host = " + schema.TOML(string(to)) + "\n"
	switch {
	case e.Before.Has(key):
		e.Lines[e.Line(key)] = line
	case !named:
		e.Lines = slices.Insert(e.Lines, 0, line)
	}
	seeds := schema.ListedTexts(e.Before.Value(seedsKey))
	edited := strings.Join(e.Lines, "")
	for i, seed := range seeds {
		moved, ok := onHost(seed, from, to)
		if !ok {
			continue
		}
		found := false
		for _, quote := range []func(string) string{func(s string) string { return schema.TOML(s) }, schema.Literal} {
			if strings.Contains(edited, quote(seed)) {
				edited, found = strings.ReplaceAll(edited, quote(seed), quote(moved)), true
			}
		}
		if !found {
			return nil, errByHandRename
		}
		seeds[i] = moved
	}
	after := schema.Parse([]byte(edited), "the file")
	wrongHost := after.Has(key) && after.Value(key) != string(to)
	if len(after.Faults) > 0 || wrongHost || !slices.Equal(schema.ListedTexts(after.Value(seedsKey)), seeds) {
		return nil, errByHandRename
	}
	return []byte(edited), nil
}

// onHost returns a seed on another host. It reports whether the seed was on the first one.
func onHost(seed string, from, to uri.Host) (string, bool) {
	u, err := uri.Parse(seed)
	if err != nil || u.Host() != from {
		return seed, false
	}
	parts, err := url.Parse(seed)
	if err != nil || parts.Host == "" {
		return seed, false
	}
	return strings.Replace(seed, parts.Host, string(to), 1), true
}
