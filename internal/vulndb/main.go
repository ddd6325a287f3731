// Vulndb converts a clone of https://github.com/golang/vulndb to a database that govulncheck reads without a network:
//
//	go run ./internal/vulndb CLONE DIR "$(git -C CLONE log -1 --format=%cI)"
//
// The last argument is the date of the database, because the reports of a clone have none; make vuln CLONE=DIR does all
// of this. The format is described at https://go.dev/doc/security/vuln/database.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// report is the part of an OSV entry that the indexes of the database repeat.
type report struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Affected []struct {
		Package struct {
			Name string `json:"name"`
		} `json:"package"`
	} `json:"affected"`
}

// entry is a vulnerability in an index.
type entry struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
}

// module is a module in an index.
type module struct {
	Path  string  `json:"path"`
	Vulns []entry `json:"vulns"`
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: vulndb CLONE DIR DATE")
		os.Exit(64)
	}
	if err := convert(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "vulndb:", err)
		os.Exit(1)
	}
}

// convert copies all reports of a clone to a folder that it empties first, and writes the indexes.
func convert(clone, dir, date string) error {
	modified, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return fmt.Errorf("read the date of the database: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(clone, "data", "osv", "*.json"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s is not a clone of golang/vulndb: it has no reports in data/osv", clone)
	}
	for _, sub := range []string{"ID", "index"} {
		if err := os.RemoveAll(filepath.Join(dir, sub)); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	all, byModule := []entry{}, map[string][]entry{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var r report
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		e := entry{r.ID, r.Modified}
		all = append(all, e)
		for _, a := range r.Affected {
			if list := byModule[a.Package.Name]; !slices.Contains(list, e) {
				byModule[a.Package.Name] = append(list, e)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "ID", r.ID+".json"), text, 0o644); err != nil {
			return err
		}
	}
	modules := []module{}
	for _, path := range slices.Sorted(maps.Keys(byModule)) {
		modules = append(modules, module{path, byModule[path]})
	}
	db := map[string]any{"modified": modified.UTC()}
	for name, v := range map[string]any{"db": db, "modules": modules, "vulns": all} {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "index", name+".json"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
