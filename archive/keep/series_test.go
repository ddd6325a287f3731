package keep_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/verify"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// The host of a crawl is in a series with a folder of its own. Its files go there as soon as they are finished,
// although there is space enough; the other files stay. The server of warc.sealed_url gets the name of the series.
func TestASeriesHasAFolderOfItsOwn(t *testing.T) {
	t.Parallel()
	vault := t.TempDir()
	got := make(chan struct{ File, Path, Series string }, 10)
	library := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n struct{ File, Path, Series string }
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		got <- n
	}))
	defer library.Close()
	settings := func(dir, main string) string {
		host := regexp.MustCompile(`127\.0\.0\.1:[1-9]\d+`).FindString(main)
		daemontest.Write(t, filepath.Join(dir, "hosts.d", "site.toml"), "host = \""+host+"\"\n[warc]\nseries = \"embargo\"\n")
		storage := "[storage]\nfolders = [\"embargo=" + vault + "\"]\nfolders_free = \"2MB\"\n"
		return "[warc]\nseries_names = [\"embargo\"]\nsealed_url = \"" + library.URL + "\"\n" +
			strings.Replace(main, "[storage]\n", storage, 1)
	}
	first := crawl(t, settings)
	first.Visited(t)
	if err := first.End(); err != nil {
		t.Fatal(err)
	}
	series, other := "", 0
	for _, file := range first.Files(t) {
		records, err := archivetest.CheckFile(file)
		if err != nil {
			t.Fatal(err)
		}
		apart := strings.HasPrefix(filepath.Base(file), "arcrawl-embargo-")
		if apart {
			series = file
		} else {
			other++
		}
		for _, r := range records[1:] {
			if isConfiguration := strings.HasPrefix(r.Target(), "urn:arcrawl:configuration"); isConfiguration == apart {
				t.Errorf("%s is in %s", r.Target(), file)
			}
		}
	}
	if series == "" || other != 1 {
		t.Fatalf("the files are %q", first.Files(t))
	}

	second := first.Again(t, wings(), func(dir, main string) string {
		settings(dir, main[strings.Index(main, "[seeds]"):]) // the host file again
		return main
	})
	begin, moved := time.Now(), false
	for !moved && time.Since(begin) < daemontest.Patience {
		time.Sleep(10 * time.Millisecond)
		info, err := os.Lstat(series)
		moved = err == nil && info.Mode()&os.ModeSymlink != 0
	}
	if to, err := os.Readlink(series); err != nil || filepath.Dir(to) != vault {
		t.Errorf("the file of the series is at %q, %v", to, err)
	}
	for range first.Files(t) {
		select {
		case n := <-got:
			if want := strings.HasPrefix(n.File, "arcrawl-embargo-"); (n.Series == "embargo") != want {
				t.Errorf("the library received %+v", n)
			}
		case <-time.After(daemontest.Patience):
			t.Fatal("the library did not receive all files")
		}
	}
	client, o := api.NewClient(filepath.Join(second.Dir, "state", "admin.sock")), api.Offload{}
	for len(o.Folders) == 0 && time.Since(begin) < daemontest.Patience { // the status follows the move
		status, err := client.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o = status.Archive.Offload
	}
	if len(o.Folders) != 1 || o.Since != nil {
		t.Errorf("the status has %+v", o)
	}
	if err := second.End(); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"is lost", "lost WARC", "changed since", "not in their folder"} {
		if strings.Contains(second.Text(), wrong) {
			t.Errorf("a moved file is taken for lost or changed:\n%s", second.Text())
		}
	}
	for _, dir := range []string{filepath.Join(second.Dir, "warc"), vault} {
		sum, err := verify.Files(t.Context(), []string{dir}, verify.Options{}, func(f warc.Finding) error {
			t.Error(f.Error())
			return nil
		})
		if err != nil || sum.Records["response"] == 0 {
			t.Errorf("%s: %+v, %v", dir, sum, err)
		}
	}
}
