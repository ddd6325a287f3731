package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const frontier = "../../frontier"

func TestGeneratedFilesAreFresh(t *testing.T) {
	t.Parallel()
	files, err := generate(frontier)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(frontier, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s does not fit the declarations; run: go generate ./frontier", name)
		}
	}
}

// declared is a package with one more field than Record, History and Entry need, and rows.
const declared = `package frontier

type Record struct {
	URI uri.URI ` + "`row:\"1\" export:\"uri\"`" + `
	History
}

type History struct {
	Due time.Time ` + "`row:\"9,due\" export:\"due\"`" + `
	FIELD
}

type Entry struct {
	Record
	Held bool ` + "`row:\"80\" export:\"held\"`" + `
}

type originRow struct{}
type hostRow struct{}
type contenderRow struct {
	PART
}
`

func TestMistakesInADeclarationAreReported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, field, part, want string }{
		{"a field without a name in exports", "Visits int `row:\"10\"`", "", "tag export"},
		{"a key that is used twice", "Visits int `row:\"9\" export:\"visits\"`", "", "key 9 is used twice"},
		{"a name that is used twice", "Visits int `row:\"10\" export:\"due\"`", "", "name due is used twice"},
		{"an unknown type", "Visits int8 `row:\"10\" export:\"visits\"`", "", "does not know the type int8"},
		{"too few keys", "Comparison digest.Comparison `row:\"22\" export:\"comparison\"`", "", "1 keys, want 3"},
		{"a key that is not a number", "Visits int `row:\"ten\" export:\"visits\"`", "", "invalid syntax"},
		{"a part with another key than the whole", "", "Due int64 `cbor:\"8,keyasint,omitempty\"`", "no such field"},
	} {
		dir := t.TempDir()
		source := strings.NewReplacer("FIELD", test.field, "PART", test.part).Replace(declared)
		if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := generate(dir); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want it to say %q", test.name, err, test.want)
		}
	}
}
