package config

import (
	"fmt"
	"regexp"
)

// textTypes are types that usually have a charset.
var textTypes = []string{
	"text/html", "text/css", "text/plain", "text/xml", "text/javascript", "application/xhtml+xml",
	"application/xml", "application/rss+xml", "application/atom+xml", "application/json", "application/javascript",
}

// otherTypes are types without parameters.
var otherTypes = []string{
	"image/jpeg", "image/png", "image/gif", "image/webp", "image/svg+xml", "application/pdf", "video/mp4", "audio/mpeg",
	"font/woff2", "application/octet-stream", "application/zip",
}

// types warns of a pattern of content types that does not match types with parameters.
func types(pattern *regexp.Regexp) (problem, remedy string) {
	for _, mime := range textTypes {
		if long := mime + "; charset=utf-8"; pattern.MatchString(mime) && !pattern.MatchString(long) {
			return fmt.Sprintf("matches %q but not %q; it must match the whole value", mime, long), `end it with ".*"`
		}
	}
	return "", ""
}

// covering returns the index of the first of patterns that matches a common type that pattern matches too; -1 if none
// does. If pattern matches no common type, it is the first that matches all of them.
func covering(pattern *regexp.Regexp, patterns []*regexp.Regexp) int {
	if pattern == nil {
		return -1
	}
	matched := false
	for _, mime := range append(textTypes[:len(textTypes):len(textTypes)], otherTypes...) {
		if !pattern.MatchString(mime) && !pattern.MatchString(mime+"; charset=utf-8") {
			continue
		}
		matched = true
		for i, p := range patterns {
			if p.MatchString(mime) || p.MatchString(mime+"; charset=utf-8") {
				return i
			}
		}
	}
	for i, p := range patterns {
		if !matched && p.MatchString("text/html") && p.MatchString("image/png") && p.MatchString("x/y; a=b") {
			return i
		}
	}
	return -1
}
