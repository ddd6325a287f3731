// This file holds the settings of how a running daemon is reached, and how it reaches people: the tables
// "admin" and "mail".

package config

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"net/mail"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/arcrawl/arcrawl/config/schema"
)

// remote says whether admin.listen may be reached from other machines.
type remote string

// The values of admin.remote.
const (
	Off       remote = "off"
	RemoteTLS remote = "tls"
	Plain     remote = "plain"
)

// userRole is the role of users whom only a proxy names.
type userRole string

// The values of admin.user_role.
const (
	NoRole      userRole = "none"
	RoleRead    userRole = "read"
	roleCurate  userRole = "curate"
	roleOperate userRole = "operate"
)

// Reach says how a running daemon is reached.
type Reach struct {
	Instance  string   // name of this crawl among others; "" = the institution
	Socket    string   // unix socket, absolute; "" = switched off
	Listen    string   // address that serves clients with a token; "" = none
	Remote    remote   // whether Listen may be reached from other machines
	Names     []string // host names under which clients may reach Listen, besides localhost
	TLSCert   string   // file with the certificate chain, absolute
	TLSKey    string   // file with its key, absolute
	TokenFile string   // file with the tokens, absolute; the daemon creates it if it does not exist
	UserFile  string   // file with the named users, absolute; it need not exist
	Git       bool     // changes in the dashboard are committed
	URL       string   // address of the dashboard for links in alarms; "" = none
	Webhook   string   // address that receives alarms as JSON by POST; "" = none

	TrustedProxies []string // addresses and networks whose headers about clients are believed
	UserHeader     string   // header in which they name the user; "" = none
	UserRole       userRole // of users whom they name and UserFile does not

	ReplayListen string // address that serves archived versions; "" = none
	ReplayURL    string // address of it for browsers; "" = it follows from the name of the dashboard
	ReplayAssets string // folder of the engine that shows them, absolute
}

// noSocket is the value of admin.socket that switches the socket off.
const noSocket = "off"

// replayAssets is the folder of the package arcrawl-replay.
const replayAssets = "/usr/share/arcrawl-replay"

// Resolve fills the values that follow from other keys. absolute makes a path of the main file absolute.
func (a *Reach) Resolve(state string, absolute func(string) string) {
	switch a.Socket {
	case "":
		a.Socket = filepath.Join(state, "admin.sock")
	case noSocket:
		a.Socket = ""
	default:
		a.Socket = absolute(a.Socket)
	}
	for name, path := range map[string]*string{"admin.token": &a.TokenFile, "admin.users": &a.UserFile} {
		if *path == "" {
			*path = filepath.Join(state, name)
		} else {
			*path = absolute(*path)
		}
	}
	for _, path := range []*string{&a.TLSCert, &a.TLSKey} {
		if *path != "" {
			*path = absolute(*path)
		}
	}
	a.Listen, a.ReplayListen = withoutLocalhost(a.Listen), withoutLocalhost(a.ReplayListen)
	if a.ReplayAssets == "" {
		a.ReplayAssets = replayAssets
	} else {
		a.ReplayAssets = absolute(a.ReplayAssets)
	}
	if a.URL == "" && a.Listen != "" {
		a.URL = a.scheme() + "://" + a.Listen + "/"
	}
}

func (a *Reach) scheme() string {
	if a.Remote == RemoteTLS {
		return "https"
	}
	return "http"
}

// Check reports contradictions between the keys. fault adds a fault of a key.
func (a *Reach) Check(fault func(key, problem, remedy string)) {
	for key, address := range map[string]string{"admin.listen": a.Listen, "admin.replay_listen": a.ReplayListen} {
		at, err := netip.ParseAddrPort(withoutLocalhost(address))
		if err != nil || at.Addr().IsLoopback() || a.Remote != Off {
			continue // none, or a fault that was reported before
		}
		fault(key, "is reachable from other machines, which admin.remote does not allow",
			`write a loopback address such as "127.0.0.1:8471" and use "ssh -L"; or set admin.remote = "tls" with admin.tls_cert `+
				`and admin.tls_key; or "plain" inside a container or behind a proxy that encrypts`)
	}
	if a.Listen != "" && a.Listen == a.ReplayListen && !strings.HasSuffix(a.Listen, ":0") { // port 0 is any free port
		fault("admin.replay_listen", "is the address of the dashboard, which archived pages could then reach",
			"write another port")
	}
	a.checkReplay(fault)
	a.checkProxies(fault)
	if a.Remote != RemoteTLS || a.Listen == "" && a.ReplayListen == "" {
		return
	}
	for _, k := range []struct{ key, path string }{{"admin.tls_cert", a.TLSCert}, {"admin.tls_key", a.TLSKey}} {
		if k.path == "" {
			fault(k.key, `is missing, but admin.remote is "tls"`, "name a file in PEM format")
			return
		}
	}
	// Somebody who edits the configuration need not be able to read the key.
	if _, err := tls.LoadX509KeyPair(a.TLSCert, a.TLSKey); err != nil && !errors.Is(err, fs.ErrPermission) {
		fault("admin.tls_cert", "cannot be used with admin.tls_key: "+err.Error(),
			"name a certificate and its key in PEM format")
	}
}

