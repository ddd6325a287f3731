package stats

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// FollowFrom returns a Follower that begins at the position that [Position.Store] stored in a file, or at the beginning
// of the log if the file does not exist. If no file is named, it begins at the end of the log.
func FollowFrom(path, file string) (*Follower, error) {
	var from Position
	if file == "" {
		f := Follow(path, from)
		return f, f.SkipToEnd()
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &from)
	} else if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the offset %s: %w; remove the file to start from the beginning", file, err)
	}
	return Follow(path, from), nil
}

// Store replaces a file with the position.
func (p Position) Store(file string) error {
	text, err := json.Marshal(p)
	if err == nil {
		err = fileio.Write(file, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("store the offset in %s: %w", file, err)
	}
	return nil
}
