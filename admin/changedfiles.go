package admin

import (
	"os"
	"path/filepath"
	"time"
)

// changedFile is a file that was edited.
type changedFile struct {
	File     string    `json:"file"`
	Owner    string    `json:"owner,omitempty"` // name of the user that the file belongs to, often the one who edited it
	Modified time.Time `json:"modified"`
}

// maxChanged is the maximum number of changed files in an entry.
const maxChanged = 20

// changedFiles returns the files that match one of the patterns and were modified after a moment.
func changedFiles(after time.Time, patterns ...string) []changedFile {
	out := []changedFile{}
	for _, pattern := range patterns {
		files, _ := filepath.Glob(pattern) // a pattern that is not valid matches nothing
		for _, file := range files {
			info, err := os.Stat(file)
			if err == nil && info.ModTime().After(after) && len(out) < maxChanged {
				out = append(out, changedFile{File: file, Owner: owner(info), Modified: info.ModTime().UTC()})
			}
		}
	}
	return out
}
