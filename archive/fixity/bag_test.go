package fixity_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/foreign"
)

// valid checks a bag by RFC 8493 with sha256sum of the system, and returns the files of its payload.
func valid(t *testing.T, bag string) (payload []string) {
	t.Helper()
	if text := archivetest.Read(t, filepath.Join(bag, "bagit.txt")); text != "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n" {
		t.Errorf("bagit.txt is %q", text)
	}
	for _, manifest := range []string{"manifest-sha256.txt", "tagmanifest-sha256.txt"} {
		if archivetest.Read(t, filepath.Join(bag, manifest)) == "" {
			continue
		}
		check := exec.Command("sha256sum", "--strict", "--check", manifest)
		check.Dir = bag
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", manifest, err, out)
		}
	}
	listed := archivetest.Read(t, filepath.Join(bag, "manifest-sha256.txt"))
	var size int64
	err := filepath.WalkDir(filepath.Join(bag, "data"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(bag, path)
		if !strings.Contains(listed, "  "+name+"\n") {
			t.Errorf("%s is not in the manifest", name)
		}
		info, err := d.Info()
		size += info.Size()
		payload = append(payload, name)
		return err
	})
	archivetest.Must(t, err)
	oxum := fmt.Sprintf("Payload-Oxum: %d.%d\n", size, len(payload))
	if info := archivetest.Read(t, filepath.Join(bag, "bag-info.txt")); !strings.Contains(info, oxum) {
		t.Errorf("bag-info.txt is %q, want %q in it", info, oxum)
	}
	return payload
}

func TestABagIsValidAndHasOnlySoundFiles(t *testing.T) {
	t.Parallel()
	for _, link := range []bool{false, true} {
		lib, files := listed(t)
		lib.Page("http://a.example/four", archivetest.HTMLHead, "<p>four</p>")
		lib.Seal() // not in the manifest
		content := archivetest.Read(t, files[1])
		archivetest.Must(t, os.WriteFile(files[1], []byte(content[:60]+"x"+content[61:]), 0o600))
		archivetest.Must(t, os.Remove(files[2]))
		out := filepath.Join(t.TempDir(), "bag")
		var found []string
		sum, err := fixity.WriteBag(t.Context(), lib.Dir, fixity.BagOptions{
			Out: out, Link: link, Now: now, Software: "test", Organization: "Test\nLibrary",
		}, func(f warc.Finding) error { found = append(found, f.Error()); return nil })
		if err != nil || sum.Files != 2 || sum.Errors != 2 || len(found) != 2 {
			t.Fatalf("%+v, %v, %q", sum, err, found)
		}
		if got := valid(t, out); len(got) != 2 {
			t.Errorf("the payload is %q", got)
		}
		if chain := archivetest.Read(t, filepath.Join(out, fixity.FileName)); strings.Count(chain, "\n") != 4 {
			t.Errorf("the manifest in the bag is %q", chain)
		}
		if _, err := os.Stat(out + ".part"); !os.IsNotExist(err) {
			t.Errorf("the unfinished bag is still there: %v", err)
		}
		if _, err := fixity.WriteBag(t.Context(), lib.Dir, fixity.BagOptions{Out: out}, nil); err == nil {
			t.Error("a bag was written over another")
		}
	}
}

// TestBagsAreValidForOtherPrograms lets the Library of Congress's bagit-python check a bag, and one whose file was
// changed.
func TestBagsAreValidForOtherPrograms(t *testing.T) {
	t.Parallel()
	lib, _ := listed(t)
	out := filepath.Join(t.TempDir(), "bag")
	sum, err := fixity.WriteBag(t.Context(), lib.Dir, fixity.BagOptions{Out: out, Now: now, Organization: "Test Library"}, nil)
	archivetest.Must(t, err)
	if printed, errs, err := foreign.Program(t, "bagit.py", "--validate", out); err != nil {
		t.Errorf("a bag of %d files is not accepted: %v\n%s%s", sum.Files, err, printed, errs)
	}
	file := filepath.Join(out, valid(t, out)[0])
	text := archivetest.Read(t, file)
	archivetest.Must(t, os.WriteFile(file, []byte(text[:60]+string(text[60]^1)+text[61:]), 0o600))
	var exit *exec.ExitError
	if printed, errs, err := foreign.Program(t, "bagit.py", "--validate", out); !errors.As(err, &exit) {
		t.Errorf("a bag with a changed file is accepted: %v\n%s%s", err, printed, errs)
	}
}

func TestABagOfAPeriod(t *testing.T) {
	t.Parallel()
	lib, _ := listed(t)
	for _, c := range []struct {
		since, until time.Duration
		files        int
	}{
		{0, 24 * time.Hour, 3}, {90 * time.Minute, 24 * time.Hour, 1}, {24 * time.Hour, 48 * time.Hour, 0}, {0, time.Hour, 1},
	} {
		o := fixity.BagOptions{Out: filepath.Join(t.TempDir(), "bag"), Now: now}
		o.Since, o.Until = archivetest.Start.Add(c.since), archivetest.Start.Add(c.until)
		if _, err := fixity.WriteBag(t.Context(), lib.Dir, o, nil); err != nil {
			t.Fatal(err)
		}
		if got := valid(t, o.Out); len(got) != c.files {
			t.Errorf("from %s to %s: %q, want %d files", c.since, c.until, got, c.files)
		}
	}
}
