package discover

import "github.com/arcrawl/arcrawl/uri"

// use is the purpose of an attribute.
type use int

const (
	unused    use = iota
	link          // a reference that a reader may follow
	embed         // a reference that a browser fetches
	imageList     // references with descriptors, see page.srcset
	styles        // style declarations
	lazy          // a reference that a script fills in, or something else
	lazyList      // an image list that a script fills in, or something else
	srcdoc        // a page
)

// uses are the purposes of attributes in any element.
var uses = map[string]use{
	"background":              embed,
	"longdesc":                link,
	"style":                   styles,
	"data-actualsrc":          lazy,
	"data-background":         lazy,
	"data-background-image":   lazy,
	"data-bg":                 lazy,
	"data-bg-image":           lazy,
	"data-cfsrc":              lazy,
	"data-echo":               lazy,
	"data-fallback-src":       lazy,
	"data-full":               lazy,
	"data-hi-res-src":         lazy,
	"data-hires":              lazy,
	"data-image":              lazy,
	"data-image-src":          lazy,
	"data-img":                lazy,
	"data-img-src":            lazy,
	"data-large-file":         lazy,
	"data-large_image":        lazy,
	"data-lazy":               lazy,
	"data-lazy-background":    lazy,
	"data-lazy-src":           lazy,
	"data-lazyload":           lazy,
	"data-medium-file":        lazy,
	"data-orig-file":          lazy,
	"data-orig-src":           lazy,
	"data-original":           lazy,
	"data-pagespeed-lazy-src": lazy,
	"data-poster":             lazy,
	"data-src":                lazy,
	"data-src-retina":         lazy,
	"data-thumb":              lazy,
	"data-thumbnail":          lazy,
	"data-zoom-image":         lazy,
	"data-bgset":              lazyList,
	"data-lazy-srcset":        lazyList,
	"data-orig-srcset":        lazyList,
	"data-original-set":       lazyList,
	"data-srcset":             lazyList,
}

var (
	hyperlinks = map[string]use{"href": link, "xlink:href": link}
	graphics   = map[string]use{"href": embed, "xlink:href": embed, "src": embed}
	media      = map[string]use{"src": embed, "srcset": imageList, "poster": embed}
	frames     = map[string]use{"src": embed, "srcdoc": srcdoc}
	quotations = map[string]use{"cite": link}
)

// elementUses are the purposes of attributes in one element. Elements with special rules are in [page.element].
var elementUses = map[string]map[string]use{
	"a":          hyperlinks,
	"amp-audio":  media,
	"amp-iframe": frames,
	"amp-img":    media,
	"amp-video":  media,
	"area":       hyperlinks,
	"audio":      media,
	"bgsound":    media,
	"blockquote": quotations,
	"del":        quotations,
	"embed":      media,
	"feimage":    graphics,
	"frame":      frames,
	"html":       {"manifest": embed},
	"iframe":     frames,
	"image":      graphics, // of SVG; in HTML it is an old name of img
	"img":        {"src": embed, "srcset": imageList, "lowsrc": embed, "dynsrc": embed},
	"ins":        quotations,
	"q":          quotations,
	"script":     graphics,
	"source":     media,
	"track":      media,
	"use":        graphics,
	"video":      media,
}

// metaUses are the names of properties whose value is a reference: the property, name or itemprop of a meta element, or
// the itemprop of a link element.
var metaUses = map[string]uri.Hop{
	"contenturl":                      uri.Embed,
	"embedurl":                        uri.Embed,
	"image":                           uri.Embed,
	"logo":                            uri.Embed,
	"msapplication-config":            uri.Embed,
	"msapplication-square150x150logo": uri.Embed,
	"msapplication-square310x310logo": uri.Embed,
	"msapplication-square70x70logo":   uri.Embed,
	"msapplication-tileimage":         uri.Embed,
	"msapplication-wide310x150logo":   uri.Embed,
	"og:audio":                        uri.Embed,
	"og:audio:secure_url":             uri.Embed,
	"og:audio:url":                    uri.Embed,
	"og:image":                        uri.Embed,
	"og:image:secure_url":             uri.Embed,
	"og:image:url":                    uri.Embed,
	"og:logo":                         uri.Embed,
	"og:video":                        uri.Embed,
	"og:video:secure_url":             uri.Embed,
	"og:video:url":                    uri.Embed,
	"parsely-image-url":               uri.Embed,
	"sailthru.image.full":             uri.Embed,
	"sailthru.image.thumb":            uri.Embed,
	"thumbnail":                       uri.Embed,
	"thumbnailurl":                    uri.Embed,
	"twitter:image":                   uri.Embed,
	"twitter:image0":                  uri.Embed,
	"twitter:image1":                  uri.Embed,
	"twitter:image2":                  uri.Embed,
	"twitter:image3":                  uri.Embed,
	"twitter:image:src":               uri.Embed,
	"twitter:player":                  uri.Embed,
	"twitter:player:stream":           uri.Embed,
	"al:web:url":                      uri.Link,
	"citation_abstract_html_url":      uri.Link,
	"citation_fulltext_html_url":      uri.Link,
	"citation_pdf_url":                uri.Link,
	"mainentityofpage":                uri.Link,
	"msapplication-starturl":          uri.Link,
	"og:see_also":                     uri.Link,
	"og:url":                          uri.Link,
	"parsely-link":                    uri.Link,
	"twitter:url":                     uri.Link,
	"url":                             uri.Link,
}
