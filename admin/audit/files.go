package audit

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"
)

// ChangedFile is a file that was edited.
type ChangedFile struct {
	File     string    `json:"file"`
	Owner    string    `json:"owner,omitempty"` // name of the user that the file belongs to, often the one who edited it
	Modified time.Time `json:"modified"`
}

// maxChanged is the maximum number of changed files in an entry.
const maxChanged = 20

// ChangedFiles returns the files that match one of the patterns and were modified after a moment.
func ChangedFiles(after time.Time, patterns ...string) []ChangedFile {
	out := []ChangedFile{}
	for _, pattern := range patterns {
		files, _ := filepath.Glob(pattern) // a pattern that is not valid matches nothing
		for _, file := range files {
			info, err := os.Stat(file)
			if err == nil && info.ModTime().After(after) && len(out) < maxChanged {
				out = append(out, ChangedFile{File: file, Owner: owner(info), Modified: info.ModTime().UTC()})
			}
		}
	}
	return out
}

// CurrentUser returns the name of the user of this process.
func CurrentUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

// UserName returns the name of a user, or "uid N" if the machine knows none.
func UserName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "uid " + id
}
