// This file holds the settings of the table "upload": the bucket that receives finished WARC files.

package config

import (
	"net/url"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
)

// Upload names the bucket that receives finished WARC files.
type Upload struct {
	Endpoint string // of the server; "" = no upload
	Bucket   string
	Prefix   string // of the keys
	Region   string
	Secret   schema.Secret // ACCESS_KEY:SECRET_KEY
}

// uploadKeys are the keys of [upload].
func (d *draft) uploadKeys() []schema.Var {
	c := d.config
	return []schema.Var{
		schema.Optional("upload.endpoint", InMain, checkEndpoint, &c.Upload.Endpoint,
			"Address of the server, as `https://s3.library.example`. Over http everybody on the way can read the archive, but not the key. Empty: no upload."),
		schema.Optional("upload.bucket", InMain, checkBucket, &c.Upload.Bucket,
			"Name of the bucket, which must exist."),
		schema.Optional("upload.prefix", InMain, checkKeyPrefix, &c.Upload.Prefix,
			"Beginning of the keys, before the name of the file, as `crawl-2026/`."),
		schema.Optional("upload.region", InMain, checkBucket, &c.Upload.Region,
			"Region of the bucket."),
		schema.Place("upload.secret", InMain, schema.ReadCredentials, &c.Upload.Secret,
			"The place of `ACCESS_KEY:SECRET_KEY`. The key needs to read and write objects below the prefix; it needs not to delete."),
	}
}

var (
	checkBucket = schema.Match(`^[a-z0-9][a-z0-9.-]{1,62}$`,
		"is not a name of lower-case letters, digits, dots and hyphens", `write for example "web-archive"`)
	checkKeyPrefix = schema.Match(`^([!-.0-~][!-~]{0,255})?$`,
		"is not a beginning of keys", `write at most 256 printable ASCII characters, for example "crawl-2026/"`)
	checkEndpoint = schema.Accept(func(s string) bool {
		u, err := url.Parse(s)
		return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && strings.Trim(u.Path, "/") == "" &&
			u.User == nil && u.RawQuery == ""
	}, "is not the address of a server without a path", `write for example "https://s3.library.example"`)
)

// checkUpload reports an upload that lacks a part.
func (l *loader) checkUpload() {
	u := l.config.Upload
	if u.Endpoint == "" {
		return
	}
	for name, missing := range map[string]bool{"upload.bucket": u.Bucket == "", "upload.secret": !u.Secret.IsSet()} {
		if missing && !l.main.Has(schema.Path("").Key(name)) {
			schema.FieldAt(l.main, "", "upload.endpoint", u.Endpoint).Fault("needs "+name, "write it under [upload]")
		}
	}
}
