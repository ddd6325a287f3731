package wacz

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// List is a list of packages: a multi-WACZ list, as ReplayWeb.page opens it, and Browsertrix writes it.
type List struct {
	Profile     string   `json:"profile,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Resources   []Listed `json:"resources"`
}

// Listed is a package in a [List].
type Listed struct {
	Name    string `json:"name"`
	Path    string `json:"path"` // relative to the list
	Hash    string `json:"hash,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`
	Size    int64  `json:"size,omitempty"` // as Browsertrix writes it
	CrawlID string `json:"crawlId,omitempty"`
}

// Source names a package in relation.requires, as a list or a flag has it.
type Source struct{ CrawlID, Hash string }

// Sources are files and folders that may hold originals, with crawl ids and hashes of the packages among them.
type Sources struct {
	Paths    []string
	Packages map[string]Source // by path
	CrawlID  string            // of all other packages
}

// ReadSources returns the files and folders of paths. A path that ends in .json is a list of packages, and stands for
// these.
func ReadSources(paths []string) (Sources, error) {
	s := Sources{Packages: map[string]Source{}}
	for _, p := range paths {
		if !strings.HasSuffix(strings.ToLower(p), ".json") {
			s.Paths = append(s.Paths, p)
			continue
		}
		list, err := readList(p)
		if err != nil {
			return s, fmt.Errorf("read the list of packages %s: %w", p, err)
		}
		for _, r := range list.Resources {
			file := filepath.FromSlash(r.Path)
			if file == "" {
				file = r.Name
			}
			if strings.Contains(r.Path, "://") {
				return s, fmt.Errorf("read the list of packages %s: %s is on the network; download it and name the local file",
					p, r.Path)
			}
			if !filepath.IsAbs(file) {
				file = filepath.Join(filepath.Dir(p), file)
			}
			s.Paths = append(s.Paths, file)
			s.Packages[file] = Source{r.CrawlID, r.Hash}
		}
	}
	return s, nil
}

func readList(file string) (l List, err error) {
	f, _, err := warc.OpenRegular(file)
	if err != nil {
		return l, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, maxDescriptor))
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err == nil && len(l.Resources) == 0 {
		err = errors.New(`it has no "resources"`)
	}
	return l, err
}

// of returns the crawl id and the hash of a package, if a list or a flag has them.
func (s Sources) of(path string) Source {
	known := s.Packages[path]
	if known.CrawlID == "" {
		known.CrawlID = s.CrawlID
	}
	return known
}

// differs reports whether a hash is not the one that is known. Browsertrix writes hashes without their algorithm.
func (s Source) differs(hash string) bool {
	want := strings.TrimPrefix(strings.ToLower(s.Hash), "sha256:")
	_, err := hex.DecodeString(want)
	return want != "" && err == nil && want != strings.TrimPrefix(hash, "sha256:")
}
