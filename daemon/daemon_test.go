package daemon_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// TestMain checks that no goroutine is left after a daemon has stopped.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestADaemonVisitsAndArchives(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t)
	l.Visited(t)
	l.WaitFor(t, "READY=1\nSTATUS=crawling", "serving the admin API")
	status, err := api.NewClient(filepath.Join(l.Dir, "state", "admin.sock")).Status(t.Context())
	if err != nil || status.Version != "test" {
		t.Errorf("the socket answers %+v, %v", status, err)
	}
	if err := l.End(); err != nil {
		t.Errorf("Run returned %v, want nil after a stop", err)
	}
	l.WaitFor(t, `"message":"stopped"`, "STATUS=stopping", "STATUS=closing the archive and the store")
	if all := archivetest.CheckDir(t, filepath.Join(l.Dir, "warc")); len(all) != 9 {
		t.Error("the archive does not have warcinfo, two records of the configuration, three each of robots.txt and the page, but")
		for _, r := range all {
			t.Errorf("%s of %s", r.Type(), r.Header.Get("WARC-Target-URI"))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(l.Dir, "warc", "*.open")); len(left) > 0 {
		t.Errorf("WARC files are still open: %v", left)
	}
}

func TestAHangupReopensTheLogAndReadsTheConfiguration(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t)
	l.Visited(t)
	crawlLog := filepath.Join(l.Dir, "crawl.log")
	archivetest.Must(t, os.Rename(crawlLog, crawlLog+".1"))
	text, err := os.ReadFile(l.Path)
	archivetest.Must(t, err)
	daemontest.Write(t, l.Path, strings.Replace(string(text), `max_delay = "0s"`, `max_delay = "1s"`, 1))
	l.Hangup <- syscall.SIGHUP
	l.WaitFor(t, "crawl.log reopened", `"keys":1`)
	if _, err := os.Stat(crawlLog); err != nil {
		t.Errorf("after the hangup: %v", err)
	}
}

// A changed host file is read again, and copied. The status then counts the warnings that check prints, also about
// hosts that the crawl does not know.
func TestAChangedHostFileIsReadAgain(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t)
	l.Visited(t)
	daemontest.Write(t, filepath.Join(l.Dir, "hosts.d", "www.typo.example.toml"), "[politeness]\nmin_delay = \"0s\"\ndelay_factor = 0\n")
	l.WaitFor(t, `"keys":1`)
	c, err := config.Load(l.Path)
	archivetest.Must(t, err)
	var want []string
	for _, w := range c.Doubts(time.Now(), nil) {
		want = append(want, w.String())
	}
	status, err := api.NewClient(filepath.Join(l.Dir, "state", "admin.sock")).Status(t.Context())
	archivetest.Must(t, err)
	var got []string
	for _, w := range status.Config.Warnings {
		got = append(got, w.String())
	}
	if len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("the status has the warnings\n%s\nand check\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	archivetest.Must(t, l.End())
	copied, err := os.ReadFile(filepath.Join(l.Dir, "state", "last-good", "www.typo.example.toml"))
	if err != nil || !strings.Contains(string(copied), "delay_factor = 0") {
		t.Errorf("the last good copy is %q, %v", copied, err)
	}
}

// A second daemon finds the store locked. It closes what it has opened, so the first one is not disturbed.
func TestASecondDaemonIsRefused(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t)
	l.Visited(t)
	c, err := config.Load(l.Path)
	archivetest.Must(t, err)
	o := daemon.Options{Log: zerolog.Nop(), Hangup: l.Hangup, Notify: l.Notify, SharedProcess: true}
	err = daemon.Run(t.Context(), c, o)
	if err == nil || !strings.Contains(err.Error(), "another") {
		t.Errorf("a second daemon: %v, want an error that the store is in use", err)
	}
	if _, err := api.NewClient(filepath.Join(l.Dir, "state", "admin.sock")).Status(t.Context()); err != nil {
		t.Errorf("the first daemon does not answer any more: %v", err)
	}
}

