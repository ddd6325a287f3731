package curator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// undoFile is the name of the file with the old texts, in the folder of the host files. The daemon does not read it.
const undoFile = ".last-import.json"

// undoable is the last change that can be undone.
type undoable struct {
	At    time.Time    `json:"at"`
	What  string       `json:"what"` // in words
	Files []fileChange `json:"files"`
}

// fileChange is a host file before a change, and the digest of its text afterwards.
type fileChange struct {
	Name   string  `json:"name"`
	Before *string `json:"before"` // nil: there was no file
	After  string  `json:"after"`
}

// textDigest returns the digest of a text.
func textDigest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Write writes host files. It stores their old texts first, so that the change can be undone, also if it was
// interrupted. A file that somebody else changed since it was read ends Write before anything is written.
func (f configFiles) Write(texts map[string][]byte, what string, now time.Time) error {
	u := undoable{At: now.UTC(), What: what}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		old, existed := f.Texts[name]
		is, err := os.ReadFile(filepath.Join(f.Dir, name))
		if existed != (err == nil) || err != nil && !errors.Is(err, fs.ErrNotExist) || !bytes.Equal(old, is) {
			return fmt.Errorf("%s was changed by somebody else meanwhile; nothing was written; repeat", filepath.Join(f.Dir, name))
		}
		c := fileChange{Name: name, After: textDigest(texts[name])}
		if existed {
			text := string(old)
			c.Before = &text
		}
		u.Files = append(u.Files, c)
	}
	if err := os.MkdirAll(f.Dir, 0o750); err != nil {
		return err
	}
	if err := f.keep(u); err != nil {
		return fmt.Errorf("store the old texts of the host files: %w; nothing was written", err)
	}
	for _, c := range u.Files {
		if err := fileio.Edit(filepath.Join(f.Dir, c.Name), texts[c.Name]); err != nil {
			return fmt.Errorf("write %s: %w; some host files are written already; arcrawl seeds add --undo restores them", c.Name, err)
		}
	}
	return nil
}

// keep stores what can be undone.
func (f configFiles) keep(u undoable) error {
	text, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return fileio.Write(filepath.Join(f.Dir, undoFile), text, 0o640)
}

// last returns the change that [configFiles.Undo] would undo.
func (f configFiles) last() (undoable, error) {
	text, err := os.ReadFile(filepath.Join(f.Dir, undoFile))
	if errors.Is(err, fs.ErrNotExist) {
		return undoable{}, fmt.Errorf("there is no import in %s to undo", f.Dir)
	}
	var u undoable
	if err == nil {
		err = json.Unmarshal(text, &u)
	}
	for _, c := range u.Files {
		if !config.IsHostFile(c.Name) {
			err = errors.Join(err, fmt.Errorf("%q is not the name of a host file", c.Name))
		}
	}
	if err != nil {
		return undoable{}, fmt.Errorf("read %s: %w; the import cannot be undone", filepath.Join(f.Dir, undoFile), err)
	}
	return u, nil
}

// Undo restores the host files as they were before the last change. If somebody changed one of them since, nothing is
// restored.
func (f configFiles) Undo() (undoable, error) {
	u, err := f.last()
	if err != nil {
		return u, err
	}
	var restore []fileChange
	var changed []string
	for _, c := range u.Files {
		text, err := os.ReadFile(filepath.Join(f.Dir, c.Name))
		is := err == nil
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return u, err
		case is && textDigest(text) == c.After:
			restore = append(restore, c)
		case is == (c.Before != nil) && (!is || string(text) == *c.Before): // not written, or restored before
		default:
			changed = append(changed, c.Name)
		}
	}
	if len(changed) > 0 {
		return u, fmt.Errorf("nothing was undone, because somebody changed %s since; edit by hand", strings.Join(changed, ", "))
	}
	for _, c := range restore {
		if c.Before == nil {
			err = os.Remove(filepath.Join(f.Dir, c.Name))
		} else {
			err = fileio.Edit(filepath.Join(f.Dir, c.Name), []byte(*c.Before))
		}
		if err != nil {
			return u, fmt.Errorf("restore %s: %w; repeat", c.Name, err)
		}
	}
	return u, os.Remove(filepath.Join(f.Dir, undoFile))
}
