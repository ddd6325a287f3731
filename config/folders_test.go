package config

import (
	"slices"
	"testing"
)

func TestFoldersOfSeries(t *testing.T) {
	t.Parallel()
	f := Folders{"/disk1/warc", "embargo=vault", "x/a=b", "embargo=/disk2", "contract=/c=d"}
	f.Resolve(func(path string) string {
		if path[0] != '/' {
			return "/etc/" + path
		}
		return path
	})
	for series, want := range map[string][]string{
		"": {"/disk1/warc", "/etc/x/a=b"}, "embargo": {"/etc/vault", "/disk2"}, "contract": {"/c=d"}, "other": nil,
	} {
		if got := f.Of(series); !slices.Equal(got, want) {
			t.Errorf("the folders of %q are %q, want %q", series, got, want)
		}
	}
	if got, want := f.All(), []string{"/disk1/warc", "/etc/vault", "/etc/x/a=b", "/disk2", "/c=d"}; !slices.Equal(got, want) {
		t.Errorf("all folders are %q, want %q", got, want)
	}
	for _, c := range []struct {
		folders Folders
		good    bool
	}{
		{f, true},
		{Folders{"embargo=/warc/vault"}, false},
		{Folders{"/a", "embargo=/a"}, false},
		{Folders{"other=/a"}, false},
		{make(Folders, maxFolders+1), false},
	} {
		if problem, _ := c.folders.Check("/warc", "/state", []string{"contract", "embargo"}); (problem == "") != c.good {
			t.Errorf("%q: %q", c.folders, problem)
		}
	}
}
