package curator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// missingScheme returns the error of a text that does not begin with http:// or https://.
func missingScheme(text string) error {
	example := "https://www.news.example/"
	if u, err := uri.Parse("https://" + strings.TrimLeft(text, "/:")); err == nil {
		example = u.String()
	}
	return fmt.Errorf("%q does not begin with http:// or https://; write for example %s", text, example)
}

// seedsByHost parses seeds and groups them by host. The hosts are in the order of their first URI.
func seedsByHost(args []string) (hosts []uri.Host, seeds map[uri.Host][]string, err error) {
	seeds = make(map[uri.Host][]string)
	for _, arg := range args {
		if !strings.Contains(arg, "://") {
			return nil, nil, missingScheme(arg)
		}
		u, err := uri.Parse(arg)
		if err != nil {
			return nil, nil, fmt.Errorf("%q: %w; write for example https://www.news.example/", arg, err)
		}
		h := u.Host()
		if _, known := seeds[h]; !known {
			hosts = append(hosts, h)
		}
		if !slices.Contains(seeds[h], u.String()) {
			seeds[h] = append(seeds[h], u.String())
		}
	}
	return hosts, seeds, nil
}
