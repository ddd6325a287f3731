package house_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// plant is a small piece of source in which a rule is broken, or only seems to be.
type plant struct {
	name string
	rule string
	file string
	code string
	want string // part of the only breach; "" when there must be none
}

var plants = []plant{
	{"a room imports a test world", "internal stays inside", "crawler/a.go", `import "github.com/arcrawl/arcrawl/internal/demosite"`, "crawler imports internal/demosite"},
	{"a test imports a test world", "internal stays inside", "crawler/a_test.go", `import "github.com/arcrawl/arcrawl/internal/demosite"`, ""},
	{"a room uses the basics", "internal stays inside", "crawler/a.go", `import "github.com/arcrawl/arcrawl/internal/human"`, ""},
	{"main imports the demo's site", "internal stays inside", "cmd/arcrawl/demo.go", `import "github.com/arcrawl/arcrawl/internal/demosite"`, ""},

	{"a go statement in the frontier", "goroutines", "frontier/a.go", `func f() { go f() }`, "a goroutine is started"},
	{"a go statement in the crawler, but in another file", "goroutines", "crawler/walk.go", `func f() { go f() }`, "a goroutine is started"},
	{"a wait group's Go", "goroutines", "fetch/a.go", `import "sync"; func f() { var w sync.WaitGroup; w.Go(f) }`, "Go starts a goroutine"},
	{"an error group's Go in a field", "goroutines", "fetch/a.go", `func (c *Client) f() { c.group.Go(c.f) }`, "Go starts a goroutine"},
	{"a function that runs when a context ends", "goroutines", "fetch/a.go", `import "context"; func f(ctx context.Context) { context.AfterFunc(ctx, nil) }`, "AfterFunc starts a goroutine"},
	{"the crawler's own loop", "goroutines", "crawler/run.go", `func f() { go f() }`, ""},
	{"a goroutine in a test", "goroutines", "frontier/a_test.go", `func f() { go f() }`, ""},

	{"a page is a template", "doors", "admin/a.go", `import "html/template"; var _ template.Template`, "templates"},

	{"the frontier asks the time", "clock", "frontier/a.go", `import "time"; var _ = time.Now()`, "time.Now asks the clock"},
	{"under another name", "clock", "frontier/a.go", `import tempus "time"; func f() { tempus.Sleep(1) }`, "time.Sleep asks the clock"},
	{"handed on without being called", "clock", "config/a.go", `import "time"; var o = options{now: time.Now}`, "time.Now asks the clock"},
	{"a time limit of a context", "clock", "warcout/a.go", `import "context"; func f(ctx context.Context) { context.WithTimeout(ctx, 1) }`, "context.WithTimeout asks the clock"},
	{"arithmetic with times", "clock", "frontier/a.go", `import "time"; func f(t time.Time) bool { return t.After(time.Unix(0, 0)) }`, ""},
	{"a variable that is called time", "clock", "frontier/a.go", `func f(time clock) { time.Now() }`, ""},
	{"fetch dates its bytes", "clock", "fetch/a.go", `import "time"; var _ = time.Now`, ""},

	{"func init", "no init", "digest/a.go", `func init() {}`, "func init"},
	{"a method called init", "no init", "digest/a.go", `func (h Hash) init() {}`, ""},

	{"a package variable is assigned", "nothing global is written", "uri/a.go", `var count int; func f() { count = 1 }`, "count is written"},
	{"a package variable is counted up", "nothing global is written", "uri/a.go", `var count int; func f() { count++ }`, "count is written"},
	{"an entry of a package map is set", "nothing global is written", "uri/a.go", `var seen = map[string]bool{}; func f() { seen["a"] = true }`, "seen is written"},
	{"an entry of a package map is deleted", "nothing global is written", "uri/a.go", `var seen = map[string]bool{}; func f() { delete(seen, "a") }`, "seen is written"},
	{"a field of a package variable is set", "nothing global is written", "uri/a.go", `var o struct{ n []int }; func f() { o.n[0] = 1 }`, "o is written"},
	{"the address of a package variable is taken", "nothing global is written", "uri/a.go", `var n int; func f() *int { return &n }`, "n is written"},
	{"a package variable is set by a loop", "nothing global is written", "uri/a.go", `var n int; func f() { for n = range 3 { } }`, "n is written"},
	{"a package variable of a type from elsewhere", "nothing global is written", "uri/a.go", `import "example.org/x"; var o x.Options; func f() { o.Level = 1 }`, "o is written"},
	{"a variable of another package is set", "nothing global is written", "cmd/arcrawl/a.go", `import "github.com/rs/zerolog"; func f() { zerolog.TimeFieldFormat = "" }`, "zerolog.TimeFieldFormat is written"},
	{"a package mutex", "nothing global is written", "uri/a.go", `import "sync"; var mu sync.Mutex`, "sync.Mutex"},
	{"a package counter", "nothing global is written", "uri/a.go", `import "sync/atomic"; var n = new(atomic.Int64)`, "sync/atomic.Int64"},
	{"a local variable of the same name", "nothing global is written", "uri/a.go", `var n int; func f() { n := 0; n++; _ = &n }`, ""},
	{"an error sentinel and a table", "nothing global is written", "uri/a.go", `import "errors"; var ErrX = errors.New("x"); var t = []int{1}; func f() int { return t[0] }`, ""},
	{"a field that is called as a package is", "nothing global is written", "uri/a.go", `import "example.org/x"; type s struct{ x int }; func (v *s) f() { v.x = 1; x.Do() }`, ""},
	{"a local variable that hides an import", "nothing global is written", "uri/a.go", `import "example.org/url"; type u struct{ s string }; var _ = url.Parse; func f(url *u) { url.s = "" }`, ""},

	{"a function of 61 lines", "length", "uri/a.go", "func f() {" + strings.Repeat("\n", 60) + "}", "a function of 61 lines"},
	{"a function of 60 lines", "length", "uri/a.go", "func f() {" + strings.Repeat("\n", 59) + "}", ""},
	{"a file of 501 lines", "length", "uri/a.go", strings.Repeat("\n", 500), "a file of 501 lines"},
	{"a test of 501 lines", "length", "uri/a_test.go", strings.Repeat("\n", 500), ""},

	{"an exported function without a comment", "documentation", "uri/a.go", `func Parse() {}`, "Parse has no comment"},
	{"a comment that speaks of something else", "documentation", "uri/a.go", "// This function parses.\nfunc Parse() {}", "Parse has no comment"},
	{"a comment for a longer name", "documentation", "uri/a.go", "// ParseAll parses.\nfunc Parse() {}", "Parse has no comment"},
	{"a method of an exported type", "documentation", "uri/a.go", "// U is one.\ntype U struct{}\n\nfunc (u *U) String() string", "String has no comment"},
	{"a type without a comment", "documentation", "uri/a.go", `type U struct{}`, "U has no comment"},
	{"a constant alone in a group", "documentation", "uri/a.go", "const (\n\tA = 1\n)", "A has no comment"},
	{"a constant in a group that is explained", "documentation", "uri/a.go", "// The states.\nconst (\n\tA = 1\n\tB = 2 // the other\n)", ""},
	{"a method of a type that is not shown", "documentation", "uri/a.go", `type u struct{}; func (u) String() string`, ""},
	{"an article before the name", "documentation", "uri/a.go", "// A U is one.\ntype U struct{}", ""},

	{"a room that says nothing of itself", "package comment", "uri/a.go", ``, "no package comment"},

	{"a comment that puts work off", "no loose ends", "uri/a.go", "// TO" + "DO: later.\nfunc f() {}", "a comment says"},
	{"also in a test", "no loose ends", "uri/a_test.go", "// FIX" + "ME\nfunc f() {}", "a comment says"},
	{"a test is skipped without a word", "no loose ends", "uri/a_test.go", `func f(t *testing.T) { t.Skip() }`, "skipped without a word"},
	{"a test is skipped for a reason", "no loose ends", "uri/a_test.go", `func f(t *testing.T) { t.Skip("needs nginx") }`, ""},
	{"a string that only looks like it", "no loose ends", "uri/a.go", `const s = "TODO"`, ""},

	{"an old word in a comment", "plain English", "internal/house/a.go", "// f reads it anew.\nfunc f() {}", `a comment says "anew"`},
	{"a phrase broken over two lines", "plain English", "internal/house/a.go", "// f passes\n// over it.\nfunc f() {}", `"passes over"`},
	{"an old word in a message", "plain English", "internal/house/a.go", `const s = "mend the cause"`, `a text says "mend"`},
	{"a metaphor in a name", "plain English", "internal/house/a.go", `func freeSeat() {}`, "private metaphor (seat)"},
	{"a good phrase that holds a bad one", "plain English", "internal/house/a.go", "// f gives up if there is none.\nfunc f() {}", ""},
	{"a long comment", "plain English", "internal/house/a.go", "// f" + strings.Repeat(" word", 24) + "\nfunc f() {}", "more than 120"},
	{"a long text", "plain English", "internal/house/a.go", `const s = "` + strings.Repeat(" word", 24) + `"`, ""},

	{"the core imports a wing", "wings plug in", "uri/a.go", `import "github.com/arcrawl/arcrawl/lab"`, "uri imports the wing lab"},
	{"a test of the core imports a wing", "wings plug in", "uri/a_test.go", `import "github.com/arcrawl/arcrawl/lab/sim"`, "tests of uri imports the wing lab"},
	{"a wing imports another one", "wings plug in", "noise/a.go", `import "github.com/arcrawl/arcrawl/curator"`, "noise imports the wing curator"},
	{"a wing imports the archive", "wings plug in", "noise/a.go", `import "github.com/arcrawl/arcrawl/archive/captures"`, ""},
	{"a wing imports the core", "wings plug in", "noise/a.go", `import "github.com/arcrawl/arcrawl/crawler"`, ""},
	{"the core reads the archive", "wings plug in", "crawler/a.go", `import "github.com/arcrawl/arcrawl/archive/warc"`, ""},
	{"the program links a wing", "wings plug in", "cmd/arcrawl/wings.go", `import "github.com/arcrawl/arcrawl/lab"`, ""},

	{"a package of 21 imports", "few imports", "uri/a.go", importing(21), "uri imports 21 packages of ours, more than 20"},
	{"a package of 20 imports", "few imports", "uri/a.go", importing(20), ""},
	{"a hub", "few imports", "daemon/a.go", importing(60), ""},

	{"a small package without users", "packages are things", "uri/part/a.go", ``, "at most one user"},
	{"a package of 150 lines", "packages are things", "uri/part/a.go", strings.Repeat("\n", 150), ""},
	{"an aspect", "packages are things", "aspects/hold/a.go", ``, ""},

	{"the crawler dials", "doors", "crawler/a.go", `import "net"; func f() { net.DialTimeout("", "", 0) }`, "crawler touches the network, outwards: net.DialTimeout"},
	{"the default client", "doors", "discover/a.go", `import "net/http"; func f() { http.Get("") }`, "net/http.Get"},
	{"a header is no network", "doors", "discover/a.go", `import "net/http"; type D struct{ H http.Header }`, ""},
	{"robots writes a file", "doors", "aspects/robots/a.go", `import "os"; func f() { os.CreateTemp("", "") }`, "os.CreateTemp"},
	{"config writes a file", "doors", "config/a.go", `import "os"; func f() { os.WriteFile("", nil, 0) }`, "os.WriteFile"},
	{"config reads a file", "doors", "config/a.go", `import "os"; func f() { os.ReadFile("") }`, ""},
	{"a room ends the process", "doors", "warcout/a.go", `import "os"; func f() { os.Exit(1) }`, "os.Exit"},
	{"a room prints", "doors", "frontier/a.go", `import "fmt"; func f() { fmt.Println() }`, "fmt.Println"},
	{"a room formats", "doors", "frontier/a.go", `import "fmt"; func f() { fmt.Sprintln() }`, ""},
	{"the crawler opens the store", "doors", "crawler/a.go", `import "github.com/dgraph-io/badger/v4"`, "crawler touches the store"},
	{"dedup opens the store", "doors", "dedup/a.go", `import "github.com/dgraph-io/badger/v4"`, ""},
	{"a global logger", "doors", "cmd/arcrawl/a.go", `import "github.com/rs/zerolog/log"`, "a global logger"},
	{"a logger that is passed in", "doors", "crawler/a.go", `import "github.com/rs/zerolog"`, ""},
	{"the test worlds listen", "doors", "internal/testcrawl/a.go", `import "net"; func f() { net.Listen("", "") }`, ""},
}

