package messages

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// stored is the path of a small file with a value as JSON; "" stores nothing.
type stored string

// Read reads the value of an earlier run into v, which stays unchanged if there is none.
func (f stored) Read(v any) error {
	if f == "" {
		return nil
	}
	text, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	return err
}

// Write replaces the value.
func (f stored) Write(v any) error {
	if f == "" {
		return nil
	}
	text, err := json.Marshal(v)
	if err == nil {
		err = fileio.Write(string(f), text, 0o640)
	}
	return err
}
