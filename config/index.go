package config

import (
	"net/url"
	"strings"
)

// Index says how the index of the archive is kept while it is written.
type Index struct {
	// Live is index.live (true): a CDXJ index lies in storage.warc, with each capture as soon as it is archived.
	Live bool
	// OutbackCDX is index.outbackcdx (""): the collection of an OutbackCDX server that each line of the index is sent to.
	OutbackCDX string
}

// indexKeys are the keys of [index].
var indexKeys = []key{
	{
		Key: Key{
			Name: "index.live", Default: "true", Scope: inMain,
			Doc: "A CDXJ index is kept in the folder of the archive, with each capture as soon as it is archived.",
		},
		reader: boolean(func(d *draft) *bool { return &d.config.Index.Live }),
	},
	{
		Key: Key{
			Name: "index.outbackcdx", Default: `""`, Scope: inMain,
			Doc: "Collection of an OutbackCDX server, as `http://localhost:8901/arcrawl`, that each line of the live index is sent to. Empty: none. Needs index.live.",
		},
		reader: textOrNothing(collectionAddress, func(d *draft) *string { return &d.config.Index.OutbackCDX }),
	},
}

// collectionAddress approves the address of a collection of an OutbackCDX server.
func collectionAddress(s string) (problem, remedy string) {
	const example = `write for example "http://localhost:8901/arcrawl"`
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return "is not an http(s) address", example
	case strings.ContainsAny(s, "?#"):
		return "has a query or a fragment", example
	case strings.Trim(u.Path, "/") == "":
		return "names no collection", example
	}
	return "", ""
}