// importing returns the imports of n packages of ours.
func importing(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "import _ \"github.com/arcrawl/arcrawl/part%d\"\n", i)
	}
	return b.String()
}

// TestTheRulesSeeWhatIsPlanted tries every rule on source that breaks it and on source that does not.
func TestTheRulesSeeWhatIsPlanted(t *testing.T) {
	t.Parallel()
	byName := map[string]rule{}
	for _, r := range rules {
		byName[r.name] = r
	}
	for _, p := range plants {
		t.Run(p.rule+"/"+p.name, func(t *testing.T) {
			t.Parallel()
			all := tree{fset: token.NewFileSet()}
			must(t, all.add(p.file, "package planted\n"+p.code))
			var got []string
			for _, b := range byName[p.rule].find(all) {
				got = append(got, b.String())
			}
			switch {
			case p.want == "" && len(got) > 0:
				t.Errorf("found %q in\n%s\nwhere nothing is wrong", got, p.code)
			case p.want != "" && (len(got) != 1 || !strings.Contains(got[0], p.want) || !strings.HasPrefix(got[0], p.file+":")):
				t.Errorf("found %q in\n%s\nwant one breach that says %q", got, p.code, p.want)
			}
		})
	}
}

// TestEveryRuleIsTriedAndReasoned makes sure that no rule is without a planted breach or without a reason.
func TestEveryRuleIsTriedAndReasoned(t *testing.T) {
	t.Parallel()
	for _, r := range rules {
		if !slices.ContainsFunc(plants, func(p plant) bool { return p.rule == r.name && p.want != "" }) {
			t.Errorf("the rule %q has no planted breach", r.name)
		}
		if r.why == "" {
			t.Errorf("the rule %q does not say why", r.name)
		}
	}
	for _, p := range pardons {
		if p.reason == "" || !slices.ContainsFunc(rules, func(r rule) bool { return r.name == p.rule }) {
			t.Errorf("the pardon %+v has no reason, or no rule", p)
		}
	}
}

