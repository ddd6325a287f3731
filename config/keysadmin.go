package config

import (
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
)

// adminKeys are the keys of [admin] and [cluster].
func (d *draft) adminKeys() []schema.Var {
	c := d.config
	return []schema.Var{
		schema.Optional("admin.instance", InMain, checkInstance, &c.Admin.Instance,
			"Name of this crawl among several, as `press`. It is in alarms, mail and their subjects, in the status, on the dashboard, and in the label `crawl` of each metric. Empty: operator.name, and metrics have no such label."),
		schema.Optional("admin.socket", InMain, schema.CheckPath, &c.Admin.Socket,
			"Unix socket of the daemon, for its user and group. Empty: `admin.sock` in storage.state. `off` opens no socket; then no command can reach the daemon."),
		schema.Optional("admin.listen", InMain, checkListen, &c.Admin.Listen,
			"Address, as `127.0.0.1:8471`, that serves the same to clients that send a token. Other machines can reach it only with admin.remote. Empty: none."),
		schema.Choice("admin.remote", InMain, &c.Admin.Remote,
			"Whether admin.listen may be reached from other machines. `off`: it must be a loopback address. `tls`: any address, encrypted. `plain`: any address, not encrypted; only inside a container or behind a proxy that encrypts.",
			Off, RemoteTLS, Plain),
		schema.Strings("admin.names", InMain, "host names", checkName, &c.Admin.Names,
			"Host names, without ports, under which clients reach admin.listen besides localhost and IP addresses. Requests with other names are refused."),
		schema.Optional("admin.tls_cert", InMain, schema.CheckPath, &c.Admin.TLSCert,
			"File with the certificate and its chain in PEM format, for admin.remote = \"tls\". A renewed file is used at once."),
		schema.Optional("admin.tls_key", InMain, schema.CheckPath, &c.Admin.TLSKey,
			"File with the key of admin.tls_cert in PEM format."),
		schema.Optional("admin.token_file", InMain, schema.CheckPath, &c.Admin.TokenFile,
			"File with the tokens for admin.listen. Empty: `admin.token` in storage.state. It is created with a random token if it does not exist. `arcrawl user` adds and removes tokens."),
		schema.Optional("admin.user_file", InMain, schema.CheckPath, &c.Admin.UserFile,
			"File with the named users for admin.listen, their roles and hashed passwords. Empty: `admin.users` in storage.state. `arcrawl user` makes and changes it; the daemon uses a changed file at once."),
		schema.Strings("admin.trusted_proxies", InMain, "addresses", checkProxy, &c.Admin.TrustedProxies,
			"IP addresses or networks, as `127.0.0.1` or `10.1.2.0/28`, of reverse proxies in front of admin.listen. Their headers X-Forwarded-For, X-Forwarded-Proto and admin.user_header are believed, and of nobody else."),
		schema.Optional("admin.user_header", InMain, checkHeader, &c.Admin.UserHeader,
			"Header in which a trusted proxy names the user who signed in there, as `X-Remote-User`. The proxy must remove it from what clients send. The role is in admin.user_file, or else admin.user_role. Empty: none."),
		schema.Choice("admin.user_role", InMain, &c.Admin.UserRole,
			"Role of users whom a trusted proxy names and admin.user_file does not. `none`: they are refused.",
			NoRole, RoleRead, roleCurate, roleOperate),
		schema.Bool("admin.git", InMain, &c.Admin.Git,
			"Commit each change of configuration files in the dashboard to their git repository, with the user as author. If that fails, a warning says why, and the change stays."),
		schema.Optional("admin.url", InMain, schema.CheckWebhook, &c.Admin.URL,
			"Address of the dashboard for people, as `https://crawler.library.example/`. Alarms link to it. Empty: the address of admin.listen."),
		schema.Optional("admin.replay_listen", InMain, checkListen, &c.Admin.ReplayListen,
			"Address, as `127.0.0.1:8473`, that serves archived versions to browsers and to programs, apart from the dashboard, so that archived pages cannot reach it. admin.remote applies to it too. Empty: the dashboard does not show versions."),
		schema.Optional("admin.replay_url", InMain, schema.CheckWebhook, &c.Admin.ReplayURL,
			"Address of admin.replay_listen for browsers, as `https://replay.library.example/`, with another host name than the dashboard: with the same one, archived scripts do not run. Empty: the port of admin.replay_listen, and the name of the dashboard, or on this machine another of its names."),
		schema.Optional("admin.replay_assets", InMain, schema.CheckPath, &c.Admin.ReplayAssets,
			"Folder with the engine of ReplayWeb.page. Empty: `/usr/share/arcrawl-replay`, where the package arcrawl-replay has it."),
		schema.OfWing("messages", schema.Secretly(schema.Optional(
			"admin.webhook", InMain, schema.CheckWebhook, &c.Admin.Webhook,
			"Address that receives each alarm, and its end, as JSON by POST, at most once a second. Empty: none."))),
		schema.Secretly(schema.Optional("cluster.database", InMain, checkDatabase, &c.Cluster.Database,
			"PostgreSQL database that all nodes share, as `postgres://arcrawl@db.library.example/arcrawl?sslmode=verify-full`; the password is in ~/.pgpass or PGPASSFILE. Empty: this process is on its own.")),
		schema.Optional("cluster.node", InMain, checkInstance, &c.Cluster.Node,
			"Name of this node, which no other node has. Required with cluster.database."),
		schema.Optional("cluster.listen", InMain, checkListen, &c.Cluster.Listen,
			"Address of this node, as `10.0.0.5:8475`, at which the other nodes reach this one, so that any node answers for all. Empty: none."),
		schema.Bool("cluster.insecure_database", InMain, &c.Cluster.Insecure,
			"The database may be on another machine although cluster.database does not say `sslmode=verify-full`: what is sent may be read and changed on the way. Only for a network that you trust."),
		schema.Bool("cluster.single_database", InMain, &c.Cluster.Single,
			"The database has no synchronous replica on purpose: raise no alarm about that."),
	}
}

