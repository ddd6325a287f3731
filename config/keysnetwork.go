package config

import (
	"crypto/x509"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/fetch"
)

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
			"Proxies that `network.proxy` may choose: `[{ name = \"office\", address = \"socks5://10.0.0.1:1080\", secret = \"file:proxy\" }]`. An address begins with `http://` or `https://` (the proxy must allow CONNECT, to port 80 too; `https://` means TLS to the proxy) or `socks5://`, and may be private. `roots` names a file with the root certificate of an `https://` proxy, `secret` the place of `USER:PASSWORD`; both may be left out. "+SecretPlaces)),
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
	s, ok := readBasic(f)
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