func TestAPardonForgivesOneFileAndDoesNotOutliveItsBreach(t *testing.T) {
	t.Parallel()
	if len(pardons) == 0 {
		t.Skip("there are no pardons")
	}
	p := pardons[0]
	r := rule{name: p.rule}
	here := breach{pos: token.Position{Filename: p.file}, what: p.what}
	elsewhere := breach{pos: token.Position{Filename: "elsewhere.go"}, what: p.what}
	left, _ := forgive(r, []breach{here, elsewhere})
	if !slices.Equal(left, []breach{elsewhere}) {
		t.Errorf("left after the pardon: %v, want only %v", left, elsewhere)
	}
	if _, idle := forgive(r, nil); !slices.Contains(idle, p) {
		t.Errorf("with nothing to forgive, idle pardons are %v, want %v among them", idle, p)
	}
}

// TestAFolderOfTwoFilesIsReadAsOne makes sure that a variable of one file is known in the other.
func TestAFolderOfTwoFilesIsReadAsOne(t *testing.T) {
	t.Parallel()
	all := tree{fset: token.NewFileSet()}
	for name, code := range map[string]string{
		"uri/a.go": "// Package uri is one.\npackage uri; var count int",
		"uri/b.go": "package uri; func f() { count++ }",
	} {
		must(t, all.add(name, code))
	}
	got := fmt.Sprint(nothingGlobal(all))
	if want := "[uri/b.go:1: the package variable count is written]"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if got := introduced(all); len(got) > 0 {
		t.Errorf("a comment in one of two files is not seen: %v", got)
	}
	if pkg, _, _ := all.check("uri"); pkg == nil || pkg.Scope().Lookup("count") == nil {
		t.Error("the room was not read as one package")
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// documented finds exported names that go doc would show without a comment that starts with the name. A comment on a
// group of constants, variables or types is enough for all of them.
func documented(all tree) []breach {
	var found []breach
	for _, f := range all.files {
		if f.test {
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && shownReceiver(d) && !startsWith(d.Doc, d.Name.Name) {
					found = append(found, all.at(d, "%s has no comment that starts with its name", d.Name.Name))
				}
			case *ast.GenDecl:
				found = append(found, all.undocumented(d)...)
			}
		}
	}
	return found
}

// shownReceiver reports whether go doc shows the type that a method belongs to. It is true for a function.
func shownReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	shown := false
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		shown = shown || ok && id.IsExported()
		return !ok
	})
	return shown
}

