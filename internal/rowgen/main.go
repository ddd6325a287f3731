// Command rowgen generates the code that converts the records of package frontier: to and from the rows of the store,
// and to and from the lines of an export. The fields of Entry, Record and History are the only declaration. Their tags
// say:
//
//	row:"5"               the key of the field in a stored row, which never changes
//	row:"22 23 27"        the keys of a value that is stored as several fields
//	row:"14,signed"       a number that may be negative in an import
//	row:"30,whole"        a text of any length; others are stored empty when they are longer than MaxText
//	row:"85,max=MaxWhy"   a text that is cut to a length
//	row:"9,due"           a time that the row holds in milliseconds and newURIRow gets as an argument
//	export:"first_seen"   the name in an export, which never changes
//
// It is run by go generate in the folder of the package; a test of rowgen fails if a generated file is out of date.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// suffix ends the names of generated files.
const suffix = "_generated.go"

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "rowgen:", err)
		os.Exit(1)
	}
}

// run generates the files in the folder of package frontier.
func run(dir string) error {
	files, err := generate(dir)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
