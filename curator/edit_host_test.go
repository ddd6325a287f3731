package curator

import (
	"errors"
	"testing"
)

func TestRenameHostReplacesTheHostAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, before, after string
		named               bool
	}{
		{
			"seeds on the host",
			"# about www.a.example\n[seeds]\nuris = [\n  \"https://www.a.example/\", # front page\n  'https://www.a.example/x?u=www.a.example',\n  \"https://b.example/\",\n]\n",
			"# about www.a.example\n[seeds]\nuris = [\n  \"https://www.c.example/\", # front page\n  'https://www.c.example/x?u=www.a.example',\n  \"https://b.example/\",\n]\n",
			true,
		},
		{"the key host", "host = 'www.a.example'\n[wait]\n", "host = \"www.c.example\"\n[wait]\n", true},
		{"a file whose name is not enough", "[wait]\n", "host = \"www.c.example\"\n[wait]\n", false},
	} {
		got, err := replaceHost([]byte(c.before), "www.a.example", "www.c.example", c.named)
		if err != nil || string(got) != c.after {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, c.after)
		}
	}
	escaped := "[seeds]\nuris = [\"https://www.a.example/\\u0061\"]\n"
	if got, err := replaceHost([]byte(escaped), "www.a.example", "www.c.example", true); !errors.Is(err, errByHandRename) {
		t.Errorf("a seed that is written with escapes: %v\n%s", err, got)
	}
	if _, err := replaceHost([]byte("[seeds\n"), "www.a.example", "www.c.example", true); err == nil {
		t.Error("a faulty file was renamed")
	}
}