// undocumented looks at a declaration of constants, variables or types.
func (all tree) undocumented(d *ast.GenDecl) []breach {
	var found []breach
	for _, spec := range d.Specs {
		var names []*ast.Ident
		var doc, line *ast.CommentGroup
		switch s := spec.(type) {
		case *ast.TypeSpec:
			names, doc, line = []*ast.Ident{s.Name}, s.Doc, s.Comment
		case *ast.ValueSpec:
			names, doc, line = s.Names, s.Doc, s.Comment
		}
		for _, name := range names {
			if !name.IsExported() {
				continue
			}
			grouped := d.Lparen != token.NoPos
			if grouped && (startsWith(d.Doc, "") || startsWith(doc, "") || startsWith(line, "")) || !grouped && startsWith(d.Doc, name.Name) {
				continue
			}
			found = append(found, all.at(name, "%s has no comment that starts with its name", name.Name))
		}
	}
	return found
}

var article = regexp.MustCompile(`^(A|An|The) `)

// startsWith reports whether a comment starts with the name, possibly after an article, and says more than the name.
func startsWith(doc *ast.CommentGroup, name string) bool {
	if doc == nil {
		return false
	}
	text := article.ReplaceAllString(strings.TrimSpace(doc.Text()), "")
	rest, ok := strings.CutPrefix(text, name)
	return ok && rest != "" && (name == "" || strings.ContainsAny(rest[:1], " ,:;.'’\n(["))
}

