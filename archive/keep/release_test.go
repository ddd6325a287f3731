package keep_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/keep"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// offloading is an archive of three uploaded files, whose configuration allows to delete them here.
type offloading struct {
	lib  *archivetest.Archive
	conf *config.Config
	disk string // the folder of storage.folders
}

// newOffloading returns an archive whose files have been uploaded to a server, which answers like MinIO. first is the
// page in the first file.
func newOffloading(t *testing.T, first string) *offloading {
	t.Helper()
	lib := archivetest.New(t)
	for _, body := range []string{first, "<p>two</p>", "<p>three</p>"} {
		lib.Page("http://a.example/page", archivetest.HTMLHead, body)
		lib.Seal()
	}
	list(t, lib)
	dir := t.TempDir()
	s := httptest.NewServer(bucketFolder(filepath.Join(dir, "objects")))
	t.Cleanup(s.Close)
	for _, d := range []string{"secrets", "disk", "objects", "state"} {
		archivetest.Must(t, os.Mkdir(filepath.Join(dir, d), 0o700))
	}
	archivetest.Must(t, os.WriteFile(filepath.Join(dir, "secrets", "s3"), []byte("reader:swordfish"), 0o600))
	path := filepath.Join(dir, "arcrawl.toml")
	archivetest.Must(t, os.WriteFile(path, fmt.Appendf(nil, "[operator]\nname = \"Library\"\n"+
		"contact = \"https://library.example/\"\n[storage]\nwarc = %q\nstate = %q\nfolders = [%q]\nelsewhere = [%q]\n"+
		"[upload]\nendpoint = %q\nbucket = \"web\"\nsecret = \"file:s3\"\n", lib.Dir, filepath.Join(dir, "state"), filepath.Join(dir, "disk"),
		filepath.Join(lib.Dir, keep.ListName), s.URL), 0o600))
	c, err := config.Load(path)
	archivetest.Must(t, err)
	o := &offloading{lib, c, filepath.Join(dir, "disk")}
	now := archivetest.Start
	u := open(t, lib, c.Storage.State, c.Upload, &now)
	u.Step(t.Context())
	if n := u.Shown(); n.Done != 3 || n.Error != "" {
		t.Fatalf("the upload is %+v", n)
	}
	return o
}

// bucketFolder serves and takes the objects of the bucket "web", which are files of a folder.
func bucketFolder(folder string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Last-Modified", "Mon, 02 Nov 2026 15:04:05 GMT")
		path := filepath.Join(folder, filepath.Base(r.URL.Path))
		if r.Method != http.MethodPut {
			http.ServeFile(w, r, path)
			return
		}
		text, err := io.ReadAll(r.Body)
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
}

// delete runs the command for some files and returns what it says.
func (o *offloading) delete(t *testing.T, files ...string) string {
	t.Helper()
	var out strings.Builder
	err := keep.Delete(t.Context(), o.conf.Path, files, false, time.Now, &out, &out)
	return fmt.Sprint(out.String(), err)
}

// A crash between the copy and the link leaves a file in two folders, and one while copying a part of it. Deleting the
// file leaves neither, whichever of the two is named, but nothing that differs from the manifest is deleted.
func TestCopiesOfAnInterruptedMoveAreDeletedToo(t *testing.T) {
	t.Parallel()
	o := newOffloading(t, "<p>one</p>")
	files := o.lib.Files()
	left := func(i int, suffix, text string) string {
		path := filepath.Join(o.disk, filepath.Base(files[i])) + suffix
		archivetest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	copy0, part0 := left(0, "", archivetest.Read(t, files[0])), left(0, ".part", "half of it")
	copy1 := left(1, "", archivetest.Read(t, files[1]))
	other := left(2, "", "another file")
	if says := o.delete(t, files[0], copy1); !strings.Contains(says, "2 files of") {
		t.Errorf("of a file and of a copy: %s", says)
	}
	if says := o.delete(t, files[2]); !strings.Contains(says, other) || !strings.Contains(says, "was changed") {
		t.Errorf("with another file of this name: %s", says)
	}
	for path, want := range map[string]bool{
		files[0]: false, copy0: false, part0: false, files[1]: false, copy1: false, files[2]: true, other: true,
	} {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) == want {
			t.Errorf("%s is there: %v, want %v", path, !want, want)
		}
	}
	// A copy whose file was deleted is all that is left.
	text := archivetest.Read(t, files[2])
	archivetest.Must(t, errors.Join(os.Remove(files[2]), os.WriteFile(other, []byte(text), 0o600)))
	if says := o.delete(t, other); !strings.Contains(says, "1 file of") || len(names(t, o.disk)) != 0 {
		t.Errorf("of a copy without its file: %s; left are %q", says, names(t, o.disk))
	}
}

// during is a context that calls a function once while a file is copied.
type during struct {
	context.Context
	part string
	do   func()
}

func (d *during) Err() error {
	if _, err := os.Stat(d.part); err == nil && d.do != nil {
		do := d.do
		d.do = nil
		do()
	}
	return d.Context.Err()
}

