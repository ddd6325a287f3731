package reference

import (
	"strings"
	"testing"
)

func TestHostFileListsItsKeys(t *testing.T) {
	t.Parallel()
	text := HostFile("www.a.example", []string{"https://www.a.example/"})
	for _, name := range hostKeys {
		if _, key, _ := strings.Cut(name, "."); !strings.Contains(text, key+" = ") {
			t.Errorf("%s is not shown", name)
		}
	}
}
