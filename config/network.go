// This file holds the settings of how connections to a host are made: the table "network", and a part of "tls".
//
// The main file names proxies; a host file chooses one of them. So a curator cannot make the daemon connect to a server
// that no operator has named.

package config

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/fetch"
)

// NetworkSettings say how connections to a host are made.
type NetworkSettings struct {
	Proxies []fetch.Proxy       // of the main file
	Proxy   string              // name of one of them; "" = none
	Sources []netip.Addr        // local addresses
	Family  fetch.Family        // of the addresses of hosts
	Servers []netip.AddrPort    // of DNS; nil = the servers of the system
	MinTLS  version             // oldest accepted version of TLS
	Roots   []*x509.Certificate // accepted in addition to the roots of the system
}

// version is a version of TLS, as "1.2".
type version string

// defaultVersion is the oldest version of TLS that is accepted unless a file says otherwise.
const defaultVersion version = "1.2"

// versions returns the versions of TLS, the oldest first.
func versions() []version { return []version{"1.0", "1.1", defaultVersion, "1.3"} }

// number returns the version as TLS numbers it; 0 for [defaultVersion].
func (v version) number() uint16 {
	if i := slices.Index(versions(), v); i >= 0 && v != defaultVersion {
		return tls.VersionTLS10 + uint16(i)
	}
	return 0
}

// families returns the values of network.ip.
func families() []fetch.Family {
	return []fetch.Family{fetch.AnyFamily, fetch.PreferIPv4, fetch.PreferIPv6, fetch.OnlyIPv4, fetch.OnlyIPv6}
}

// Way returns how connections are made: usual if that is the same way, nil if nothing is unusual.
func (s *NetworkSettings) Way(usual *fetch.Way) *fetch.Way {
	o := fetch.WayOptions{
		Sources: s.Sources, Family: s.Family, Servers: s.Servers, MinTLS: s.MinTLS.number(), Roots: s.Roots,
	}
	if i := s.find(); i >= 0 {
		o.Proxy = s.Proxies[i]
	}
	w := fetch.NewWay(o)
	if w.Same(usual) {
		return usual
	}
	return w
}

// find returns the index of the proxy, -1 if there is none.
func (s *NetworkSettings) find() int {
	if s.Proxy == "" {
		return -1
	}
	return slices.IndexFunc(s.Proxies, func(p fetch.Proxy) bool { return p.Name == s.Proxy })
}

// Check reports a proxy that the main file does not name, if a file, or the refinement at path, chooses it.
func (s *NetworkSettings) Check(doc *schema.Document, path schema.Path) {
	f, set := doc.Setting(path, "network.proxy")
	if s.Proxy == "" || s.find() >= 0 || !set {
		return
	}
	var names []string
	for _, p := range s.Proxies {
		names = append(names, strconv.Quote(p.Name))
	}
	remedy := "the main file names no proxy; add it to network.proxies there"
	if len(names) > 0 {
		remedy = "the main file names " + strings.Join(names, ", ")
	}
	f.Fault("is not the name of a proxy", remedy)
}

// maxProxies bounds the proxies, maxSmall the other lists.
const (
	maxProxies = 100
	maxSmall   = 20
	maxName    = 40
	maxUser    = 255 // RFC 1929
)

const proxiesExample = `write for example [{ name = "office", address = "socks5://10.0.0.1:1080" }]`

// credentials reads the place of a user name and a password, and returns them.
type credentials func(f schema.Field) (userAndPassword string, ok bool)

// readProxies reads a list of proxies. The files of root certificates that it names are relative to folder.
func readProxies(f schema.Field, folder string, read credentials) (all []fetch.Proxy) {
	tables, ok := f.Tables(proxiesExample)
	if !ok {
		return nil
	}
	for _, table := range tables {
		p, ok := readProxy(table, folder, read)
		if !ok {
			continue
		}
		if slices.ContainsFunc(all, func(o fetch.Proxy) bool { return o.Name == p.Name }) {
			table.Fault("is the second proxy with the name "+strconv.Quote(p.Name), "choose another name")
			continue
		}
		all = append(all, p)
	}
	if len(all) > maxProxies {
		f.Fault("has too many proxies", fmt.Sprintf("maximum: %d", maxProxies))
		return nil
	}
	return all
}

