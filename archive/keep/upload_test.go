package keep_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/keep"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/archivetest"
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
	build.Dir = filepath.Join("..", "..", "internal", "fakes3")
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	archivetest.Must(t, err)
	address := l.Addr().String()
	archivetest.Must(t, l.Close())
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
	*keep.Uploader
	log bytes.Buffer
}

func open(t *testing.T, lib *archivetest.Archive, state string, to config.Upload, now *time.Time) *uploads {
	t.Helper()
	u := &uploads{}
	u.Uploader = &keep.Uploader{
		Dir: lib.Dir, State: state, Bucket: to, Now: func() time.Time { return *now }, Log: zerolog.New(&u.log),
	}
	archivetest.Must(t, u.Open(fetch.OwnServers()))
	return u
}

// The server is down at first, the daemon is restarted, and then each file gets there once, whole.
func TestEveryFinishedFileIsUploadedOnce(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	t.Run("gofakes3", func(t *testing.T) { t.Parallel(); everyFileOnce(t, startServer(t)) })
	t.Run("moto", func(t *testing.T) { t.Parallel(); everyFileOnce(t, startMoto(t)) })
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
	list, err := os.OpenFile(filepath.Join(lib.Dir, keep.ListName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
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
	moved, err := fixity.Elsewhere([]string{filepath.Join(lib.Dir, keep.ListName)})
	if err != nil || len(moved) != 3 {
		t.Errorf("the list names %v, %v", moved, err)
	}
}

// Servers take at most 5 GiB in one request. A larger file is sent in parts, and compared like all others.
func TestALargeFileIsSentInParts(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	t.Run("gofakes3", func(t *testing.T) { t.Parallel(); largeFile(t, startServer(t)) })
	t.Run("moto", func(t *testing.T) { t.Parallel(); largeFile(t, startMoto(t)) })
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
	u.SendInParts(5 << 20) // the smallest part that servers take
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
	if text := archivetest.Read(t, filepath.Join(lib.Dir, keep.ListName)); strings.Count(text, "\n") != 1 {
		t.Errorf("the list of uploaded files is %q", text)
	}
}

// What differs is not overwritten, and does not count as uploaded.
func TestAnUploadIsCompared(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	t.Run("gofakes3", func(t *testing.T) { t.Parallel(); compared(t, startServer(t)) })
	t.Run("moto", func(t *testing.T) { t.Parallel(); compared(t, startMoto(t)) })
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
