package wacz

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// Check compares a package with its manifest. It returns the WARC files of the package, and findings without file and
// offset. stamped reads time stamps; if it is nil, they are not checked.
func Check(file string, stamped StampReader) (members []warc.File, found []warc.Finding) {
	fault := func(s warc.Severity, k warc.Kind, format string, args ...any) {
		found = append(found, warc.Finding{Severity: s, Kind: k, Text: fmt.Sprintf(format, args...)})
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		fault(warc.Error, warc.Manifest, "this is no WACZ package: %s", warc.Cause(err))
		return nil, found
	}
	defer z.Close() //nolint:errcheck // nothing was written
	sums, sizes, texts := map[string]string{}, map[string]int64{}, map[string][]byte{}
	var names []string
	for _, m := range z.File {
		if strings.HasSuffix(m.Name, "/") {
			continue
		}
		text, sum, size, err := readMember(m)
		if err != nil {
			fault(warc.Error, warc.Manifest, "%s cannot be read: %v", m.Name, err)
			continue
		}
		names, sums[m.Name], sizes[m.Name], texts[m.Name] = append(names, m.Name), sum, size, text
		if path.Dir(m.Name) == "archive" && warc.IsArchive(m.Name) {
			members = append(members, warc.PackedFile(file, m))
		}
	}
	listed := []string{descriptorName, descriptorDigestName}
	var d datapackage
	if err := json.Unmarshal(texts[descriptorName], &d); err != nil {
		fault(warc.Error, warc.Manifest, "its %s cannot be read: %v", descriptorName, err)
		return members, found
	}
	for _, r := range d.Resources {
		listed = append(listed, r.Path)
		switch sum, there := sums[r.Path]; {
		case !there:
			fault(warc.Error, warc.Manifest, "%s is in the manifest and is not in the package", r.Path)
		case r.Hash != sum:
			fault(warc.Error, warc.Manifest, "%s has the hash %s, the manifest says %s", r.Path, sum, r.Hash)
		case r.Bytes != sizes[r.Path]:
			fault(warc.Error, warc.Manifest, "%s has %d bytes, the manifest says %d", r.Path, sizes[r.Path], r.Bytes)
		}
	}
	for _, name := range names {
		if !slices.Contains(listed, name) {
			fault(warc.Warning, warc.Manifest, "%s is in the package and not in the manifest", name)
		}
	}
	checkDigest(texts[descriptorDigestName], sums[descriptorName], stamped, fault)
	return members, found
}

// checkDigest compares the manifest with the file of its digest, and checks the signature there.
func checkDigest(
	text []byte, sum string, stamped StampReader, fault func(warc.Severity, warc.Kind, string, ...any),
) {
	var digest descriptorDigest
	switch err := json.Unmarshal(text, &digest); {
	case text == nil:
		fault(warc.Warning, warc.Manifest, "%s is missing, so nothing proves the manifest", descriptorDigestName)
	case err != nil || digest.Hash != sum:
		fault(warc.Error, warc.Manifest, "%s says that the manifest has the hash %s, it has %s",
			descriptorDigestName, digest.Hash, sum)
	case digest.SignedData != nil:
		err := digest.SignedData.check(digest.Hash, stamped)
		switch {
		case errors.Is(err, errUnknownKey):
			fault(warc.Warning, warc.Manifest, "the signature of the package cannot be checked: %v", err)
		case err != nil:
			fault(warc.Error, warc.Manifest, "the signature of the package is wrong: %v", err)
		}
	}
}

// maxDescriptor is the maximum size of a manifest, in bytes.
const maxDescriptor = 64 << 20

// readMember returns the hash and size of a file of a package, and the text of the manifest and its digest.
func readMember(m *zip.File) (text []byte, sum string, size int64, err error) {
	r, err := m.Open()
	if err != nil {
		return nil, "", 0, err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	h := sha256.New()
	in := io.TeeReader(r, h)
	if m.Name == descriptorName || m.Name == descriptorDigestName {
		if text, err = io.ReadAll(io.LimitReader(in, maxDescriptor)); err != nil {
			return nil, "", 0, err
		}
	}
	n, err := io.Copy(h, r)
	return text, "sha256:" + hex.EncodeToString(h.Sum(nil)), n + int64(len(text)), err
}