// readProxy reads one proxy.
func readProxy(table schema.Field, folder string, read credentials) (p fetch.Proxy, ok bool) {
	m, _ := table.Value.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains([]string{"name", "address", "secret", "roots"}, key) {
			problem := "has an unknown key " + schema.Clip(strconv.Quote(key))
			table.Child(key, m[key]).HiddenFault(problem, "the keys are name, address, secret and roots")
			return p, false
		}
	}
	name, address := table.Child("name", m["name"]), table.Child("address", m["address"])
	if m["name"] == nil || m["address"] == nil {
		table.Fault("lacks name or address", proxiesExample)
		return p, false
	}
	if p.Name, ok = name.Text(`for example "office"`); !ok {
		return p, false
	}
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}
	if p.Name == "" || len(p.Name) > maxName || strings.ContainsFunc(p.Name, odd) {
		name.Fault("is not a name for a proxy", fmt.Sprintf("write up to %d letters, digits, hyphens and dots", maxName))
		return p, false
	}
	text, ok := address.Text(`for example "http://proxy.library.example:3128"`)
	if !ok {
		return p, false
	}
	var problem, remedy string
	if p.Scheme, p.Address, problem, remedy = parseAddress(text); problem != "" {
		address.HiddenFault(problem, remedy)
		return p, false
	}
	if p.Roots, ok = readProxyRoots(table, m, p.Scheme, folder); !ok {
		return p, false
	}
	secret, has := m["secret"]
	if !has {
		return p, true
	}
	place := table.Child("secret", secret)
	both, ok := read(place)
	if p.User, p.Password, _ = strings.Cut(both, ":"); len(p.User) > maxUser || len(p.Password) > maxUser {
		place.Fault("names a user or a password that is too long", fmt.Sprintf("maximum: %d bytes", maxUser))
		return p, false
	}
	return p, ok
}

// readProxyRoots reads the root certificates of a proxy.
func readProxyRoots(
	table schema.Field, m map[string]any, scheme, folder string,
) (all []*x509.Certificate, ok bool) {
	roots, has := m["roots"]
	if !has {
		return nil, true
	}
	f := table.Child("roots", roots)
	text, ok := f.Text("of a certificate in PEM format, or the name of a file of them")
	if !ok {
		return nil, false
	}
	if scheme != fetch.HTTPSProxy {
		f.HiddenFault("is for proxies whose address begins with https://", "remove roots, or write https:// if the proxy knows TLS")
		return nil, false
	}
	return readRoot(f, text, folder)
}

// parseAddress returns the parts of the address of a proxy.
func parseAddress(text string) (scheme, address, problem, remedy string) {
	scheme, address, _ = strings.Cut(text, "://")
	address = strings.TrimSuffix(address, "/")
	const example = `write for example "http://proxy.library.example:3128" or "socks5://10.0.0.1:1080"`
	switch {
	case scheme != fetch.HTTPProxy && scheme != fetch.HTTPSProxy && scheme != fetch.SOCKS5Proxy:
		return "", "", "is not the address of a proxy", example
	case strings.Contains(address, "@"):
		return "", "", "contains credentials", "remove them, and name the place of USER:PASSWORD in the key secret"
	}
	i := strings.LastIndexByte(address, ':')
	port, err := strconv.ParseUint(address[i+1:], 10, 16)
	if i <= 0 || err != nil || port == 0 || strings.ContainsAny(address, "/?# ") {
		return "", "", "is not a host and a port", example
	}
	if host := address[:i]; strings.Contains(host, ":") {
		if _, err := netip.ParseAddrPort(address); err != nil {
			return "", "", "is not a host and a port", example
		}
	}
	return scheme, address, "", ""
}

// readSources reads a list of local addresses.
func readSources(f schema.Field) (all []netip.Addr) {
	const example = `for example "192.0.2.7", and perhaps an IPv6 address`
	f.Texts(example, func(e schema.Field, s string) {
		a, err := netip.ParseAddr(s)
		if err != nil || a.IsMulticast() || a.IsUnspecified() {
			e.Fault("is not an address of this machine", "write "+example)
			return
		}
		a = a.Unmap()
		if slices.ContainsFunc(all, func(o netip.Addr) bool { return o.Is4() == a.Is4() }) {
			e.Fault("is the second address of its family", "keep one IPv4 address and one IPv6 address")
			return
		}
		all = append(all, a)
	})
	return all
}

// dnsPort is the port of DNS servers that are written without one.
const dnsPort = 53

// readServers reads a list of DNS servers.
func readServers(f schema.Field) (all []netip.AddrPort) {
	const example = `for example "192.0.2.53" or "[2001:db8::53]:5353"`
	f.Texts(example, func(e schema.Field, s string) {
		at, err := netip.ParseAddrPort(s)
		if err != nil {
			var a netip.Addr
			if a, err = netip.ParseAddr(s); err == nil {
				at = netip.AddrPortFrom(a, dnsPort)
			}
		}
		if err != nil || at.Port() == 0 {
			e.Fault("is not the address of a DNS server", "write "+example)
			return
		}
		all = append(all, at)
	})
	if len(all) > maxSmall {
		f.Fault("has too many servers", fmt.Sprintf("maximum: %d", maxSmall))
		return nil
	}
	return all
}

