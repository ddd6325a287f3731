package house_test

import (
	"go/ast"
	"path"
	"slices"
)

// door is something outside the program, and the rooms that may touch it. The folders outside the house, and tests, may
// touch everything.
type door struct {
	what  string
	pkg   string
	names []string // of the package, as patterns of path.Match; none means importing it at all
	rooms []string // and single files of rooms
}

// The room admin dials the socket of the daemon, and writes what is counted and a pause.
var doors = []door{
	{
		"the network, outwards", "net",
		[]string{"Dial*", "Lookup*", "Resolver", "DefaultResolver"},
		[]string{"fetch", "admin/", "cluster/shared", "fleet", "messages"},
	},
	{
		"the network, outwards", "net/http",
		[]string{"Get", "Post", "PostForm", "Head", "Client", "Transport", "DefaultClient", "DefaultTransport"},
		[]string{"fetch", "admin/", "cluster/shared", "fleet", "messages"},
	},
	{
		"the network, outwards", "crypto/tls",
		[]string{"Dial*", "Client"},
		[]string{"fetch", "fleet", "messages"},
	},
	{
		"the network, inwards", "net",
		[]string{"Listen*", "FileListener"},
		[]string{"admin/", "curator/", "daemon", "cmd/arcrawl", "fleet"},
	},
	{
		"the network, inwards", "net/http",
		[]string{"Serve[A-Z]*", "Handle", "HandleFunc"},
		[]string{"admin/", "curator/", "daemon", "cmd/arcrawl"},
	},
	// The daemon bounds the connections of its servers.
	{
		"the network, inwards", "net/http",
		[]string{"Server", "Serve", "ServeTLS", "ListenAndServe*"},
		[]string{"daemon"},
	},
	{
		"files, to write", "os",
		[]string{
			"Create*", "OpenFile", "OpenRoot", "WriteFile", "Mkdir*", "Remove*", "Rename", "Truncate", "Link",
			"Symlink", "Ch*",
		},
		[]string{
			"config/revision",
			"fetch",
			"frontier/",
			"warcout",
			"crawllog/",
			"archive/",
			"admin/",
			"curator/",
			"noise/",
			"daemon/",
			"cluster/",
			"lab/",
			"render/",
			"internal/fileio",
			"cmd/arcrawl",
			"cmd/arcrawl/cli",
		},
	},
	{
		"files, to read", "os",
		[]string{"Open", "ReadFile", "ReadDir", "DirFS", "Stat", "Lstat"},
		[]string{
			"config/",
			"fetch",
			"frontier/",
			"warcout",
			"crawllog/",
			"archive/",
			"lab/",
			"admin/",
			"curator/",
			"daemon/",
			"cluster/",
			"fleet",
			"messages",
			"noise/",
			"render/",
			"reports/",
			"cmd/",
		},
	},
	{
		"the process", "os",
		[]string{"Exit", "Environ", "Setenv", "Stdin", "Stdout", "Args"},
		[]string{"cmd/arcrawl", "cmd/arcrawl/cli", "render/benchrender"},
	},
	{"the process", "os", []string{"Stderr"}, []string{"daemon", "cmd/arcrawl", "cmd/arcrawl/cli", "render/benchrender"}},
	{"the environment", "os", []string{"Getenv", "LookupEnv"}, []string{"config/schema", "daemon", "cmd/"}},
	{"the process", "fmt", []string{"Print", "Printf", "Println", "Scan*"}, []string{"cmd/arcrawl", "render/benchrender"}},
	{"the process", "os/signal", nil, []string{"daemon", "cmd/arcrawl"}},
	{"the process", "flag", nil, []string{"cmd/arcrawl", "render/benchrender"}},
	// archive runs the hook of finished files, cmd/arcrawl/cli the editor of the user, render/chromium the browser.
	{
		"other processes", "os/exec",
		nil,
		[]string{
			"archive/sealed.go", "render/chromium", "admin/git.go", "cmd/arcrawl", "cmd/arcrawl/cli",
		},
	},
	{"the browser", "github.com/chromedp/chromedp", nil, []string{"render/chromium", "render/benchrender"}},
	{"a global logger", "log", nil, []string{"daemon/connections.go"}}, // what net/http takes its log as
	{"a global logger", "log/slog", nil, nil},
	{"a global logger", "github.com/rs/zerolog/log", nil, nil},
	{
		"the store", "github.com/dgraph-io/badger/v4",
		nil,
		[]string{
			"frontier/",
			"dedup",
			"aspects/spaces",
			"hosts",
			"cluster/",
			"archive/backupcopy.go", // copies the files of a store
		},
	},
	{"PostgreSQL", "github.com/jackc/pgx/v5", nil, []string{"cluster/shared"}},
	{"PostgreSQL", "github.com/jackc/pgx/v5/pgxpool", nil, []string{"cluster/shared"}},
	{"PostgreSQL", "github.com/jackc/pgx/v5/pgconn", nil, []string{"cluster/shared"}},
	{"WARC records", "github.com/nlnwa/gowarc/v3", nil, []string{"warcout", "archive/"}},
	{"the configuration's format", "github.com/BurntSushi/toml", nil, []string{"config/schema"}},
	{"memory behind the compiler's back", "unsafe", nil, nil},
	// If a template can be executed, the linker keeps every exported method of every type: a sixth of the program.
	{"templates", "text/template", nil, nil},
	{"templates", "html/template", nil, nil},
}

func onlyTheirDoors(all tree) []breach {
	var found []breach
	for _, f := range all.files {
		if f.test || matches(outside, f.room) {
			continue
		}
		for _, d := range doors {
			if !matches(d.rooms, f.room) && !matches(d.rooms, f.name) {
				found = append(found, all.opened(f, d)...)
			}
		}
	}
	return found
}

// opened finds where a file touches what is behind a door.
func (all tree) opened(f source, d door) []breach {
	var found []breach
	if d.names == nil {
		for _, im := range f.imports() {
			if im.path == d.pkg {
				found = append(found, all.at(im.spec, "%s touches %s: it imports %s", f.room, d.what, d.pkg))
			}
		}
		return found
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		pkg, name, _ := f.uses(n)
		hit := pkg == d.pkg && slices.ContainsFunc(d.names, func(pattern string) bool {
			ok, err := path.Match(pattern, name)
			return ok && err == nil
		})
		if hit {
			found = append(found, all.at(n, "%s touches %s: %s.%s", f.room, d.what, pkg, name))
		}
		return true
	})
	return found
}
