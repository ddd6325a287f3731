package curator

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// playerAddress says where browsers reach a player.
type playerAddress struct {
	Listen string // address with a port; "" = there is no player
	URL    string // address for browsers, if it is not the name of the dashboard with the player's port
	TLS    bool   // the player serves over TLS
	Engine string // folder of the engine
}

// Origin returns the origin of the player for a browser that reached the dashboard under a host name, with or without a
// port. Without one, problem says for people what to do.
func (s playerAddress) Origin(host string) (origin, problem string) {
	at, err := netip.ParseAddrPort(s.Listen)
	switch {
	case s.Listen == "" || err != nil:
		return "", `Versions are not shown as pages: this daemon has no address for them. Set admin.replay_listen, for example to "127.0.0.1:8473", and restart it.`
	case !HasEngine(s.Engine):
		return "", fmt.Sprintf("Versions are not shown as pages: the engine of ReplayWeb.page is not in %s. Install the package arcrawl-replay, or name its folder in admin.replay_assets.", s.Engine)
	case s.URL != "":
		return strings.TrimSuffix(s.URL, "/"), ""
	}
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	local := strings.EqualFold(name, "localhost") || isLoopback(name)
	if at.Addr().IsLoopback() && !local {
		return "", "Versions are not shown as pages: admin.replay_listen is a loopback address, and you reached the dashboard as " + host + ". Set admin.replay_url."
	}
	scheme := "https"
	if !s.TLS {
		scheme = "http"
		if local {
			name = otherName(name)
		}
	}
	return scheme + "://" + net.JoinHostPort(name, fmt.Sprint(at.Port())), ""
}

func isLoopback(name string) bool {
	at, err := netip.ParseAddr(name)
	return err == nil && at.IsLoopback()
}

// otherName returns another name of this machine. Browsers share cookies between the ports of one name: under another
// name, archived pages cannot set cookies for the dashboard.
func otherName(name string) string {
	if strings.EqualFold(name, "localhost") {
		return "127.0.0.1"
	}
	return "localhost"
}

// sharesCookies reports whether browsers send the cookies of a dashboard, which they reached under a host name, also to
// the origin of the player.
func sharesCookies(host, origin string) bool {
	dashboard, err := url.Parse("//" + host)
	player, err2 := url.Parse(origin)
	return err != nil || err2 != nil || strings.EqualFold(dashboard.Hostname(), player.Hostname())
}

// withLinks leads /view/TIMESTAMP/URI to the page of the version. The address has a whole URI, so it must not be
// cleaned as [http.ServeMux] does.
func withLinks(next http.Handler) http.Handler {
	return http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		rest, ok := strings.CutPrefix(from.URL.RequestURI(), "/view/")
		at, address, _ := strings.Cut(rest, "/")
		if !ok || from.Method != http.MethodGet {
			next.ServeHTTP(to, from)
			return
		}
		http.Redirect(to, from, "/#/view?u="+url.QueryEscape(address)+"&at="+url.QueryEscape(at), http.StatusSeeOther)
	})
}
