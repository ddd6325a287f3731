package foreign

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Pywb plays an archive with pywb, and returns the address below which it answers, for example
// http://127.0.0.1:40000/test/20261121090000id_/http://a.example/. warcs is the folder of the WARC files, and index an
// index of them or a folder of indexes.
//
// pywb is the only foreign reader that no package of Debian or npm has, so the test is skipped without it even where
// foreign readers are required. Install it with `pip install pywb`; its program is called wayback.
func Pywb(t testing.TB, warcs, index string) (address string) {
	t.Helper()
	program, err := exec.LookPath("wayback")
	if err != nil {
		t.Skipf("NOT RUN: pywb is not installed, and neither Debian nor npm has it (pip install pywb): %v", err)
	}
	port := freePort(t)
	dir := t.TempDir()
	settings := fmt.Sprintf("collections:\n  test:\n    index_paths: %s\n    archive_paths: %s/\n", index, warcs)
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var says bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "-b", "127.0.0.1", "-p", strconv.Itoa(port), "-d", dir)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &says, &says, time.Second
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		<-ended // it was killed
		if t.Failed() {
			t.Logf("pywb says:\n%s", says.Bytes())
		}
	})
	address = fmt.Sprintf("http://127.0.0.1:%d/test/", port)
	for giveUp := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
		answer, err := http.Get(address)
		if err == nil {
			_ = answer.Body.Close()
			return address
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("pywb ended: %v", err)
		default:
		}
		if time.Now().After(giveUp) {
			t.Fatalf("pywb does not answer: %v", err)
		}
	}
}

// freePort returns a port of the loopback that nothing listens on.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing was accepted
	return l.Addr().(*net.TCPAddr).Port
}
