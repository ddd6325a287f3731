package foreign

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// member is one compressed response record, with the digests that it claims.
func member(t *testing.T, block, blockDigest, payloadDigest string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	fmt.Fprintf(zip, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"+
		"WARC-Target-URI: http://a.example/\r\nContent-Type: application/http;msgtype=response\r\nWARC-Block-Digest: %s\r\n"+
		"WARC-Payload-Digest: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", blockDigest, payloadDigest, len(block), block)
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFaultsOfARecordAreSeen(t *testing.T) {
	t.Parallel()
	const (
		block   = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
		sum     = "sha1:IBKJAPR7M3N4P3MTKMFD2Q5L5JLYQACR" // of nothing that is here
		payload = "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N" // of hello
	)
	path := filepath.Join(t.TempDir(), "a.warc.gz")
	first := member(t, block, sum, payload)
	if err := os.WriteFile(path, append(first, member(t, block, sum, sum)...), 0o644); err != nil {
		t.Fatal(err)
	}
	records := Records(t, path)
	if len(records) != 2 {
		t.Fatalf("%d records, want 2", len(records))
	}
	if got := records[0].Errors; len(got) != 1 || !strings.HasPrefix(got[0], "block digest is sha1:") {
		t.Errorf("errors of a record with a wrong block digest: %q", got)
	}
	if got := records[1].Errors; len(got) != 2 || got[1] != "payload digest is "+payload {
		t.Errorf("errors of a record with both digests wrong: %q", got)
	}
	if r := records[1]; r.Offset != int64(len(first)) || r.PayloadLength != 5 || string(r.Block) != block || r.Status != "HTTP/1.1 200 OK" {
		t.Errorf("second record: %+v", r)
	}
}
