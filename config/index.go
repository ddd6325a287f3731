package config

// Index says how the index of the archive is kept while it is written.
type Index struct {
	// Live is index.live (true): a CDXJ index lies in storage.warc, with each capture as soon as it is archived.
	Live bool
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
}
