package changes

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/arcrawl/arcrawl/digest"
)

// maxAddress is the maximum length of an address in bytes. A longer one is cut.
const maxAddress = 2000

// leadsTo returns the address of a link, without its fragment and without parameters that only say who follows it.
// other reports whether it leads to another page than this one.
func (p *Page) leadsTo(href string) (to string, other bool) {
	u, err := p.address.Parse(strings.TrimSpace(href[:min(len(href), maxAddress)]))
	if href == "" || err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "" {
		return "", false
	}
	here := *p.address
	here.Fragment, here.RawQuery = "", without(here.RawQuery, isTracking)
	if u.Fragment != "" && u.Host == here.Host && u.Path == here.Path { // a place on this page
		return here.String(), false
	}
	u.Fragment, u.RawFragment = "", ""
	u.RawQuery = without(u.RawQuery, isTracking)
	return u.String(), u.String() != here.String()
}

// without returns a query without the parameters of which drop says that they do not matter.
func without(query string, drop func(name, value string) bool) string {
	if query == "" {
		return ""
	}
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if !drop(strings.ToLower(name), value) {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

// isTracking reports whether a parameter says who follows a link, or from where.
func isTracking(name, value string) bool {
	return strings.HasPrefix(name, "utm_") || strings.HasPrefix(name, "at_") || digest.IsSession(name+"=") ||
		slices.Contains([]string{"fbclid", "gclid", "ref", "source", "cmp", "mc_cid", "mc_eid", "intcmp", "itm_source"}, name)
}

// isRendition reports whether a parameter of a picture chooses its size, its form, or who may load it.
func isRendition(name, value string) bool {
	return isTracking(name, value) || slices.Contains([]string{
		"w", "h", "q", "s", "v", "width", "height", "quality", "auth", "itok", "ver", "sig", "fit", "crop", "auto", "fm",
		"format", "dpr", "resize", "size", "t", "ts", "cb",
	}, name)
}

// rendition matches a part of a path that only chooses the size of a picture: "w_1456", "resize:fit:700", "300x200".
var rendition = regexp.MustCompile(`^(?:[a-z]{1,8}[_:=-])*(?:[whcqs]_?)?\d{1,4}(?:x\d{1,4})?(?:,.*)?$|^(?:size|fetch|fill|resize)$`)

// sized matches the size at the end of a name: "harbour-300x200.jpg".
var sized = regexp.MustCompile(`-\d{2,4}x\d{2,4}(\.[a-z]+)$`)

// pictureKey returns what all sizes of a picture have in common.
func pictureKey(u *url.URL) string {
	for _, name := range []string{"url", "src", "image"} { // a service that makes sizes
		if inner := u.Query().Get(name); inner != "" {
			if to, err := u.Parse(inner); err == nil {
				to.RawQuery = without(to.RawQuery, isRendition)
				return to.Host + sized.ReplaceAllString(to.Path, "$1") + "?" + to.RawQuery
			}
		}
	}
	var kept []string
	parts := strings.Split(u.Path, "/")
	for i, part := range parts {
		if i < len(parts)-1 && (part == "size" || part == "fetch" || isSize(part)) {
			continue
		}
		kept = append(kept, part)
	}
	return u.Host + sized.ReplaceAllString(path.Join(kept...), "$1") + "?" + without(u.RawQuery, isRendition)
}

// isSize reports whether a part of a path is a size and not the number of an article.
func isSize(part string) bool {
	return rendition.MatchString(part) && strings.ContainsAny(part, "abcdefghijklmnopqrstuvwxyz")
}

// background matches the picture of a style.
var background = regexp.MustCompile(`background(?:-image)?\s*:[^;]*url\(\s*['"]?([^'")]+)`)

// pictureOf returns the picture that an element shows.
func (p *Page) pictureOf(n *html.Node) (Picture, bool) {
	var candidates []string
	switch {
	case n.DataAtom == atom.Img, n.Data == "amp-img":
		if attribute(n, "width") == "1" && attribute(n, "height") == "1" {
			return Picture{}, false
		}
		for _, key := range []string{"data-src", "data-original", "data-lazy-src", "data-image", "src"} {
			candidates = append(candidates, attribute(n, key))
		}
		for _, key := range []string{"data-srcset", "srcset"} {
			candidates = append(candidates, firstOf(attribute(n, key)))
		}
	case n.DataAtom == atom.Video:
		candidates = append(candidates, attribute(n, "poster"))
	default:
		if m := background.FindStringSubmatch(attribute(n, "style")); m != nil {
			candidates = append(candidates, m[1])
		}
	}
	for _, c := range candidates {
		u, err := p.address.Parse(strings.TrimSpace(c[:min(len(c), maxAddress)]))
		if c == "" || err != nil || u.Scheme == "data" || u.Scheme == "blob" || isPlaceholder(u.Path) {
			continue
		}
		return Picture{URI: u.String(), Alt: shown(attribute(n, "alt")), key: pictureKey(u)}, true
	}
	return Picture{}, false
}

// isHome reports whether an address is a front page.
func isHome(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Path == "" || u.Path == "/") && u.RawQuery == ""
}

// isPictureName reports whether an address is named like a picture.
func isPictureName(address string) bool {
	u, err := url.Parse(address)
	return err == nil && slices.Contains(
		[]string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg"}, strings.ToLower(path.Ext(u.Path)))
}

// firstOf returns the first address of a set of pictures.
func firstOf(srcset string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(srcset), " ")
	return strings.TrimSuffix(first, ",")
}

// isPlaceholder reports whether a picture stands for one that is loaded later.
func isPlaceholder(p string) bool {
	name := strings.ToLower(path.Base(p))
	return slices.ContainsFunc([]string{"placeholder", "blank.", "spacer", "pixel.", "loading.", "1x1.gif"},
		func(begin string) bool { return strings.HasPrefix(name, begin) })
}
