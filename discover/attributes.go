package discover

import (
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

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

// byName returns the value of each name. lists holds the names of each value, separated by white space.
func byName[V comparable](lists map[V]string) map[string]V {
	all := map[string]V{}
	for value, names := range lists {
		for name := range strings.FieldsSeq(names) {
			all[name] = value
		}
	}
	return all
}

// uses are the purposes of attributes in any element.
var uses = byName(map[use]string{
	embed:  `background`,
	link:   `longdesc`,
	styles: `style`,
	lazy: `
		data-actualsrc data-background data-background-image data-bg data-bg-image data-cfsrc data-echo
		data-fallback-src data-full data-hi-res-src data-hires data-image data-image-src data-img data-img-src
		data-large-file data-large_image data-lazy data-lazy-background data-lazy-src data-lazyload data-medium-file
		data-orig-file data-orig-src data-original data-pagespeed-lazy-src data-poster data-src data-src-retina
		data-thumb data-thumbnail data-zoom-image
	`,
	lazyList: `data-bgset data-lazy-srcset data-orig-srcset data-original-set data-srcset`,
})

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
var metaUses = byName(map[uri.Hop]string{
	uri.Embed: `
		contenturl embedurl image logo msapplication-config msapplication-square150x150logo
		msapplication-square310x310logo msapplication-square70x70logo msapplication-tileimage
		msapplication-wide310x150logo og:audio og:audio:secure_url og:audio:url og:image og:image:secure_url
		og:image:url og:logo og:video og:video:secure_url og:video:url parsely-image-url sailthru.image.full
		sailthru.image.thumb thumbnail thumbnailurl twitter:image twitter:image0 twitter:image1 twitter:image2
		twitter:image3 twitter:image:src twitter:player twitter:player:stream
	`,
	uri.Link: `
		al:web:url citation_abstract_html_url citation_fulltext_html_url citation_pdf_url mainentityofpage
		msapplication-starturl og:see_also og:url parsely-link twitter:url url
	`,
})
