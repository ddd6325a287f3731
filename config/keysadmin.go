package config

import (
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
)

// adminKeys are the keys of [admin] and [websub].
var adminKeys = []key{
	optional("admin.instance", InMain, checkInstance, func(d *draft) *string { return &d.config.Admin.Instance },
		"Name of this crawl among several, as `press`. It is in alarms, mail and their subjects, in the status, on the dashboard, and in the label `crawl` of each metric. Empty: operator.name, and metrics have no such label."),
	optional("admin.socket", InMain, schema.CheckPath, func(d *draft) *string { return &d.config.Admin.Socket },
		"Unix socket of the daemon, for its user and group. Empty: `admin.sock` in storage.state. `off` opens no socket; then no command can reach the daemon."),
	optional("admin.listen", InMain, checkListen, func(d *draft) *string { return &d.config.Admin.Listen },
		"Address, as `127.0.0.1:8471`, that serves the same to clients that send a token. Other machines can reach it only with admin.remote. Empty: none."),
	choice("admin.remote", InMain, func(d *draft) *remote { return &d.config.Admin.Remote },
		"Whether admin.listen may be reached from other machines. `off`: it must be a loopback address. `tls`: any address, encrypted. `plain`: any address, not encrypted; only inside a container or behind a proxy that encrypts.",
		Off, RemoteTLS, Plain),
	texts("admin.names", InMain, "host names", checkName, func(d *draft) *[]string { return &d.config.Admin.Names },
		"Host names, without ports, under which clients reach admin.listen besides localhost and IP addresses. Requests with other names are refused."),
	optional("admin.tls_cert", InMain, schema.CheckPath, func(d *draft) *string { return &d.config.Admin.TLSCert },
		"File with the certificate and its chain in PEM format, for admin.remote = \"tls\". A renewed file is used at once."),
	optional("admin.tls_key", InMain, schema.CheckPath, func(d *draft) *string { return &d.config.Admin.TLSKey },
		"File with the key of admin.tls_cert in PEM format."),
	optional("admin.token_file", InMain, schema.CheckPath, func(d *draft) *string { return &d.config.Admin.TokenFile },
		"File with the tokens for admin.listen. Empty: `admin.token` in storage.state. It is created with a random token if it does not exist. `arcrawl user` adds and removes tokens."),
	optional("admin.user_file", InMain, schema.CheckPath, func(d *draft) *string { return &d.config.Admin.UserFile },
		"File with the named users for admin.listen, their roles and hashed passwords. Empty: `admin.users` in storage.state. `arcrawl user` makes and changes it; the daemon uses a changed file at once."),
	texts("admin.trusted_proxies", InMain, "addresses", checkProxy,
		func(d *draft) *[]string { return &d.config.Admin.TrustedProxies },
		"IP addresses or networks, as `127.0.0.1` or `10.1.2.0/28`, of reverse proxies in front of admin.listen. Their headers X-Forwarded-For, X-Forwarded-Proto and admin.user_header are believed, and of nobody else."),
	optional("admin.user_header", InMain, checkHeader,
		func(d *draft) *string { return &d.config.Admin.UserHeader },
		"Header in which a trusted proxy names the user who signed in there, as `X-Remote-User`. The proxy must remove it from what clients send. The role is in admin.user_file, or else admin.user_role. Empty: none."),
	choice("admin.user_role", InMain, func(d *draft) *userRole { return &d.config.Admin.UserRole },
		"Role of users whom a trusted proxy names and admin.user_file does not. `none`: they are refused.",
		NoRole, RoleRead, roleCurate, roleOperate),
	boolean("admin.git", InMain, func(d *draft) *bool { return &d.config.Admin.Git },
		"Whether each change of configuration files in the dashboard is committed to the git repository that holds them, with the user as author. If that fails, a warning says why, and the change stays."),
	optional("admin.url", InMain, schema.CheckWebhook, func(d *draft) *string { return &d.config.Admin.URL },
		"Address of the dashboard for people, as `https://crawler.library.example/`. Alarms link to it. Empty: the address of admin.listen."),
	optional("admin.replay_listen", InMain, checkListen,
		func(d *draft) *string { return &d.config.Admin.ReplayListen },
		"Address, as `127.0.0.1:8473`, that serves archived versions to browsers, apart from the dashboard, so that archived pages cannot reach it. admin.remote applies to it too. Empty: the dashboard does not show versions."),
	optional("admin.replay_url", InMain, schema.CheckWebhook, func(d *draft) *string { return &d.config.Admin.ReplayURL },
		"Address of admin.replay_listen for browsers, as `https://replay.library.example/`, if it is behind a proxy. It should have another host name than the dashboard. Empty: the name of the dashboard and the port of admin.replay_listen."),
	optional("admin.replay_assets", InMain, schema.CheckPath,
		func(d *draft) *string { return &d.config.Admin.ReplayAssets },
		"Folder with the engine of ReplayWeb.page. Empty: `/usr/share/arcrawl-replay`, where the package arcrawl-replay has it."),
	secret(optional("admin.webhook", InMain, schema.CheckWebhook,
		func(d *draft) *string { return &d.config.Admin.Webhook },
		"Address that receives each alarm, and its end, as JSON by POST, at most once a second. Empty: none. The log, the status and the metrics report alarms too.")),
	secret(optional("cluster.database", InMain, checkDatabase,
		func(d *draft) *string { return &d.config.Cluster.Database },
		"Experimental. PostgreSQL database that all nodes share, as `postgres://arcrawl@db.library.example/arcrawl`; the password is in ~/.pgpass or PGPASSFILE. Empty: this process is on its own.")),
	optional("cluster.node", InMain, checkInstance, func(d *draft) *string { return &d.config.Cluster.Node },
		"Name of this node, which no other node has. Required with cluster.database."),
	optional("cluster.listen", InMain, checkListen, func(d *draft) *string { return &d.config.Cluster.Listen },
		"Address of this node, as `10.0.0.5:8475`, at which the other nodes ask it about its shards, so that any node answers for all. Empty: none."),
	boolean("cluster.single_database", InMain, func(d *draft) *bool { return &d.config.Cluster.Single },
		"The database has no synchronous replica on purpose: raise no alarm about that."),
	optional("mail.server", InMain, checkServer, func(d *draft) *string { return &d.config.Mail.Server },
		"Host and port of the mail server (SMTP), as `smtp.library.example:587`. Empty: no mail."),
	choice("mail.security", InMain, func(d *draft) *Security { return &d.config.Mail.Security },
		"How the connection is encrypted. `starttls`: after the greeting, usually on port 587. `tls`: from the beginning, usually on port 465. `none`: not.",
		StartTLS, Implicit, None),
	secret(optional("mail.user", InMain, nil, func(d *draft) *string { return &d.config.Mail.User },
		"User name for the mail server. Empty: no password is sent.")),
	optional("mail.password_file", InMain, schema.CheckPath, func(d *draft) *string { return &d.config.Mail.PasswordFile },
		"File that contains only the password for the mail server."),
	optional("mail.from", InMain, checkMailAddress, func(d *draft) *string { return &d.config.Mail.From },
		"Sender of all mail."),
	secret(texts("mail.to", InMain, "addresses", checkRecipient,
		func(d *draft) *[]string { return &d.config.Mail.To },
		"Recipients. `\"crawler@library.example\"` receives everything; `\"newspapers=press@library.example\"` receives what is about hosts with this label, collection or owner. A weekday at the end, as `\"newspapers=press@library.example monday\"`, makes the digest weekly.")),
	boolean("mail.alarms", InMain, func(d *draft) *bool { return &d.config.Mail.Alarms },
		"Send alarms, and their ends, as they happen: at most one mail a minute for each recipient."),
	optional("mail.digest", InMain, checkTime, func(d *draft) *string { return &d.config.Mail.Digest },
		"Time of day in UTC, as `07:00`, of a daily mail, or weekly as mail.to says, with new versions, silent sites, missed capture targets and alarms. Empty: none."),
	optional("websub.callback", InMain, schema.CheckCallback,
		func(d *draft) *string { return &d.config.WebSub.Callback },
		"Public http(s) address at which hubs reach this crawl, as `https://crawler.library.example/websub`. Empty: feeds are polled and no hub is subscribed to."),
	optional("websub.listen", InMain, schema.CheckAddress, func(d *draft) *string { return &d.config.WebSub.Listen },
		"Address and port that receive the requests to websub.callback, as `127.0.0.1:8472` behind a proxy, or `0.0.0.0:8472`. Empty: no port is opened."),
	duration("websub.lease", InMain, time.Hour, 365*day,
		func(d *draft) *time.Duration { return &d.config.WebSub.Lease },
		"Duration of a subscription that hubs are asked for. It is renewed before it ends."),
	boolean("websub.any_hub", InMain, func(d *draft) *bool { return &d.config.WebSub.AnyHub },
		"Subscribe also to hubs with http or another port than 443. Pages of strangers name the hubs."),
}

// texts makes a key that is a list of texts, each of which check must accept.
func texts(name, scope, elements string, check schema.Check, field func(*draft) *[]string, doc string) key {
	k := list(name, scope, elements, readTexts(elements, check, field), doc)
	k.show = func(d *draft) string { return schema.TOML(*field(d)) }
	return k
}

// readTexts returns the reader of a list of texts.
func readTexts(
	elements string, check schema.Check, field func(*draft) *[]string,
) func(f schema.Field, d *draft) {
	return func(f schema.Field, d *draft) {
		*field(d) = nil
		f.Texts("of "+elements, func(e schema.Field, s string) {
			if problem, remedy := check(s); problem != "" {
				e.Fault(problem, remedy)
				return
			}
			*field(d) = append(*field(d), s)
		})
	}
}
