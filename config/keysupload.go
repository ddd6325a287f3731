package config

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
)

// uploadKeys are the keys of [upload].
var uploadKeys = []key{
	schema.Optional("upload.endpoint", InMain, checkEndpoint, func(d *draft) *string { return &d.config.Upload.Endpoint },
		"Address of the server, as `https://s3.library.example`. Over http everybody on the way can read the archive, but not the key. Empty: no upload."),
	schema.Optional("upload.bucket", InMain, checkBucket, func(d *draft) *string { return &d.config.Upload.Bucket },
		"Name of the bucket, which must exist."),
	schema.Optional("upload.prefix", InMain, checkKeyPrefix, func(d *draft) *string { return &d.config.Upload.Prefix },
		"Beginning of the keys, before the name of the file, as `crawl-2026/`."),
	schema.Optional("upload.region", InMain, checkBucket, func(d *draft) *string { return &d.config.Upload.Region },
		"Region of the bucket."),
	mainPlace(secretPlace("upload.secret", readBasic,
		func(d *draft) *Secret { return &d.config.Upload.Secret },
		"The place of `ACCESS_KEY:SECRET_KEY`. The key needs to read and write objects below the prefix; it needs not to delete. "+SecretPlaces)),
}

// mainPlace makes a key that names the place of a secret a key of the main file.
func mainPlace(k key) key {
	k.Scope = InMain
	return k
}

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,62}$`)

func checkBucket(s string) (problem, remedy string) {
	if !bucketName.MatchString(s) {
		return "is not a name of lower-case letters, digits, dots and hyphens", `write for example "web-archive"`
	}
	return "", ""
}

func checkKeyPrefix(s string) (problem, remedy string) {
	bad := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(s) > 256 || strings.HasPrefix(s, "/") || strings.ContainsFunc(s, bad) {
		return "is not a beginning of keys", `write at most 256 printable ASCII characters, for example "crawl-2026/"`
	}
	return "", ""
}

func checkEndpoint(s string) (problem, remedy string) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" ||
		u.User != nil || u.RawQuery != "" {
		return "is not the address of a server without a path", `write for example "https://s3.library.example"`
	}
	return "", ""
}

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
