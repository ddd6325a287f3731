package alarm

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
)

// ProxyTroubles returns the troubles of proxies that do not work.
func ProxyTroubles(down []crawler.ProxyDown) []Trouble {
	all := make([]Trouble, 0, len(down))
	for _, d := range down {
		all = append(all, Trouble{Kind: Proxy, About: d.Name, Text: fmt.Sprintf(
			"the proxy %s has not worked since %s; the hosts behind it rest and lose nothing; the reason is: %s",
			d.Name, d.Since.UTC().Format(time.RFC3339), d.Why,
		)})
	}
	return all
}
