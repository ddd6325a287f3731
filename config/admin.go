package config

import (
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// Admin says where a running daemon can be asked and steered.
type Admin struct {
	// Socket is admin.socket (""): the unix socket, absolute; by default admin.sock in the folder of the store. Empty when
	// it is switched off.
	Socket string
	// Listen is admin.listen (""): an address of the loopback where the same is served to those who know the token; empty
	// serves none.
	Listen string
	// TokenFile is admin.token_file (""): the file with the token, absolute; by default admin.token in the folder of the
	// store, which the daemon makes when it is not there.
	TokenFile string
	// Webhook is admin.webhook (""): the address that hears of alarms, as JSON by POST; empty tells none.
	Webhook string
}

// noSocket switches the socket off.
const noSocket = "off"

var adminKeys = []key{
	{
		Key:    Key{Name: "admin.socket", Default: `""`, Scope: inMain, Doc: "Unix socket of the daemon, for its user and group. Empty: `admin.sock` in storage.state. `off` opens none, and then no command can reach the daemon."},
		reader: textOrNothing(path, func(d *draft) *string { return &d.config.Admin.Socket }),
	},
	{
		Key:    Key{Name: "admin.listen", Default: `""`, Scope: inMain, Doc: "Address of the loopback, as `127.0.0.1:8471`, where the same is served to those who send the token. Empty opens none."},
		reader: textOrNothing(loopback, func(d *draft) *string { return &d.config.Admin.Listen }),
	},
	{
		Key:    Key{Name: "admin.token_file", Default: `""`, Scope: inMain, Doc: "File with the token for admin.listen. Empty: `admin.token` in storage.state. Made with a random token if it is not there."},
		reader: textOrNothing(path, func(d *draft) *string { return &d.config.Admin.TokenFile }),
	},
	{
		Key:    Key{Name: "admin.webhook", Default: `""`, Scope: inMain, Doc: "Address that is told when an alarm is raised and when it is over, as JSON by POST, at most once a second. Empty tells none; the log, the status and the metrics have them too."},
		reader: textOrNothing(hookAddress, func(d *draft) *string { return &d.config.Admin.Webhook }),
	},
}

// textOrNothing is text whose empty value stands for something of its own.
func textOrNothing(check func(string) (problem, remedy string), at func(*draft) *string) reader {
	r := text(func(s string) (problem, remedy string) {
		if s == "" {
			return "", ""
		}
		return check(s)
	}, at)
	r.kind = "text, may be empty"
	return r
}

// hookAddress approves what can be posted to.
func hookAddress(s string) (problem, remedy string) {
	if u, err := uri.Parse(s); err != nil || !strings.Contains(s, "://") || u.Hostname() == "" {
		return "is not a web address", `write for example "https://alarms.library.example/arcrawl"`
	}
	return "", ""
}

// loopback approves an address that only this machine can reach.
func loopback(s string) (problem, remedy string) {
	const example = `write for example "127.0.0.1:8471" or "[::1]:8471"`
	at, err := netip.ParseAddrPort(strings.Replace(s, "localhost:", "127.0.0.1:", 1))
	switch {
	case err != nil:
		return "is not an address with a port", example
	case !at.Addr().IsLoopback():
		return "can be reached from other machines", example + `; from elsewhere use "ssh -L" or a proxy that asks for a password`
	}
	return "", ""
}

// settle fills what follows from other keys; absolute is a path of the main file seen from its folder.
func (a *Admin) settle(state string, absolute func(string) string) {
	switch a.Socket {
	case "":
		a.Socket = filepath.Join(state, "admin.sock")
	case noSocket:
		a.Socket = ""
	default:
		a.Socket = absolute(a.Socket)
	}
	if a.TokenFile == "" {
		a.TokenFile = filepath.Join(state, "admin.token")
	} else {
		a.TokenFile = absolute(a.TokenFile)
	}
	a.Listen = strings.Replace(a.Listen, "localhost:", "127.0.0.1:", 1)
}

// Where reads only what the main file at path says of [admin], for those who look for a daemon. Faults elsewhere do not
// matter: the daemon goes on with its last good configuration while a file is broken, and can be asked.
func Where(path string) (Admin, error) {
	l := loader{folder: filepath.Dir(path)}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Admin{}, Faults{{File: path, Problem: "cannot be found: " + err.Error(), Remedy: "give an absolute path"}}
	}
	l.config.Path = absolute
	l.main = readDocument(path, path)
	if l.main.root == nil && len(l.main.faults) > 0 {
		return Admin{}, Faults(l.main.faults)
	}
	l.readMain()
	return l.config.Admin, nil
}
