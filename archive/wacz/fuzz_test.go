package wacz

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// FuzzCheck checks arbitrary packages of partners. Nothing may panic, and a member is a WARC file.
func FuzzCheck(f *testing.F) {
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for name, text := range map[string]string{
		descriptorName:       `{"resources":[{"path":"archive/a.warc","hash":"sha256:00","bytes":3}]}`,
		"archive/a.warc":     "abc",
		descriptorDigestName: `{"hash":"x"}`,
	} {
		w, err := z.Create(name)
		archivetest.Must(f, err)
		if _, err = w.Write([]byte(text)); err != nil {
			f.Fatal(err)
		}
	}
	archivetest.Must(f, z.Close())
	f.Add(packed.Bytes())
	f.Add([]byte("PK\x05\x06" + string(make([]byte, 18))))
	path := filepath.Join(f.TempDir(), "f.wacz")
	f.Fuzz(func(t *testing.T, content []byte) {
		archivetest.Must(t, os.WriteFile(path, content, 0o600))
		if members, found := Check(path); len(members) == 0 && len(found) == 0 {
			t.Errorf("a package of %d bytes without members has no fault", len(content))
		}
	})
}
