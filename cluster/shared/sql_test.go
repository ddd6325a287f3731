package shared

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/sql.txt")

const sqlHead = `The SQL that arcrawl sends to the database of a cluster, by file and function, and what it needs beyond standard SQL.
go test ./cluster/shared -run TestAllSQLIsListed -update writes this list. … is what a variable holds: the name of a
table, a condition or a number. pgx adds BEGIN, COMMIT, ROLLBACK and SHOW transaction_read_only, and prepares statements.
With [not needed], arcrawl asks at start whether the engine has it, or does without it when it is refused. Each session
begins with the settings of connect.go: limits of time, and its name.
`

// beyond lists patterns of what the standard of SQL does not have.
var beyond = []struct{ name, pattern string }{
	{"ON CONFLICT", `ON CONFLICT`},
	{"RETURNING", `RETURNING`},
	{"DELETE with USING", `DELETE FROM .* USING`},
	{"FOR UPDATE", `FOR UPDATE`},
	{"LIMIT", `\bLIMIT\b`},
	{"casts with ::", `::`},
	{"arrays", `\[\]|ANY\(|ARRAY\(`},
	{"unnest of several arrays", `unnest\(\$\d[^)]*,`},
	{"SET LOCAL", `SET LOCAL`},
	{"IF NOT EXISTS", `IF NOT EXISTS`},
	{"bytea and text", `^CREATE TABLE .*\b(bytea|text)\b`},
	{"WITH (fillfactor) [may be ignored]", `fillfactor`},
	{"TRUNCATE in a transaction [not needed]", `TRUNCATE`},
	{"sizes [not needed]", `pg_total_relation_size`},
	{"standbys [not needed]", `pg_stat_replication|synchronous_standby_names`},
	{"sessions and locks [not needed]", `pg_terminate_backend`},
}

// avoided finds what only PostgreSQL has, or what other engines do in another way.
var avoided = regexp.MustCompile(`WITH TIES|FOR (NO KEY|KEY|SHARE)|SKIP LOCKED|NOWAIT|advisory|\b(LISTEN|NOTIFY|TEMP|TEMPORARY|SEQUENCE|SERIAL)\b|` +
	`PARTITION|generate_series|array_agg|SELECT FROM|AS \( ?(INSERT|UPDATE|DELETE)|nextval|now\(\)|\bctid\b`)

// TestAllSQLIsListed compares the SQL of this package, which is all that there is, with a list of it.
func TestAllSQLIsListed(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	list.WriteString(sqlHead)
	files, err := filepath.Glob("*.go")
	must(t, err)
	texts := map[string]ast.Expr{} // of constants and variables
	var parsed []*ast.File
	set := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		must(t, err)
		parsed = append(parsed, file)
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.ValueSpec); ok && len(s.Names) == len(s.Values) {
				for i, name := range s.Names {
					texts[name.Name] = s.Values[i]
				}
			}
			_, local := n.(*ast.FuncDecl)
			return !local
		})
	}
	begin := regexp.MustCompile(`^(SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|DROP|SET|SHOW|TRUNCATE) `)
	for _, file := range parsed {
		for _, d := range file.Decls {
			where := filepath.Base(set.Position(d.Pos()).Filename)
			if f, ok := d.(*ast.FuncDecl); ok {
				where += ", " + f.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				text := strings.Join(strings.Fields(textOf(e, texts)), " ")
				if _, name := e.(*ast.Ident); name || !begin.MatchString(text) {
					return true
				}
				var needs []string
				for _, b := range beyond {
					if regexp.MustCompile(b.pattern).MatchString(text) {
						needs = append(needs, b.name)
					}
				}
				if found := avoided.FindString(text); found != "" {
					t.Errorf("%s: %s: other engines lack %q", where, text, found)
				}
				fmt.Fprintf(&list, "\n%s: %s\n", where, strings.Join(needs, ", "))
				for line := ""; text != ""; {
					end := len(text)
					if end > 110 {
						end = strings.LastIndexByte(text[:110], ' ') + 1
					}
					line, text = text[:end], text[end:]
					fmt.Fprintf(&list, "    %s\n", strings.TrimSpace(line))
				}
				return false
			})
		}
	}
	const path = "testdata/sql.txt"
	if *update {
		must(t, os.WriteFile(path, []byte(list.String()), 0o666))
	}
	if is, _ := os.ReadFile(path); string(is) != list.String() {
		t.Errorf("%s is not up to date: run go test ./cluster/shared -run TestAllSQLIsListed -update", path)
	}
}

// textOf returns the text of an expression; "…" stands for what is not known.
func textOf(e ast.Expr, texts map[string]ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return textOf(e.X, texts) + textOf(e.Y, texts)
	case *ast.Ident:
		if of := texts[e.Name]; of != nil && of != ast.Expr(e) {
			return textOf(of, texts)
		}
	}
	return "…"
}
