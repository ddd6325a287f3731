package crawllog

import (
	"path/filepath"
	"strings"
)

// Files returns the paths of a log and of the rotated files next to it, whose names begin with its name.
func Files(path string) ([]string, error) {
	return filepath.Glob(globEscapes.Replace(path) + "*")
}

// globEscapes escapes the special characters of [filepath.Glob].
var globEscapes = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
