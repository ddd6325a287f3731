package compare

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/arcrawl/arcrawl/archive/index"
)

// ErrNoPicture says that a capture is not a picture that is shown.
var ErrNoPicture = errors.New("the payload is not a picture, or larger than 4 MB")

// PictureType returns the media type of a picture that browsers show and that cannot contain scripts, by its first
// bytes. It is "" for everything else, such as SVG.
func PictureType(content []byte) string {
	mime := http.DetectContentType(content)
	if slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"}, mime) {
		return mime
	}
	return ""
}

// ReadPicture returns the picture of a capture and its media type.
func ReadPicture(ctx context.Context, l *index.Library, e index.Entry) (content []byte, mime string, err error) {
	v, err := read(ctx, l, e)
	if err != nil {
		return nil, "", err
	}
	if mime = PictureType(v.content); mime == "" || v.cut {
		return nil, "", ErrNoPicture
	}
	return v.content, mime, nil
}

// ReadContent returns the content of a capture, at most 4 MB of it, and its Content-Type.
func ReadContent(ctx context.Context, l *index.Library, e index.Entry) (content []byte, contentType string, err error) {
	v, err := read(ctx, l, e)
	return v.content, v.mime, err
}