var (
	sourcePath = regexp.MustCompile("`([a-z][a-zA-Z0-9_./-]*/[a-zA-Z0-9_.-]+\\.go)`")
	mapLink    = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
)

// TestTheDocumentsNameExistingFiles checks the source files and links that the documents name.
func TestTheDocumentsNameExistingFiles(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s names %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			must(t, err)
			for _, m := range sourcePath.FindAllStringSubmatch(string(text), -1) {
				if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
					t.Errorf("%s names %s, which does not exist", file, m[1])
				}
			}
			for _, m := range mapLink.FindAllStringSubmatch(string(text), -1) {
				if strings.Contains(m[1], "`") {
					continue
				}
				if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
					t.Errorf("%s links to %s, which does not exist", file, m[1])
				}
			}
		}
	}
}

// The drop-in of the package permits what docs/rendering.md says, and nothing else.
func TestTheDropInIsTheOneOfTheDocuments(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(filepath.Join(root, "packaging/systemd/rendering.conf"))
	must(t, err)
	var lines []string
	for line := range strings.Lines(string(file)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/rendering.md"))
	must(t, err)
	if block := "```\n" + strings.Join(lines, "\n") + "\n```"; !strings.Contains(string(page), block) {
		t.Errorf("docs/rendering.md does not have the drop-in of the package:\n%s", block)
	}
}

// largestFile is the maximum size of a file of the repository. Fixtures of stores have about 170 KB.
const largestFile = 1 << 20

// A binary in a commit stays in the history permanently, and everybody who clones the repository downloads it.
func TestNoLargeFileIsTracked(t *testing.T) {
	t.Parallel()
	listed, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("git cannot list the files of this tree, which need be no repository: %v", err)
	}
	files := strings.Split(strings.TrimSuffix(string(listed), "\x00"), "\x00")
	if len(files) < 20 {
		t.Fatalf("git lists only %d files: this test looks at the wrong folder", len(files))
	}
	for _, file := range files {
		is, err := os.Lstat(filepath.Join(root, file))
		if err == nil && is.Size() > largestFile {
			t.Errorf("%s has %d bytes: build into bin/ or dist/, which .gitignore names; let a test generate what it needs", file, is.Size())
		}
	}
}
