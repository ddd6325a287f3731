package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/demosite"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// server is an S3-compatible server, and what happens on the way to it.
type server struct {
	*httptest.Server
	down     bool // it answers 503
	corrupts bool // what is read from it differs
	puts     []string
	signed   int // requests with a signature
}

// startServer starts a server with the bucket web-archive.
func startServer(t *testing.T) *server {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fakes3")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "internal", "fakes3")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), program, "web-archive")
	in, err := cmd.StdinPipe()
	archivetest.Must(t, err)
	out, err := cmd.StdoutPipe()
	archivetest.Must(t, err)
	archivetest.Must(t, cmd.Start())
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	archivetest.Must(t, err)
	return inFrontOf(t, strings.TrimSpace(line))
}

// startMoto starts moto, an imitation of Amazon's services by other authors, with the bucket web-archive.
func startMoto(t *testing.T) *server {
	t.Helper()
	program, err := exec.LookPath("moto_server")
	if err != nil {
		t.Skipf("NOT RUN: moto is not installed (pip install 'moto[server]'): %v", err)
	}
	address, err := demosite.FreeAddress()
	archivetest.Must(t, err)
	_, port, err := net.SplitHostPort(address)
	archivetest.Must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "-H", "127.0.0.1", "-p", port)
	cmd.Env = append(os.Environ(), "S3_IGNORE_SUBDOMAIN_BUCKETNAME=true", "MOTO_S3_CUSTOM_ENDPOINTS=http://"+address)
	archivetest.Must(t, cmd.Start())
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	address = "http://" + address
	for giveUp := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPut, address+"/web-archive", http.NoBody)
		archivetest.Must(t, err)
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			archivetest.Must(t, answer.Body.Close())
			if answer.StatusCode != http.StatusOK {
				t.Fatalf("moto answers %s to a new bucket", answer.Status)
			}
			return inFrontOf(t, address)
		}
		if time.Now().After(giveUp) {
			t.Fatalf("moto does not answer: %v", err)
		}
	}
}

