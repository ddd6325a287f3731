package config

import (
	"net/netip"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// WebSub says where hubs reach the crawl to tell of news in feeds. It is off while Callback or Listen is empty.
type WebSub struct {
	// Callback is websub.callback (""): the public address that is given to hubs.
	Callback string
	// Listen is websub.listen (""): where requests to it arrive on this machine.
	Listen string
	// Lease is websub.lease ("10d"): for how long subscriptions are asked for.
	Lease time.Duration
}

// On reports whether hubs are subscribed to.
func (w WebSub) On() bool { return w.Callback != "" && w.Listen != "" }

var websubKeys = []key{
	{
		Key:    Key{Name: "websub.callback", Default: `""`, Scope: inMain, Doc: "Public http(s) address under which hubs reach this crawl, as `https://crawler.library.example/websub`. Empty: feeds are polled and nothing is subscribed to."},
		reader: textOrNothing(webAddress, func(d *draft) *string { return &d.config.WebSub.Callback }),
	},
	{
		Key:    Key{Name: "websub.listen", Default: `""`, Scope: inMain, Doc: "Address and port where the requests to websub.callback arrive, as `127.0.0.1:8472` behind a proxy, or `0.0.0.0:8472`. Empty opens no port."},
		reader: textOrNothing(listenAddress, func(d *draft) *string { return &d.config.WebSub.Listen }),
	},
	{
		Key:    Key{Name: "websub.lease", Default: `"10d"`, Scope: inMain, Doc: "For how long hubs are asked to keep a subscription. It is renewed before its end."},
		reader: duration(time.Hour, 365*day, func(d *draft) *time.Duration { return &d.config.WebSub.Lease }),
	},
}

func webAddress(s string) (problem, remedy string) {
	const example = `write for example "https://crawler.library.example/websub"`
	u, err := uri.Parse(s)
	if err != nil || !strings.Contains(s, "://") || strings.ContainsAny(s, "?#") || u.IsZero() {
		return "is not a web address without a query", example
	}
	return "", ""
}

func listenAddress(s string) (problem, remedy string) {
	if _, err := netip.ParseAddrPort(s); err != nil {
		return "is not an address with a port", `write for example "127.0.0.1:8472"`
	}
	return "", ""
}