// Cluster says which node this process is, and which database the nodes of its crawl share.
type Cluster struct {
	Database string // connection string of PostgreSQL; "" = no cluster
	Node     string // name of this node
	Single   bool   // the database has no replica on purpose
	Listen   string // address at which this node answers the others; "" = none
	Insecure bool   // the connection to a database on another machine need not be encrypted and verified
}

// isExposed reports whether the connection to the database leaves this machine, and its address does not ask for
// encryption to a server whose certificate is verified.
func (c Cluster) isExposed() bool {
	_, rest, _ := strings.Cut(c.Database, "://")
	rest, query, _ := strings.Cut(rest, "?")
	servers, _, _ := strings.Cut(rest, "/")
	if _, after, named := strings.Cut(servers, "@"); named {
		servers = after
	}
	options, err := url.ParseQuery(query)
	if err != nil {
		return true
	}
	for _, other := range []string{"host", "hostaddr"} { // they replace the servers before the path
		if options.Has(other) {
			servers += "," + options.Get(other)
		}
	}
	return options.Get("sslmode") != "verify-full" && !allHere(servers)
}

// allHere reports whether all servers in a list, with or without ports, are on this machine.
func allHere(servers string) bool {
	for server := range strings.SplitSeq(servers, ",") {
		host, err := url.PathUnescape(server)
		if at, err := netip.ParseAddrPort(host); err == nil {
			host = at.Addr().String()
		} else if name, port, ok := strings.Cut(host, ":"); ok && strings.Trim(port, "0123456789") == "" {
			host = name
		}
		ip, bad := netip.ParseAddr(strings.Trim(host, "[]"))
		local := host == "" || host == "localhost" || strings.HasPrefix(host, "/") || bad == nil && ip.IsLoopback()
		if err != nil || !local {
			return false
		}
	}
	return true
}

// checkDatabase accepts the address of a database, which may name several servers, without a password. The password has
// a file of its own.
func checkDatabase(s string) (problem, remedy string) {
	scheme, rest, _ := strings.Cut(s, "://")
	servers, _, _ := strings.Cut(rest, "/")
	user, servers, named := strings.Cut(servers, "@")
	if !named {
		user, servers = "", user
	}
	switch {
	case scheme != "postgres" && scheme != "postgresql", servers == "", strings.ContainsFunc(s, unicode.IsControl):
		return "is not the address of a PostgreSQL database",
			`write for example "postgres://arcrawl@db.library.example/arcrawl?sslmode=verify-full"`
	case strings.Contains(user, ":"), strings.Contains(rest, "password="):
		return "contains a password",
			"write it to the file ~/.pgpass of the daemon's user, or to the file that PGPASSFILE names"
	}
	return "", ""
}

// Check reports contradictions between the keys. fault adds a fault of a key.
func (c Cluster) Check(fault func(key, problem, remedy string)) {
	if c.Database != "" && c.Node == "" {
		fault("cluster.node", "is missing, but cluster.database is set", "write a name that no other node has")
	}
	if c.isExposed() && !c.Insecure {
		fault("cluster.database",
			"lets the server on another machine be reached without encryption, or without a check that it is the right one",
			"add ?sslmode=verify-full, or set cluster.insecure_database = true in a network that you trust")
	}
	if at, err := netip.ParseAddrPort(withoutLocalhost(c.Listen)); err == nil && at.Addr().IsUnspecified() {
		fault("cluster.listen", "is no address at which other nodes can reach this one",
			`write the address of this machine in the network of the nodes, as "10.0.0.5:8475"`)
	}
}