// maxPEM is the maximum size of a file of root certificates.
const maxPEM = 1 << 20

// readRoots reads a list of root certificates in PEM format. An element may name a file, relative to folder. folder is
// "" if the file may not name files, as a host file.
func readRoots(f schema.Field, folder string) (all []*x509.Certificate) {
	f.Texts("of certificates in PEM format", func(e schema.Field, s string) {
		found, _ := readRoot(e, s, folder)
		all = append(all, found...)
	})
	if len(all) > maxSmall {
		f.HiddenFault("has too many certificates", fmt.Sprintf("maximum: %d", maxSmall))
		return nil
	}
	return all
}

// readRoot reads root certificates from a text in PEM format, or from the file that it names.
func readRoot(f schema.Field, s, folder string) (found []*x509.Certificate, ok bool) {
	const begin = "-----BEGIN "
	data := []byte(s)
	if !strings.HasPrefix(strings.TrimSpace(s), begin) {
		if folder == "" {
			f.HiddenFault("is not a certificate in PEM format",
				`write its text between triple quotes, from "`+begin+`CERTIFICATE-----" on; only the main file may name files`)
			return nil, false
		}
		var problem, remedy string
		if data, problem, remedy = readRootFile(folder, s, f.Doc.Staged); problem != "" {
			f.Fault(problem, remedy)
			return nil, false
		}
		if data == nil {
			return nil, true
		}
	}
	found, err := parseRoots(data)
	if err != nil {
		f.HiddenFault("has no valid certificate: "+err.Error(), "write certificates in PEM format, without private keys")
		return nil, false
	}
	return found, true
}

// readRootFile reads a file of certificates. It reads nothing for a text that is only proposed.
func readRootFile(folder, name string, staged bool) (data []byte, problem, remedy string) {
	if staged {
		return nil, "", ""
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	data, err := schema.ReadFile(name, maxPEM+1)
	if errors.Is(err, schema.ErrIrregular) || len(data) > maxPEM {
		return nil, "is not a file of certificates", "name a file in PEM format of at most 1 MiB"
	}
	if err != nil {
		problem, remedy = schema.Unreadable(err)
	}
	return data, problem, remedy
}

// parseRoots returns the certificates of a text in PEM format.
func parseRoots(data []byte) (all []*x509.Certificate, _ error) {
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			break
		}
		data = rest
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("it holds a %s", strings.ToLower(block.Type))
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("it holds nothing in PEM format")
	}
	return all, nil
}

// networkKeys are the keys of [network] and [tls].
func (d *draft) networkKeys() []schema.Var {
	s := d.settings
	return []schema.Var{
		schema.Secretly(schema.Rows("network.proxies", InMain, []schema.Column{
			{Name: "name", Type: schema.Type{Kind: schema.Text}},
			{Name: "address", Type: schema.Type{Kind: schema.Text}},
			{Name: "secret", Type: schema.Type{Kind: schema.Text, Optional: true}, Optional: true},
			{Name: "roots", Type: schema.Type{Kind: schema.Text, Optional: true}, Optional: true},
		}, &s.Network.Proxies, func(f schema.Field) []fetch.Proxy { return readProxies(f, d.folder, readCredentials) },
			"Proxies that `network.proxy` may choose: `[{ name = \"office\", address = \"socks5://10.0.0.1:1080\", secret = \"file:proxy\" }]`. An address begins with `http://` or `https://` (the proxy must allow CONNECT, to port 80 too; `https://` means TLS to the proxy) or `socks5://`, and may be private. `roots` names a file with the root certificate of an `https://` proxy, `secret` the place of `USER:PASSWORD`; both may be left out. "+schema.SecretPlaces)),
		schema.Optional("network.proxy", InBoth, func(string) (problem, remedy string) { return "", "" },
			&s.Network.Proxy,
			"Name of the proxy through which the host is reached, from `network.proxies`. Host names are resolved here, so `fetch.allow_networks` holds behind it. Empty: none."),
		schema.Elements("network.source", InBoth, "addresses", &s.Network.Sources, readSources,
			"Address of this machine from which connections are made: at most one IPv4 and one IPv6 address. With one alone, only hosts of its family are reached. It does not apply to connections to a proxy. Empty: the system chooses."),
		schema.Choice("network.ip", InBoth, &s.Network.Family,
			"Which addresses of a host are used: `any` as the system prefers, `prefer-ipv4` and `prefer-ipv6` the others only if none of these answers, `ipv4` and `ipv6` no others.",
			families()...),
		schema.Elements("network.dns", InMain, "addresses", &s.Network.Servers, readServers,
			"DNS servers that are asked for the addresses of hosts, with or without a port, as `\"192.0.2.53\"`. The next one is asked only if those before do not answer or fail. Empty: the servers of the system."),
		schema.Choice("tls.min_version", InBoth, &s.Network.MinTLS,
			"Oldest version of TLS that is accepted. `1.0` and `1.1` reach old servers that browsers refuse.",
			versions()...),
		schema.Elements("tls.roots", InBoth, "certificates", &s.Network.Roots,
			func(f schema.Field) []*x509.Certificate { return readRoots(f, d.folder) },
			"Root certificates that are accepted in addition to the ones of the system, or an intermediate certificate that a site forgets to send: the text of each in PEM format, between triple quotes. The main file may name files instead. A host file replaces the list of the main file."),
		schema.Choice("tls.accept", InHost, &s.TLS.Accept,
			"Which certificates of the site are accepted: `valid` ones, or also `expired` ones that are valid otherwise. Needs `tls.until`. The archive and crawl.log say of each visit that its certificate was not valid.",
			AcceptValid, AcceptExpired),
		schema.End("tls.until", &s.TLS.Until,
			"Date (that day included) or time from which only valid certificates are accepted again, in UTC if it has no offset."),
	}
}

