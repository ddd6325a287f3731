package archive

import (
	"bytes"
	"testing"
	"time"
)

// FuzzFormat looks for the format of anything that a server may send. It comes to an end, and a panic of the library
// stays in formatOf.
func FuzzFormat(f *testing.F) {
	for _, seed := range []string{
		"<!DOCTYPE html><html>", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "PK\x03\x04\x14\x00\x00\x00[Content_Types].xml",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "%PDF-1.7\n%%EOF", "GIF89a", "RIFF\x00\x00\x00\x00WEBPVP8 ", "<?xml version='1.0'?><svg/>",
	} {
		f.Add("a.html", "text/html", []byte(seed))
	}
	i := newPronom()
	f.Fuzz(func(t *testing.T, name, mime string, content []byte) {
		began := time.Now()
		all, err := i.Identify(bytes.NewReader(content), name, mime)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%d bytes took %s", len(content), took)
		}
		if err == nil && len(all) == 0 {
			t.Errorf("%d bytes have neither a format nor an error", len(content))
		}
		for _, one := range all {
			if len(i.Label(one)) == 0 {
				t.Errorf("%s has no name", one)
			}
		}
	})
}
