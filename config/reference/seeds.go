package reference

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// SeedsByHost parses seeds and groups them by host. The hosts are in the order of their first URI.
func SeedsByHost(args []string) (hosts []uri.Host, seeds map[uri.Host][]string, err error) {
	seeds = make(map[uri.Host][]string)
	for _, arg := range args {
		u, err := uri.Parse(arg)
		if err == nil && !strings.Contains(arg, "://") {
			err = errors.New("not a complete URI")
		}
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