// readCredentials reads the place of a user name and a password, and returns them. They are empty if this process may
// not read them.
func readCredentials(f schema.Field) (string, bool) {
	s, ok := schema.ReadCredentials(f)
	return s.Reveal(), ok
}

// Way returns how connections are made that belong to no host with settings of its own; nil is the usual way.
func (c *Config) Way() *fetch.Way { return c.main.base.settings.Way }

// secretsFolder returns storage.secrets of the main file before its keys are read, because some of them name secrets.
func (l *loader) secretsFolder() string {
	storage, _ := l.main.Root["storage"].(map[string]any)
	if folder, ok := storage["secrets"].(string); ok && folder != "" {
		return l.absolute(folder)
	}
	return l.absolute(l.config.Storage.Secrets)
}

// readNetworks reads a list of networks in CIDR notation.
func readNetworks(f schema.Field) (all []netip.Prefix, of []fetch.HostNetwork) {
	const example = `for example "127.0.0.0/8", "fd00::/8" or "intranet.library.example=10.1.0.0/16"`
	for _, n := range schema.ReadElements(f, example, readHostNetwork) {
		if n.Host == "" {
			all = append(all, n.Network)
		} else {
			of = append(of, n)
		}
	}
	return all, of
}

// readHostNetwork reads a network, with the host that it is for before an equals sign if it is for one host only.
func readHostNetwork(f schema.Field, s string) (fetch.HostNetwork, bool) {
	name, network, one := strings.Cut(s, "=")
	if !one {
		p, ok := readNetwork(f, s)
		return fetch.HostNetwork{Network: p}, ok
	}
	h, problem, remedy := schema.ParseHost(strings.TrimSpace(name))
	if problem == "" && strings.Contains(string(h), ":") {
		problem, remedy = "names a port", "name the host alone: the network is allowed for all its ports"
	}
	if problem != "" {
		f.Fault(problem, remedy)
		return fetch.HostNetwork{}, false
	}
	p, ok := readNetwork(f, strings.TrimSpace(network))
	return fetch.HostNetwork{Host: string(h), Network: p}, ok
}

// readNetwork reads a network in CIDR notation from the text s of f. It warns of a network that contains everything.
func readNetwork(f schema.Field, s string) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		remedy := `write address and length, as in "127.0.0.0/8" or "fd00::/8"`
		if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
			remedy = fmt.Sprintf(`write "%s/%d"`, a.Unmap(), a.Unmap().BitLen())
		}
		f.Fault("is not a network", remedy)
	case p.Addr().Is4In6():
		f.Fault("is an IPv4 network in IPv6 notation", `write it as IPv4, as in "127.0.0.0/8"`)
	case p.Masked() != p:
		f.Fault("is not the first address of its network", "write "+strconv.Quote(p.Masked().String()))
	default:
		if p.Bits() == 0 {
			f.Warn("switches off the protection of private networks", "name the networks that are needed")
		}
		return p, true
	}
	return netip.Prefix{}, false
}