// reachKeys are the keys of [mail] and [websub].
func (d *draft) reachKeys() []schema.Var {
	c := d.config
	return []schema.Var{
		schema.Optional("mail.server", InMain, checkServer, &c.Mail.Server,
			"Host and port of the SMTP server, as `smtp.library.example:587`. Empty: no mail."),
		schema.Choice("mail.security", InMain, &c.Mail.Security,
			"How the connection is encrypted. `starttls`: after the greeting, usually on port 587. `tls`: from the beginning, usually on port 465. `none`: not.",
			StartTLS, Implicit, None),
		schema.Secretly(schema.Optional("mail.user", InMain, nil, &c.Mail.User,
			"User name. Empty: no password is sent.")),
		schema.Optional("mail.password_file", InMain, schema.CheckPath, &c.Mail.PasswordFile,
			"File that contains only the password."),
		schema.Optional("mail.from", InMain, checkMailAddress, &c.Mail.From,
			"Sender of all mail."),
		schema.Secretly(schema.Strings("mail.to", InMain, "addresses", checkRecipient, &c.Mail.To,
			"Recipients. `\"crawler@library.example\"` receives everything; `\"newspapers=press@library.example\"` receives what is about hosts with this label, collection or owner. A weekday at the end, as `\"newspapers=press@library.example monday\"`, makes the digest weekly.")),
		schema.Bool("mail.alarms", InMain, &c.Mail.Alarms,
			"Send alarms, and their ends, as they happen: at most one mail a minute for each recipient."),
		schema.Optional("mail.digest", InMain, checkTime, &c.Mail.Digest,
			"Time of day in UTC, as `07:00`, of a daily mail, or weekly as mail.to says, with new versions, silent sites, missed capture targets and alarms. Empty: none."),
		schema.Optional("websub.callback", InMain, schema.CheckCallback, &c.WebSub.Callback,
			"Public http(s) address at which hubs reach this crawl, as `https://crawler.library.example/websub`. Empty: feeds are polled and no hub is subscribed to."),
		schema.Optional("websub.listen", InMain, schema.CheckAddress, &c.WebSub.Listen,
			"Address and port that receive the requests to websub.callback, as `127.0.0.1:8472` behind a proxy, or `0.0.0.0:8472`. Empty: no port is opened."),
		schema.Interval("websub.lease", InMain, time.Hour, 365*schema.Day, &c.WebSub.Lease,
			"Duration of a subscription that hubs are asked for. It is renewed before it ends."),
		schema.Bool("websub.any_hub", InMain, &c.WebSub.AnyHub,
			"Subscribe also to hubs with http or another port than 443. Pages of strangers name the hubs."),
	}
}