// inFrontOf returns a server that passes requests on.
func inFrontOf(t *testing.T, address string) *server {
	t.Helper()
	to, err := url.Parse(address)
	archivetest.Must(t, err)
	s := &server{}
	pass := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
		ModifyResponse: func(r *http.Response) error {
			if s.corrupts && r.Request.Method == http.MethodGet && r.StatusCode == http.StatusOK {
				text, err := io.ReadAll(r.Body)
				text[len(text)/2] ^= 1
				r.Body = io.NopCloser(bytes.NewReader(text))
				return err
			}
			return nil
		},
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=reader/") {
			s.signed++
		}
		if s.down {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		if r.Method == http.MethodPut {
			s.puts = append(s.puts, r.URL.Path+" "+r.Header.Get("X-Amz-Content-Sha256"))
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// object returns what the server has at a path.
func (s *server) object(t *testing.T, path string) string {
	t.Helper()
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, http.NoBody)
	archivetest.Must(t, err)
	ask.Header.Set("Authorization", "AWS anybody:anything") // moto shows nothing to strangers
	r, err := http.DefaultClient.Do(ask)
	archivetest.Must(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	archivetest.Must(t, err)
	return string(text)
}

// bucket returns the bucket that a configuration names.
func bucket(t *testing.T, endpoint string) config.Upload {
	t.Helper()
	dir := t.TempDir()
	archivetest.Must(t, os.Mkdir(filepath.Join(dir, "secrets"), 0o700))
	archivetest.Must(t, os.WriteFile(filepath.Join(dir, "secrets", "s3"), []byte("reader:swordfish"), 0o600))
	path := filepath.Join(dir, "arcrawl.toml")
	text := fmt.Sprintf("[operator]\nname = \"Library\"\ncontact = \"https://library.example/\"\n[upload]\n"+
		"endpoint = %q\nbucket = \"web-archive\"\nprefix = \"crawl/\"\nsecret = \"file:s3\"\n", endpoint)
	archivetest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	c, err := config.Load(path)
	archivetest.Must(t, err)
	return c.Upload
}

// uploads is an uploader of an archive, with a clock and a state folder that outlive it.
type uploads struct {
	*uploader
	log bytes.Buffer
}

func open(t *testing.T, lib *archivetest.Archive, state string, to config.Upload, now *time.Time) *uploads {
	t.Helper()
	u := &uploads{}
	u.uploader = &uploader{
		Dir: lib.Dir, State: state, Bucket: to, Now: func() time.Time { return *now }, Log: zerolog.New(&u.log),
	}
	archivetest.Must(t, u.Open(fetch.OwnServers()))
	return u
}

// The server is down at first, the daemon is restarted, and then each file gets there once, whole.
func TestEveryFinishedFileIsUploadedOnce(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	withEachServer(t, everyFileOnce)
}

// withEachServer runs a test with the servers of two authors.
func withEachServer(t *testing.T, test func(*testing.T, *server)) {
	t.Helper()
	t.Run("gofakes3", func(t *testing.T) { t.Parallel(); test(t, startServer(t)) })
	t.Run("moto", func(t *testing.T) { t.Parallel(); test(t, startMoto(t)) })
}

func everyFileOnce(t *testing.T, s *server) {
	t.Helper()
	lib, _ := archive(t)
	state, to, now := t.TempDir(), bucket(t, s.URL), archivetest.Start
	s.down = true
	u := open(t, lib, state, to, &now)
	first := u.Step(t.Context())
	second := u.Step(t.Context())
	if first != 30*time.Second || second != first || s.signed == 0 {
		t.Errorf("after a failure it waits %s, and then %s; %d signed requests", first, second, s.signed)
	}
	now = now.Add(first)
	if third := u.Step(t.Context()); third != time.Minute {
		t.Errorf("after two failures it waits %s", third)
	}
	if n := u.Shown(); n.Waiting != 3 || n.Done != 0 || n.Since == nil || !n.Since.Equal(archivetest.Start) || n.Error == "" {
		t.Errorf("shown is %+v", n)
	}
	s.down = false
	u = open(t, lib, state, to, &now) // a restart is no reason to try sooner
	if wait := u.Step(t.Context()); wait != time.Minute || u.Shown().Since == nil || u.Shown().Error == "" {
		t.Errorf("after the restart it waits %s, and shows %+v", wait, u.Shown())
	}
	now = now.Add(time.Minute)
	list, err := os.OpenFile(filepath.Join(lib.Dir, uploadList), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	archivetest.Must(t, err)
	_, err = list.WriteString(`{"file":"cut-by-a-crash`)
	archivetest.Must(t, errors.Join(err, list.Close()))
	u.Step(t.Context())
	u = open(t, lib, state, to, &now)
	u.Step(t.Context())
	if n := u.Shown(); n.Waiting != 0 || n.Done != 3 || n.Since != nil || n.Error != "" || len(s.puts) != 3 {
		t.Fatalf("shown is %+v after %q; %s", n, s.puts, &u.log)
	}
	m, err := fixity.Read(lib.Dir)
	archivetest.Must(t, err)
	for i, e := range m.Entries {
		path := "/web-archive/crawl/" + e.File
		if got := s.object(t, path); got != archivetest.Read(t, filepath.Join(lib.Dir, e.File)) {
			t.Errorf("the object %s has %d bytes", path, len(got))
		}
		if s.puts[i] != path+" "+e.SHA256 { // oldest first, signed with the digest of the manifest
			t.Errorf("upload %d was %s", i, s.puts[i])
		}
	}
	// The list of uploads can name the place of the files, if they are removed here.
	moved, err := fixity.Elsewhere([]string{filepath.Join(lib.Dir, uploadList)})
	if err != nil || len(moved) != 3 {
		t.Errorf("the list names %v, %v", moved, err)
	}
}

// Servers take at most 5 GiB in one request. A larger file is sent in parts, and compared like all others.
func TestALargeFileIsSentInParts(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	withEachServer(t, largeFile)
}

func largeFile(t *testing.T, s *server) {
	t.Helper()
	lib := archivetest.New(t)
	body := make([]byte, 11<<20)
	rand.NewChaCha8([32]byte{1}).Read(body) //nolint:errcheck // it never fails
	lib.Page("http://a.example/film", archivetest.HTMLHead, string(body))
	lib.Seal()
	list(t, lib)
	now := archivetest.Start
	u := open(t, lib, t.TempDir(), bucket(t, s.URL), &now)
	u.largest = 5 << 20 // the smallest part that servers take
	u.Step(t.Context())
	if n := u.Shown(); n.Done != 1 || n.Error != "" || len(s.puts) != 3 {
		t.Errorf("shown is %+v after %q; %s", n, s.puts, &u.log)
	}
	file := lib.Files()[0]
	for _, put := range s.puts {
		if _, sum, _ := strings.Cut(put, " "); len(sum) != 64 { // signed with the SHA-256 of the part
			t.Errorf("a part was sent as %s", put)
		}
	}
	if s.object(t, "/web-archive/crawl/"+filepath.Base(file)) != archivetest.Read(t, file) {
		t.Error("the object differs from the file")
	}
	if text := archivetest.Read(t, filepath.Join(lib.Dir, uploadList)); strings.Count(text, "\n") != 1 {
		t.Errorf("the list of uploaded files is %q", text)
	}
}

// What differs is not overwritten, and does not count as uploaded.
func TestAnUploadIsCompared(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	withEachServer(t, compared)
}

func compared(t *testing.T, s *server) {
	t.Helper()
	lib, _ := archive(t)
	files := lib.Files()
	now, state := archivetest.Start, t.TempDir()
	u := open(t, lib, state, bucket(t, s.URL), &now)
	step := func(want string, done, puts int) {
		t.Helper()
		now = now.Add(2 * time.Hour)
		u.Step(t.Context())
		if n := u.Shown(); !strings.Contains(n.Error, want) || (n.Error == "") != (want == "") || n.Done != done {
			t.Errorf("shown is %+v, want %q and %d files", n, want, done)
		}
		if len(s.puts) != puts {
			t.Errorf("%d objects were written, want %d", len(s.puts), puts)
		}
	}
	s.corrupts = true
	step("nothing is overwritten", 0, 1)
	step("nothing is overwritten", 0, 1)
	s.corrupts = false // the object itself is right: it is not sent again
	good := archivetest.Read(t, files[1])
	archivetest.Must(t, os.WriteFile(files[1], []byte(good[:60]+"x"+good[61:]), 0o600))
	step("", 2, 2)
	if n := u.Shown(); n.Skipped != 1 || !strings.Contains(u.log.String(), "is gone or was changed") {
		t.Errorf("a file that was changed here counts as uploaded: %+v\n%s", n, &u.log)
	}
	if got := s.object(t, "/web-archive/crawl/"+filepath.Base(files[1])); !strings.Contains(got, "NoSuchKey") {
		t.Errorf("the changed file was uploaded: %.100q", got)
	}
	if strings.Contains(u.log.String()+u.Shown().Error, "swordfish") {
		t.Error("the secret is shown")
	}
}

// A file whose disk is away is not given up, and an answer without end ends.
func TestAnUploadWaitsForADiskAndNotForAServer(t *testing.T) {
	t.Parallel()
	lib, _ := archive(t)
	first := lib.Files()[0]
	disk := filepath.Join(t.TempDir(), "disk")
	archivetest.Must(t, os.Mkdir(disk, 0o700))
	moved := filepath.Join(disk, filepath.Base(first))
	archivetest.Must(t, os.Rename(first, moved))
	archivetest.Must(t, os.Symlink(moved, first))
	archivetest.Must(t, os.Rename(disk, disk+"-away"))
	has := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !has:
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodHead:
			w.Header().Set("Last-Modified", "Mon, 02 Nov 2026 15:04:05 GMT")
		default: // what it has never ends
			w.Header().Set("Last-Modified", "Mon, 02 Nov 2026 15:04:05 GMT")
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}
	}))
	defer s.Close()
	now := archivetest.Start
	u := open(t, lib, t.TempDir(), bucket(t, s.URL), &now)
	u.Step(t.Context())
	if n := u.Shown(); n.Skipped != 0 || n.Waiting != 3 || !strings.Contains(n.Error, "is that disk mounted?") {
		t.Errorf("without the disk %+v is shown\n%s", n, &u.log)
	}
	archivetest.Must(t, os.Rename(disk+"-away", disk))
	has, now = true, now.Add(time.Hour)
	u.Step(t.Context())
	if n := u.Shown(); n.Done != 0 || !strings.Contains(n.Error, "nothing is overwritten") {
		t.Errorf("with an object without end %+v is shown", n)
	}
}

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
		filepath.Join(lib.Dir, uploadList), s.URL), 0o600))
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
	err := deleteUploaded(t.Context(), o.conf.Path, files, false, time.Now, &out, &out)
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
	m, log := newMover(t, o.lib, 0, 0, 1<<40, 1<<40)
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
	list := strings.Split(archivetest.Read(t, filepath.Join(o.lib.Dir, uploadList)), "\n")
	in := func(name, place string) bool {
		return slices.ContainsFunc(list, func(l string) bool {
			return strings.Contains(l, name) && strings.Contains(l, `"`+place+`"`)
		})
	}
	if first := filepath.Base(files[0]); in(first, bucketOf(to)) || !in(first, bucketOf(o.conf.Upload)) ||
		!in(filepath.Base(files[1]), bucketOf(to)) {
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

// Root deletes the first file. The daemon, which is another user, can lock files afterwards.
func TestTheLockFileOfRootBelongsToTheDaemon(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	const daemon = 12345
	if err := os.Chown(folder, daemon, daemon); err != nil {
		t.Skipf("run this test as root: %v", err)
	}
	unlock, err := lockFiles(folder)
	archivetest.Must(t, err)
	archivetest.Must(t, unlock())
	info, err := os.Stat(filepath.Join(folder, "offload.lock"))
	archivetest.Must(t, err)
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Uid != daemon || s.Gid != daemon {
		t.Errorf("the owner of the lock file is %+v, want the owner of its folder, %d", info.Sys(), daemon)
	}
}
