package keep_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/keep"
	"github.com/arcrawl/arcrawl/archive/verify"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// The WARC files of a crawl are moved to another folder. The next start takes none for lost or changed, shows the
// folder, and verify reads the files there.
func TestARestartFindsFilesInFurtherFolders(t *testing.T) {
	t.Parallel()
	first := crawl(t)
	first.Visited(t)
	if err := first.End(); err != nil {
		t.Fatal(err)
	}
	further := t.TempDir()
	files := first.Files(t)
	m := keep.Mover{
		Dir: filepath.Join(first.Dir, "warc"), Folders: []string{further}, Keep: 10, StateDir: t.TempDir(),
		Free: func(folder string) (int64, error) {
			if folder == further {
				return 1 << 40, nil
			}
			return 0, nil
		},
		Now: time.Now, Log: zerolog.Nop(),
	}
	m.Step(t.Context())
	for _, file := range files {
		if info, err := os.Lstat(file); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Fatalf("%s was not moved: %v, %+v", file, err, m.State())
		}
	}
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer busy.Close()
	if err := os.Mkdir(filepath.Join(first.Dir, "secrets"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(first.Dir, "secrets", "s3"), []byte("reader:swordfish"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := first.Again(t, wings(), func(_, main string) string {
		upload := "[upload]\nendpoint = \"" + busy.URL + "\"\nbucket = \"web-archive\"\nsecret = \"file:s3\"\n"
		storage := "[storage]\nfolders = [\"" + further + "\"]\nfolders_free = \"900TB\"\n"
		return upload + strings.Replace(main, "[storage]\n", storage, 1)
	})
	l.WaitFor(t, "serving the admin API")
	var o api.Offload
	begin := time.Now()
	for (len(o.Folders) == 0 || o.Upload.Since == nil) && time.Since(begin) < daemontest.Patience {
		time.Sleep(10 * time.Millisecond)
		status, err := api.NewClient(filepath.Join(l.Dir, "state", "admin.sock")).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o = status.Archive.Offload
	}
	if len(o.Folders) != 1 || o.Folders[0].Files != len(files) || o.Since != nil {
		t.Errorf("the status has %+v", o)
	}
	if u := o.Upload; u == nil || u.Waiting != len(files) || u.Bucket != busy.URL+"/web-archive" || u.Error == "" {
		t.Errorf("the status has the upload %+v", u)
	}
	for _, wrong := range []string{"is lost", "lost WARC", "changed since", "not in their folder"} {
		if strings.Contains(l.Text(), wrong) {
			t.Errorf("a moved file is taken for lost or changed:\n%s", l.Text())
		}
	}
	if err := l.End(); err != nil {
		t.Fatal(err)
	}
	sum, err := verify.Files(t.Context(), []string{filepath.Join(l.Dir, "warc")}, verify.Options{}, func(f warc.Finding) error { t.Error(f.Error()); return nil })
	if err != nil || sum.Records["response"] == 0 {
		t.Errorf("%+v, %v", sum, err)
	}
}
