// This file writes film strips as one HTML file that needs no server.

package curator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// filmFiles holds what a film strip that is saved as a file has of its own.
//
//go:embed film
var filmFiles embed.FS

// The bounds of a film strip that is saved as a file.
const (
	maxFilmPages    = 8
	maxFilmDays     = 31
	maxFilmPictures = 300
	maxFilmBytes    = 60_000_000 // of its pictures
)

// filmAsked says what a film strip has.
type filmAsked struct {
	pages       []uri.URI
	since, last time.Time // the first and the last day
}

// readFilm reads which film strip a request asks for.
func readFilm(r *http.Request) (q filmAsked, err error) {
	_ = r.ParseForm() // what cannot be read is not there
	for _, text := range r.Form["uri"] {
		u, err := admin.ParseURI(text)
		if err != nil {
			return q, err
		}
		q.pages = append(q.pages, u)
	}
	if n := len(q.pages); n == 0 || n > maxFilmPages {
		return q, admin.Fault("%d pages; name 1 to %d with uri", n, maxFilmPages)
	}
	for name, day := range map[string]*time.Time{"since": &q.since, "until": &q.last} {
		text := r.FormValue(name)
		if text == "" && name == "until" {
			text = r.FormValue("since")
		}
		if *day, err = time.Parse(time.DateOnly, text); err != nil {
			return q, admin.Fault("%s %q: write a day as 2026-11-29", name, text)
		}
	}
	if days := int(q.last.Sub(q.since)/(24*time.Hour)) + 1; days < 1 || days > maxFilmDays {
		return q, admin.Fault("%d days from since to until; write 1 to %d", days, maxFilmDays)
	}
	return q, nil
}

// film serves a film strip as one HTML file, with its pictures.
func (c *curation) film(to http.ResponseWriter, r *http.Request) {
	q, err := readFilm(r)
	if err != nil {
		c.window.Refuse(to, r, err)
		return
	}
	f := &filmWriter{c: c, ctx: r.Context(), role: access.CallerOf(r.Context()).Role, to: to}
	to.Header().Set("Content-Type", "text/html; charset=utf-8")
	to.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	to.Header().Set("Content-Disposition", `attachment; filename="front-pages-`+q.since.Format(time.DateOnly)+`.html"`)
	f.write(q)
}

// filmWriter writes a film strip. After its first error it writes nothing more.
type filmWriter struct {
	c    *curation
	ctx  context.Context //nolint:containedctx // it lives as long as the request
	role access.Role
	to   io.Writer
	err  error

	pictures, bytes, left int // written so far; left out
	refused               int // pictures that cannot be shown
}

func (f *filmWriter) print(format string, args ...any) {
	if f.err == nil {
		_, f.err = fmt.Fprintf(f.to, format, args...)
	}
}

// hashOf returns the source of a policy that permits a text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// filmParts returns the style and the script of a film strip.
func filmParts() (style, script string, err error) {
	css, err := filmFiles.ReadFile("film/film.css")
	if err != nil {
		return "", "", err
	}
	slider, err := files.ReadFile("dashboard/slider.js")
	if err != nil {
		return "", "", err
	}
	own, err := filmFiles.ReadFile("film/film.js")
	slider = bytes.ReplaceAll(slider, []byte("\nexport "), []byte("\n"))
	return string(css), string(slider) + "\n" + string(own), err
}

// write writes the file. What is left out is said at its end, and a cut file says nothing.
func (f *filmWriter) write(q filmAsked) {
	style, script, err := filmParts()
	if f.err = err; err != nil {
		return
	}
	period := q.since.Format("2 January 2006")
	if !q.last.Equal(q.since) {
		period += " to " + q.last.Format("2 January 2006")
	}
	policy := "default-src 'none'; img-src data:; style-src " + hashOf(style) + "; script-src " + hashOf(script)
	f.print("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"+
		"<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"+
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>Front pages, %s</title>\n<style>%s</style>\n<main>\n"+
		"<h1>Front pages, %s</h1>\n<p>From the archive of %s. Times are UTC.</p>\n",
		policy, period, style, period, html.EscapeString(f.c.o.Config().Config.Operator.Name))
	for i, u := range q.pages {
		name := f.c.titleOf(u)
		if name == "" {
			name = strings.TrimSuffix(u.String(), "/")
		}
		f.print("<h2><bdi>%s</bdi></h2>\n<p>%s</p>\n", html.EscapeString(name), html.EscapeString(u.String()))
		for day := q.since; !day.After(q.last) && f.err == nil; day = day.AddDate(0, 0, 1) {
			f.strip(i, u, name, day)
		}
	}
	if f.left > 0 {
		f.print("<p role=\"note\"><strong>%s left out:</strong> a file has at most %d pictures and %s of them.</p>\n",
			human.Count(f.left, "picture"), maxFilmPictures, human.Bytes(maxFilmBytes))
	}
	if f.refused > 0 {
		f.print("<p role=\"note\">%s could not be read.</p>\n", human.Count(f.refused, "picture"))
	}
	f.print("<section id=\"large\" aria-label=\"Picture\" hidden></section>\n</main>\n<script>%s</script>\n</html>\n", script)
}

// strip writes the pictures of a day.
func (f *filmWriter) strip(page int, u uri.URI, name string, day time.Time) {
	strip, err := f.c.frontDay(u, day.Format(time.DateOnly), f.role)
	if err != nil {
		f.err = err
		return
	}
	begun := false
	for _, frame := range strip.Frames {
		if frame.Picture == "" {
			continue
		}
		if f.pictures >= maxFilmPictures || f.bytes >= maxFilmBytes {
			f.left++
			continue
		}
		asked := shotAsked{page: u, at: frame.Picture, rendered: true, late: frame.Late}
		content, err := f.c.small(f.ctx, sheetSize, asked, f.role)
		if f.ctx.Err() != nil {
			f.err = context.Cause(f.ctx)
			return
		}
		if err != nil {
			f.refused++
			continue
		}
		if f.bytes+len(content) > maxFilmBytes {
			f.bytes = maxFilmBytes // no further picture is made
			f.left++
			continue
		}
		if !begun {
			begun = true
			f.print("<h3>%s</h3>\n<ol class=\"film\" tabindex=\"0\" aria-label=\"%s, %s\">\n",
				day.Format("Monday, 2 January 2006"), html.EscapeString(name), day.Format(time.DateOnly))
		}
		f.frame(page, name, frame, content)
	}
	if begun {
		f.print("</ol>\n")
	}
}

// frame writes a picture.
func (f *filmWriter) frame(page int, name string, frame Frame, content []byte) {
	f.pictures++
	f.bytes += len(content)
	at, says := frame.Date.Format("15:04"), html.EscapeString(name)+" "+frame.Date.Format("2006-01-02 15:04")
	headline := ""
	if len(frame.Headline) == 2 {
		headline = "<span dir=\"auto\">" + html.EscapeString(frame.Headline[1]) + "</span>"
	}
	f.print("<li><a href=\"#large\"><span class=\"framed\">"+
		"<img alt=\"%s\" data-page=\"%d\" data-says=\"%s\" src=\"data:image/jpeg;base64,%s\"></span>"+
		"<time>%s</time>%s</a></li>\n",
		says, page, says, base64.StdEncoding.EncodeToString(content), at, headline)
}
