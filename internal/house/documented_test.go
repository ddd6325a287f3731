package house_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

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
