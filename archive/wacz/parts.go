package wacz

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// listProfile is the profile of a list of packages.
const listProfile = "multi-wacz-package"

// ListName returns the path of the list of the packages that [Write] makes with a maximum size: x.json for x.wacz.
func ListName(out string) string { return strings.TrimSuffix(out, ".wacz") + ".json" }

// partsOf divides files among packages, in their order. With a maximum size the packages of x.wacz are x-001.wacz and
// so on, and x.json is the list of them.
func (p *packing) partsOf(files []warc.File) error {
	var size int64
	for _, f := range files {
		last := len(p.parts) - 1
		if last < 0 || p.o.MaxSize > 0 && size+f.Size > p.o.MaxSize {
			p.parts, size, last = append(p.parts, part{}), 0, last+1
		}
		size += f.Size
		p.parts[last].files = append(p.parts[last].files, f.Path)
		p.partOf[f.Path] = last
	}
	if p.o.MaxSize == 0 {
		p.parts[0].out = p.o.Out
		return nil
	}
	made := []string{ListName(p.o.Out)}
	for n := range p.parts {
		p.parts[n].out = fmt.Sprintf("%s-%03d.wacz", strings.TrimSuffix(p.o.Out, ".wacz"), n+1)
		made = append(made, p.parts[n].out)
	}
	for _, name := range made {
		if _, err := os.Lstat(name); err == nil {
			return fmt.Errorf("write %s: %w: nothing is overwritten", name, os.ErrExist)
		}
	}
	return nil
}

// title returns the title of a package.
func (w *writer) title() string {
	if w.o.MaxSize == 0 || w.o.Title == "" {
		return w.o.Title
	}
	return fmt.Sprintf("%s (part %d of %d)", w.o.Title, w.number+1, len(w.parts))
}

// removeParts removes the first n packages, because a later one could not be written.
func (p *packing) removeParts(n int) error {
	var errs []error
	for _, part := range p.parts[:n] {
		errs = append(errs, os.Remove(part.out))
	}
	return errors.Join(errs...)
}

// writeList writes the list of packages, if there is to be one.
func (p *packing) writeList() error {
	if p.o.MaxSize == 0 {
		return nil
	}
	list := List{Profile: listProfile, Title: p.o.Title, Description: p.o.Description}
	for _, part := range p.parts {
		list.Resources = append(list.Resources, part.made)
	}
	p.sum.Parts = list.Resources
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	name := ListName(p.o.Out)
	if err := fileio.Write(name, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the list of packages %s: %w", filepath.Base(name), err)
	}
	return nil
}