// The admin API is opened last. When its address is in use, everything that was opened before is closed.
func TestAFailedStartClosesWhatItHasOpened(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	archivetest.Must(t, err)
	defer taken.Close()
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	text := fmt.Sprintf(daemontest.MainFile, "http://www.news.example/")
	daemontest.Write(t, path, strings.Replace(text, "127.0.0.1:0", taken.Addr().String(), 1))
	c, err := config.Load(path)
	archivetest.Must(t, err)
	hangup := make(chan os.Signal)
	o := daemon.Options{Log: zerolog.Nop(), Hangup: hangup, Notify: func(string) {}, SharedProcess: true}
	err = daemon.Run(t.Context(), c, o)
	if folder := (daemon.FolderError{}); !errors.As(err, &folder) || !strings.Contains(err.Error(), "admin.listen") {
		t.Errorf("an address that is in use: %v, want a FolderError for admin.listen", err)
	}
	f, err := daemon.OpenStopped(t.Context(), c, time.Now())
	if err != nil {
		t.Fatalf("the store is still in use: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(c.Admin.Socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// configurations returns the records of the configuration in an archive, oldest first.
func configurations(t *testing.T, dir string) (all []archivetest.CheckedRecord) {
	t.Helper()
	for _, r := range archivetest.CheckDir(t, filepath.Join(dir, "warc")) {
		if strings.HasPrefix(r.Target(), "urn:arcrawl:configuration") {
			all = append(all, r)
		}
	}
	return all
}

func TestTheArchiveHasEachConfigurationInForceOnce(t *testing.T) {
	t.Parallel()
	const named = "urn:arcrawl:configuration"
	l := daemontest.Start(t, func(_, main string) string {
		return main + "[warc]\ncollection = \"The Press\" # hush-1\nsealed_url = \"http://127.0.0.1:9/hush-2\"\n"
	})
	l.Visited(t)
	daemontest.Write(t, filepath.Join(l.Dir, "hosts.d", "a.example.toml"), "[scope]\nmax_hops = 5 # hush-3\n")
	l.WaitFor(t, `"keys":1`)
	archivetest.Must(t, l.End())
	all := configurations(t, l.Dir)
	var uris []string
	for _, r := range all {
		uris = append(uris, strings.TrimPrefix(r.Target(), named))
		if r.Type() != "resource" || strings.Contains(string(r.Block), "hush") {
			t.Errorf("%s is a %s with secrets:\n%s", r.Target(), r.Type(), r.Block)
		}
	}
	if got, want := strings.Join(uris, " "), ":arcrawl.toml  :hosts:a.example.toml "; got != want {
		t.Fatalf("the archive has the records %q, want %q: main file, changes, host file, changes", got, want)
	}
	if got := string(all[2].Block); got != "[scope]\nmax_hops = 5\n" {
		t.Errorf("the host file is %q", got)
	}
	var changes struct {
		Changed   []struct{ URI string }
		Unchanged int
		Defaults  map[string]string
	}
	if err := json.Unmarshal(all[3].Block, &changes); err != nil || len(changes.Changed) != 1 || changes.Unchanged != 1 ||
		changes.Changed[0].URI != named+":hosts:a.example.toml" || changes.Defaults["crawl.workers"] == "" {
		t.Errorf("%v: the last changes are %s", err, all[3].Block)
	}
	info := archivetest.CheckDir(t, filepath.Join(l.Dir, "warc"))[0]
	if !strings.Contains(string(info.Block), "isPartOf: The Press\r\n") {
		t.Errorf("the warcinfo record has no collection:\n%s", info.Block)
	}
	isIndexed(t, l.Dir, named)

	again := l.Again(t, nil) // without the host file
	again.WaitFor(t, "READY=1")
	archivetest.Must(t, again.End())
	later := configurations(t, l.Dir)[len(all):]
	if len(later) != 1 || later[0].Target() != named || !strings.Contains(string(later[0].Block), `"removed": [`) {
		t.Errorf("after a host file was removed, the archive has %d more records, want one that says so: %+v", len(later), later)
	}
}

// isIndexed checks that the live index has the records of a URI as an index that is made from the files has them.
func isIndexed(t *testing.T, dir, uri string) {
	t.Helper()
	folder := filepath.Join(dir, "warc")
	live, err := os.ReadFile(filepath.Join(folder, "recent.cdxj"))
	archivetest.Must(t, err)
	var built strings.Builder
	none := func(f warc.Finding) error { t.Error(f); return nil }
	if _, err := index.Build(context.Background(), []string{folder}, index.Options{}, &built, none); err != nil {
		t.Fatal(err)
	}
	if string(live) != built.String() || strings.Count(built.String(), uri) < 2 {
		t.Errorf("the live index is\n%swant\n%s", live, built.String())
	}
}

// certificate writes a new certificate for 127.0.0.1 and its key, and returns the certificate.
func certificate(t *testing.T, dir string, serial int64) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	archivetest.Must(t, err)
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "arcrawl test"}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	archivetest.Must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	archivetest.Must(t, err)
	daemontest.Write(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	daemontest.Write(t, filepath.Join(dir, "cert.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	moment := now.Add(time.Duration(serial) * time.Second)
	archivetest.Must(t, os.Chtimes(filepath.Join(dir, "cert.pem"), moment, moment))
	cert, err := x509.ParseCertificate(der)
	archivetest.Must(t, err)
	return cert
}

// TestDaemonServesOtherMachinesWithTLS listens on all addresses with a certificate, which is renewed while it runs.
func TestDaemonServesOtherMachinesWithTLS(t *testing.T) {
	t.Parallel()
	var first *x509.Certificate
	l := daemontest.Start(t, func(dir, main string) string {
		first = certificate(t, dir, 1)
		remote := "listen = \"0.0.0.0:0\"\nremote = \"tls\"\ntls_cert = \"cert.pem\"\ntls_key = \"key.pem\""
		return strings.Replace(main, `listen = "127.0.0.1:0"`, remote, 1)
	})
	l.WaitFor(t, "serving the admin API")
	port := regexp.MustCompile(`https://[^"]*:(\d+)/`).FindStringSubmatch(l.Text())
	if port == nil {
		t.Fatalf("the log names no https address:\n%s", l.Text())
	}
	all, err := access.List(filepath.Join(l.Dir, "admin.token"))
	archivetest.Must(t, err)
	status := func(cert *x509.Certificate, scheme, path, secret string) int {
		roots := x509.NewCertPool()
		roots.AddCert(cert)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
		client := http.Client{Transport: transport}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s://127.0.0.1:%s%s", scheme, port[1], path), nil)
		archivetest.Must(t, err)
		r.Header.Set("Authorization", "Bearer "+secret)
		got, err := client.Do(r)
		if err != nil {
			return 0
		}
		return errCode(got)
	}
	for _, c := range []struct {
		scheme, path, secret string
		want                 int
	}{
		{"https", "/api/v1/status", all[0].Secret, 200},
		{"https", "/api/v1/status", "wrong", 401},
		{"https", "/healthz", "", 200},
		{"https", "/readyz", "", 200},
		{"http", "/healthz", "", 400},
	} {
		if got := status(first, c.scheme, c.path, c.secret); got != c.want {
			t.Errorf("%s %s with %q: status %d, want %d", c.scheme, c.path, c.secret, got, c.want)
		}
	}
	second := certificate(t, l.Dir, 2)
	if got := status(second, "https", "/healthz", ""); got != 200 {
		t.Errorf("with the renewed certificate: status %d, want 200", got)
	}
	if got := status(first, "https", "/healthz", ""); got != 0 {
		t.Errorf("a client that trusts the old certificate is answered with %d", got)
	}
}

func errCode(got *http.Response) int {
	_ = got.Body.Close()
	return got.StatusCode
}

// TestDaemonRecordsTheUserOfTheSocket sends an order through the socket.
func TestDaemonRecordsTheUserOfTheSocket(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t)
	l.Visited(t)
	us, err := user.Current()
	archivetest.Must(t, err)
	c := api.NewClient(filepath.Join(l.Dir, "state", "admin.sock"))
	if err := c.Health(t.Context()); err != nil {
		t.Errorf("the daemon is not healthy: %v", err)
	}
	if _, err := c.Pause(t.Context(), api.Reason{Reason: "works"}); err != nil {
		t.Fatal(err)
	}
	got, err := c.Audit(t.Context(), api.AuditFilter{}, 1)
	if err != nil || len(got.Entries) != 1 {
		t.Fatalf("the audit log is %+v, %v", got, err)
	}
	if e := got.Entries[0]; e.Who != us.Username || e.Way != access.Socket || e.What != "pause" || e.Result != access.OrderDone {
		t.Errorf("recorded %+v, want a pause by %s", e, us.Username)
	}
}