// Mail says how alarms and digests are sent by e-mail.
type Mail struct {
	Server       string   // host and port of the mail server; "" = no mail
	Security     Security // of the connection
	User         string   // for the server; "" = no password is sent
	PasswordFile string   // absolute
	From         string   // sender
	To           []string // recipients, each "address" or "label=address", and optionally the day of the digest
	Alarms       bool     // send each alarm at once
	Digest       string   // time of day in UTC of the digests, "07:00"; "" = none
}

// Security says how the connection to a mail server is protected.
type Security string

// The values of mail.security.
const (
	StartTLS Security = "starttls"
	Implicit Security = "tls"
	None     Security = "none"
)

// Recipient is somebody who receives alarms and digests.
type Recipient struct {
	Label   string // label, collection or owner of the hosts whose alarms are sent; "" = all
	Address string
	Weekly  bool         // the digest comes once a week, on Weekday; else each day
	Weekday time.Weekday // of a weekly digest
}

// takeDay takes the day of the digest from the end of the address, if there is one.
func (r *Recipient) takeDay() {
	address, word, ok := strings.Cut(r.Address, " ")
	if word = strings.TrimSpace(word); !ok {
		return
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.EqualFold(word, day.String()) {
			r.Address, r.Weekly, r.Weekday = address, true, day
		}
	}
	if strings.EqualFold(word, "daily") {
		r.Address = address
	}
}

// Recipients returns the recipients.
func (m Mail) Recipients() []Recipient {
	out := make([]Recipient, len(m.To))
	for i, text := range m.To {
		label, address, ok := strings.Cut(text, "=")
		if !ok {
			label, address = "", text
		}
		out[i] = Recipient{Label: strings.TrimSpace(label), Address: strings.TrimSpace(address)}
		out[i].takeDay()
	}
	return out
}

// Resolve makes the path of the password absolute.
func (m *Mail) Resolve(absolute func(string) string) {
	if m.PasswordFile != "" {
		m.PasswordFile = absolute(m.PasswordFile)
	}
}

// Check reports contradictions between the keys. fault adds a fault of a key. With subscriptions, nobody else need get
// mail.
func (m *Mail) Check(fault func(key, problem, remedy string), subscriptions bool) {
	switch {
	case m.Server == "":
		return
	case m.From == "":
		fault("mail.from", "is missing, but mail.server is set", `write for example "arcrawl@library.example"`)
	case len(m.To) == 0 && !subscriptions:
		fault("mail.to", "is empty, but mail.server is set", `write for example ["crawler@library.example"]`)
	case m.User != "" && m.PasswordFile == "":
		fault("mail.password_file", "is missing, but mail.user is set", "name a file that contains only the password")
	case m.User != "" && m.Security == None && !loopback(m.Server):
		fault("mail.security", "would send the password without encryption", `write "starttls" or "tls"`)
	}
}

func loopback(server string) bool {
	at, err := netip.ParseAddrPort(withoutLocalhost(server))
	return err == nil && at.Addr().IsLoopback()
}

// The checks of texts about which there is one thing to say.
var (
	// checkListen accepts an IP address with a port. It accepts "localhost" as its host.
	checkListen = schema.Accept(func(s string) bool {
		_, err := netip.ParseAddrPort(withoutLocalhost(s))
		return err == nil
	}, "is not an address with a port", `write for example "127.0.0.1:8471" or "[::1]:8471"`)
	// checkServer accepts a host name or IP address with a port.
	checkServer = schema.Accept(func(s string) bool {
		if strings.HasPrefix(s, "[") {
			_, err := netip.ParseAddrPort(s)
			return err == nil
		}
		host, port, _ := strings.Cut(s, ":")
		return host != "" && port != "" && strings.Trim(port, "0123456789") == ""
	}, "is not a host with a port", `write for example "smtp.library.example:587"`)
	// checkMailAddress accepts a plain e-mail address.
	checkMailAddress = schema.Accept(func(s string) bool {
		a, err := mail.ParseAddress(s)
		return err == nil && a.Address == s
	}, "is not an e-mail address", `write for example "arcrawl@library.example"`)
	// checkInstance accepts the name of an instance, which is a label of every metric.
	checkInstance = schema.Accept(func(s string) bool {
		return len(s) <= 64 && strings.TrimSpace(s) == s && !strings.ContainsFunc(s, unicode.IsControl)
	}, "is not a name for an instance", `write a short name, such as "press"; maximum: 64 bytes`)
	// checkName accepts a host name.
	checkName = schema.Match(`^[A-Za-z0-9.-]+$`,
		"is not a host name", `write for example "crawler.library.example", without port`)
	// checkToken accepts what can be the name of a header.
	checkToken = schema.Match(`^[A-Za-z0-9-]{1,64}$`,
		"is not the name of a header", `write for example "X-Remote-User"; nginx drops names with _`)
	// checkTime accepts a time of day.
	checkTime = schema.Accept(func(s string) bool {
		_, err := time.Parse("15:04", s)
		return err == nil
	}, "is not a time of day", `write for example "07:00"`)
)

