package fetch_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/fetch"
)

// acked returns how many bytes the client's kernel has acknowledged.
func acked(t *testing.T, c net.Conn) uint64 {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Error(err)
		return 0
	}
	var info *unix.TCPInfo
	controlErr := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if controlErr != nil || info == nil {
		t.Errorf("read TCP_INFO: %v, %v", controlErr, err)
		return 0
	}
	return info.Bytes_acked
}

// TestStopSparesTheServer reads from the server's kernel how much of a body of 10 MiB was sent and acknowledged.
func TestStopSparesTheServer(t *testing.T) {
	t.Parallel()
	const size = 10 << 20
	left := make(chan uint64, 1)
	address := serve(t, func(c net.Conn, _ int) {
		request(bufio.NewReader(c))
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: %d\r\n\r\n", size)
		part := strings.Repeat("x", 16<<10)
		for range size / len(part) {
			if _, err := io.WriteString(c, part); err != nil {
				break
			}
		}
		left <- acked(t, c)
	})
	got := get(t, newClient(t, fetch.Options{}), fetch.Request{
		URI:  parse(t, "http://"+address+"/"),
		Stop: func(h fetch.Head) bool { return h.Header.Get("ETag") == `"a"` },
	})
	n := <-left
	t.Logf("%d of %d bytes left the server", n, size)
	if !got.Stopped || n > 256<<10 {
		t.Errorf("stopped %v; %d of %d bytes left the server, want less than 256 KiB", got.Stopped, n, size)
	}
}
