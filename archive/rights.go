package archive

import (
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/warcout"
)

// The fields of a warcinfo record that say who may see the file. Their names are terms of Dublin Core.
const (
	titleField     = "title"
	rightsField    = "rights"
	accessField    = "accessRights"
	availableField = "available" // the end of an embargo
)

// partFields returns the fields of the warcinfo record of a file about its collection or series.
func partFields(p config.Part) (fields []warcout.Field) {
	for _, f := range []warcout.Field{
		{Name: titleField, Value: p.Title},
		{Name: rightsField, Value: p.Rights},
		{Name: accessField, Value: p.Access},
		{Name: availableField, Value: p.Embargo},
	} {
		if f.Value != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// rights holds what the warcinfo records of files say of who may see them. Several values are separated by semicolons.
type rights struct{ title, rights, access, available string }

func (r *rights) add(infos []warcInfo) {
	for _, i := range infos {
		for name, v := range map[string]*string{
			titleField: &r.title, rightsField: &r.rights, accessField: &r.access, availableField: &r.available,
		} {
			all := strings.Split(*v, "; ")
			for _, value := range i.fields.Values(name) {
				if value != "" && !slices.Contains(all, value) {
					all = append(all, value)
				}
			}
			*v = strings.TrimPrefix(strings.Join(all, "; "), "; ")
		}
	}
}

// rightsOf returns what files say.
func rightsOf(files []warc.File) (r rights) {
	for _, f := range files {
		infos, _ := leadingInfos(f) // who reads the file reports its damage
		r.add(infos)
	}
	return r
}