// checkRecipient accepts "address" or "label=address", and the day of the digest behind it: "daily" or "monday".
func checkRecipient(s string) (problem, remedy string) {
	r := Mail{To: []string{s}}.Recipients()[0]
	_, bad := checkMailAddress(r.Address)
	labelled := strings.Contains(s, "=")
	if problem, _ := CheckName(r.Label); bad != "" || labelled && problem != "" {
		return "is not an e-mail address, or a label with one",
			`write for example "crawler@library.example", "newspapers=press@library.example", or ` +
				`"newspapers=press@library.example monday" for a digest once a week`
	}
	return "", ""
}

// withoutLocalhost returns an address with the name localhost replaced by its IP address.
func withoutLocalhost(s string) string { return strings.Replace(s, "localhost:", "127.0.0.1:", 1) }

// webSub says how hubs notify the crawl of new entries in feeds.
type webSub struct {
	Callback string        // public address that is given to hubs; "" = off
	Listen   string        // address and port that receive requests to Callback; "" = off
	Lease    time.Duration // duration of the subscriptions that are requested from hubs
	AnyHub   bool          // subscribe also to hubs with http, and at any port
}

// On reports whether hubs are subscribed to.
func (w webSub) On() bool { return w.Callback != "" && w.Listen != "" }

// checkReplay reports that other machines reach archived pages under a host name of the dashboard. Browsers share the
// cookies of a host between its ports. Without admin.replay_url the names are the same too, and no scripts run.
func (a *Reach) checkReplay(fault func(key, problem, remedy string)) {
	replay, err := url.Parse(a.ReplayURL)
	if err != nil || a.Remote != RemoteTLS || a.ReplayListen == "" || a.ReplayURL == "" {
		return
	}
	names := slices.Clone(a.Names)
	if own, err := url.Parse(a.URL); err == nil {
		names = append(names, own.Hostname())
	}
	if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, replay.Hostname()) }) {
		fault("admin.replay_url", "has the host name of the dashboard, so that archived pages would share its cookies",
			`write another name of this machine that the certificate has, as "https://replay.library.example:8473/", and leave `+
				`it out of admin.names`)
	}
}

// checkProxies reports contradictions between the keys about reverse proxies.
func (a *Reach) checkProxies(fault func(key, problem, remedy string)) {
	switch {
	case a.UserHeader != "" && len(a.TrustedProxies) == 0:
		fault("admin.user_header", "has no effect without admin.trusted_proxies",
			`name the address of the proxy, for example ["127.0.0.1"]`)
	case a.UserRole != NoRole && a.UserHeader == "":
		fault("admin.user_role", "has no effect without admin.user_header", `write for example user_header = "X-Remote-User"`)
	}
}

// ParseProxy parses an address or a network of addresses.
func ParseProxy(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
	}
	n, err := netip.ParsePrefix(text)
	return n.Masked(), err
}

// checkProxy checks an address or network in admin.trusted_proxies.
func checkProxy(text string) (problem, remedy string) {
	n, err := ParseProxy(text)
	if err != nil {
		return "is not an IP address or a network", `write for example "127.0.0.1" or "10.1.2.0/28"`
	}
	if n.Bits() == 0 {
		return "trusts every client to say who it is", "name the addresses of the proxies"
	}
	return "", ""
}

// checkHeader checks the name of the header in which a proxy names the user.
func checkHeader(name string) (problem, remedy string) {
	switch strings.ToLower(name) {
	case "authorization", "cookie", "host", "origin", "x-forwarded-for", "x-forwarded-proto":
		return "has another meaning", `write a header that only the proxy sets, for example "X-Remote-User"`
	}
	return checkToken(name)
}