// A file that is deleted here while it is moved to another folder does not come back.
func TestAFileThatIsDeletedWhileItMovesStaysDeleted(t *testing.T) {
	t.Parallel()
	film := make([]byte, 3<<20)             // a file that is not copied at once
	rand.NewChaCha8([32]byte{1}).Read(film) //nolint:errcheck // it never fails
	o := newOffloading(t, string(film))
	file := o.lib.Files()[0]
	name := filepath.Base(file)
	m, log := mover(t, o.lib, 0, 0, 1<<40, 1<<40)
	m.Folders, m.StateDir = []string{o.disk}, o.conf.Storage.State
	m.Free = func(folder string) (int64, error) {
		if _, err := os.Lstat(file); folder != o.disk && err == nil && len(names(t, o.disk)) == 0 {
			return 0, nil // only the first file must move
		}
		return 1 << 40, nil
	}
	ctx := &during{t.Context(), filepath.Join(o.disk, name+".part"), func() {
		if says := o.delete(t, file); !strings.Contains(says, "1 file of") {
			t.Errorf("deleting while the file moves: %s", says)
		}
	}}
	m.Step(ctx)
	if ctx.do != nil {
		t.Fatal("no file was moved")
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) || len(names(t, o.disk)) != 0 {
		t.Errorf("the file is back: %v, %q in the other folder\n%s", err, names(t, o.disk), log)
	}
	if s := m.State(); s.Error != "" {
		t.Errorf("the step failed: %s", s.Error)
	}
}

// The list of uploaded files names the earlier bucket, in which deleted files are. They are not called gone.
func TestDeletedFilesAreInTheEarlierBucket(t *testing.T) {
	t.Parallel()
	o := newOffloading(t, "<p>one</p>")
	files := o.lib.Files()
	if says := o.delete(t, files[0], files[1]); !strings.Contains(says, "2 files of") {
		t.Fatal(says)
	}
	// The operator has copied one of them to the new bucket.
	objects := t.TempDir()
	earlier := filepath.Join(filepath.Dir(o.conf.Path), "objects", filepath.Base(files[1]))
	archivetest.Must(t, os.WriteFile(filepath.Join(objects, filepath.Base(files[1])),
		[]byte(archivetest.Read(t, earlier)), 0o600))
	s := httptest.NewServer(bucketFolder(objects))
	defer s.Close()
	to := o.conf.Upload
	to.Endpoint = s.URL
	now := archivetest.Start
	u := open(t, o.lib, o.conf.Storage.State, to, &now)
	u.Step(t.Context())
	n := u.Shown()
	if n.Done != 2 || n.Earlier != 1 || n.Skipped != 0 || n.Waiting != 0 || n.Error != "" {
		t.Errorf("shown is %+v", n)
	}
	log := u.log.String()
	if strings.Contains(log, "gone") || !strings.Contains(log, `"files":1`) || strings.Count(log, "earlier bucket") != 1 {
		t.Errorf("the log is %s", log)
	}
	list := strings.Split(archivetest.Read(t, filepath.Join(o.lib.Dir, keep.ListName)), "\n")
	in := func(name, place string) bool {
		return slices.ContainsFunc(list, func(l string) bool {
			return strings.Contains(l, name) && strings.Contains(l, `"`+place+`"`)
		})
	}
	if first := filepath.Base(files[0]); in(first, to.Place()) || !in(first, o.conf.Upload.Place()) ||
		!in(filepath.Base(files[1]), to.Place()) {
		t.Errorf("the list of uploaded files is %q", list)
	}
	m, err := fixity.Read(o.lib.Dir)
	if err != nil || len(m.Entries) != 3 {
		t.Error(m, err)
	}
	again := open(t, o.lib, o.conf.Storage.State, to, &now)
	again.Step(t.Context())
	if n := again.Shown(); n.Earlier != 1 || again.log.Len() != 0 {
		t.Errorf("after a restart %+v is shown\n%s", n, &again.log)
	}
}

// The bucket has lost a file that was deleted here. No earlier bucket has it, so it is called gone.
func TestAFileThatTheBucketLostIsGone(t *testing.T) {
	t.Parallel()
	o := newOffloading(t, "<p>one</p>")
	file := o.lib.Files()[0]
	if says := o.delete(t, file); !strings.Contains(says, "1 file of") {
		t.Fatal(says)
	}
	state := o.conf.Storage.State
	archivetest.Must(t, errors.Join(
		os.Remove(filepath.Join(filepath.Dir(o.conf.Path), "objects", filepath.Base(file))),
		os.Remove(filepath.Join(state, "upload.json"))))
	now := archivetest.Start
	u := open(t, o.lib, state, o.conf.Upload, &now)
	u.Step(t.Context())
	if n := u.Shown(); n.Skipped != 1 || n.Earlier != 0 || n.Done != 2 || !strings.Contains(u.log.String(), "gone") {
		t.Errorf("shown is %+v; the log is %s", n, &u.log)
	}
}
