// This file makes small pictures of the pictures of rendered pages. A picture comes from an archive, and may be an
// attack: its size is read before it is decoded, and one picture is decoded at a time.

package curator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// size is one of the sizes of small pictures.
type size struct {
	name          string
	width, height int // at most, in pixels; the rest below is cut off
	quality       int // of JPEG
}

// The sizes of small pictures.
var (
	thumbSize = size{"thumb", 400, 540, 78} // of a film strip: the top of the page
	sheetSize = size{"sheet", 800, 16384, 72}
)

// The bounds of a picture that is decoded. A browser makes none that is larger: see render/chromium.
const (
	maxPixels  = 26_000_000
	maxDecoded = 128 << 20 // bytes
)

// shots keeps small pictures, and pictures that were made later. Its methods are safe for concurrent use.
type shots struct {
	small, late keepsakes
	turn        chan struct{} // has one element while a picture is decoded

	mu      sync.Mutex
	refused map[string]string // why there is no small picture, by name
}

// The names of the folders in the folder of the state, and their bounds.
const (
	smallFolder, maxSmall, maxSmallBytes = "thumbnails", 20_000, 512 << 20
	lateFolder, maxLate, maxLateBytes    = "late-pictures", 500, 1 << 30
	maxRefused                           = 1000
)

// newShots returns the pictures in a folder of the state; "" keeps none.
func newShots(state string, now func() time.Time) *shots {
	s := &shots{turn: make(chan struct{}, 1), refused: map[string]string{}}
	s.small.now, s.late.now = now, now
	s.small.maxFiles, s.small.maxBytes = maxSmall, maxSmallBytes
	s.late.maxFiles, s.late.maxBytes = maxLate, maxLateBytes
	if state != "" {
		s.small.dir, s.late.dir = filepath.Join(state, smallFolder), filepath.Join(state, lateFolder)
	}
	return s
}

// shotName names a picture by what it shows.
func shotName(kind, address, at string) string {
	sum := sha256.Sum256([]byte(kind + "\n" + at + "\n" + address))
	return hex.EncodeToString(sum[:16])
}

// Small returns a small picture as JPEG. It is made at most once while it is kept; read returns the large one.
func (s *shots) Small(ctx context.Context, z size, name string, read func() ([]byte, error)) ([]byte, error) {
	name = z.name + "-" + name
	if content, ok := s.small.Get(name); ok {
		return content, nil
	}
	if err := s.refusal(name); err != nil {
		return nil, err
	}
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if content, ok := s.small.Get(name); ok {
		return content, nil // somebody else made it meanwhile
	}
	large, err := read()
	if err != nil {
		return nil, err
	}
	m, err := decode(large)
	if err != nil {
		s.refuse(name, err.Error())
		return nil, admin.BadRequest(err)
	}
	content, err := z.of(m)
	if err != nil {
		return nil, err
	}
	return content, s.small.Put(name, content)
}

// enter waits until no other picture is decoded. The caller calls leave when it is done.
func (s *shots) enter(ctx context.Context) (leave func(), err error) {
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// refusal returns why a picture was refused before.
func (s *shots) refusal(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why := s.refused[name]; why != "" {
		return admin.Fault("%s", why)
	}
	return nil
}

func (s *shots) refuse(name, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refused) >= maxRefused {
		clear(s.refused)
	}
	s.refused[name] = why
}

// decode decodes a PNG. It refuses what would need much memory before it decodes anything.
func decode(content []byte) (image.Image, error) {
	c, err := png.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("the picture cannot be shown small: it is no whole PNG (%w)", err)
	}
	each := 4 // bytes of a pixel
	switch c.ColorModel {
	case color.NRGBA64Model, color.RGBA64Model:
		each = 8
	}
	if pixels := int64(c.Width) * int64(c.Height); pixels > maxPixels || pixels*int64(each) > maxDecoded {
		return nil, fmt.Errorf("the picture cannot be shown small: it has %d × %d pixels, more than %d million",
			c.Width, c.Height, maxPixels/1_000_000)
	}
	m, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("the picture cannot be shown small: it is no whole PNG (%w)", err)
	}
	return m, nil
}

// of returns the top of a picture as JPEG in this size.
func (z size) of(m image.Image) ([]byte, error) {
	var out bytes.Buffer
	err := jpeg.Encode(&out, shrink(m, z.width, z.height), &jpeg.Options{Quality: z.quality})
	return out.Bytes(), err
}

// shrink returns the top of a picture with at most this width and height. Each pixel is the mean of those that it
// stands for. It never enlarges.
func shrink(m image.Image, width, height int) *image.RGBA {
	from := m.Bounds()
	width = min(width, from.Dx())
	height = max(1, min(height, from.Dy()*width/from.Dx()))
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	row, sums := make([]byte, 4*from.Dx()), make([]uint32, 3*width)
	edges := make([]int, width+1) // of the columns in the picture
	for x := range edges {
		edges[x] = x * from.Dx() / width
	}
	for y, top := 0, 0; y < height; y++ {
		begin, end := top, max(top+1, min((y+1)*from.Dx()/width, from.Dy()))
		clear(sums)
		for ; top < end; top++ {
			rowOf(m, from.Min.Y+top, row)
			for x := range width {
				for i := 4 * edges[x]; i < 4*edges[x+1]; i += 4 {
					sums[3*x] += uint32(row[i])
					sums[3*x+1] += uint32(row[i+1])
					sums[3*x+2] += uint32(row[i+2])
				}
			}
		}
		for x := range width {
			n := uint32((end - begin) * (edges[x+1] - edges[x]))
			p := out.Pix[out.PixOffset(x, y):]
			p[0], p[1], p[2], p[3] = uint8(sums[3*x]/n), uint8(sums[3*x+1]/n), uint8(sums[3*x+2]/n), 255
		}
	}
	return out
}

// rowOf writes a row of a picture into row, with four bytes for a pixel, as it looks on white.
func rowOf(m image.Image, y int, row []byte) {
	b := m.Bounds()
	switch m := m.(type) {
	case *image.RGBA:
		copy(row, m.Pix[m.PixOffset(b.Min.X, y):][:len(row)])
		return
	case *image.NRGBA:
		copy(row, m.Pix[m.PixOffset(b.Min.X, y):][:len(row)])
		for i := 0; i < len(row); i += 4 {
			for c, alpha := 0, int(row[i+3]); c < 3 && alpha < 255; c++ {
				row[i+c] = uint8((int(row[i+c])*alpha + 255*(255-alpha)) / 255)
			}
		}
		return
	}
	for x := range b.Dx() {
		r, g, blue, a := m.At(b.Min.X+x, y).RGBA()
		white := 0xffff - a
		row[4*x], row[4*x+1], row[4*x+2] = uint8((r+white)>>8), uint8((g+white)>>8), uint8((blue+white)>>8)
	}
}

// keepsakes is a folder of files whose number and bytes are bounded: the oldest are removed. Its methods are safe for
// concurrent use.
type keepsakes struct {
	dir      string // "" keeps nothing
	maxFiles int
	maxBytes int64
	now      func() time.Time

	mu    sync.Mutex // guards the fields below
	files map[string]keepsake
	bytes int64
}

type keepsake struct {
	size int64
	made time.Time
}

// open lists the files of earlier runs. The lock is held.
func (k *keepsakes) open() {
	if k.files != nil {
		return
	}
	k.files = map[string]keepsake{}
	entries, _ := os.ReadDir(k.dir) // a folder that is not there has none
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			k.files[e.Name()] = keepsake{info.Size(), info.ModTime()}
			k.bytes += info.Size()
		}
	}
}

// Has reports whether a file is kept.
func (k *keepsakes) Has(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dir == "" {
		return false
	}
	k.open()
	_, ok := k.files[name]
	return ok
}

// Get returns a file, if it is kept.
func (k *keepsakes) Get(name string) ([]byte, bool) {
	if !k.Has(name) {
		return nil, false
	}
	content, err := os.ReadFile(filepath.Join(k.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		k.mu.Lock()
		k.forget(name)
		k.mu.Unlock()
	}
	return content, err == nil
}

// forget forgets a file that is gone. The lock is held.
func (k *keepsakes) forget(name string) {
	k.bytes -= k.files[name].size
	delete(k.files, name)
}

// Put keeps a file.
func (k *keepsakes) Put(name string, content []byte) error {
	if k.dir == "" {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open()
	err := os.MkdirAll(k.dir, 0o750)
	if err == nil {
		err = fileio.Write(filepath.Join(k.dir, name), content, 0o640)
	}
	if err != nil {
		return fmt.Errorf("keep a picture: %w", err)
	}
	k.forget(name)
	k.files[name] = keepsake{int64(len(content)), k.now()}
	k.bytes += int64(len(content))
	return k.trim()
}

// trim removes the oldest files if there are too many, and some more, so that this is seldom. The lock is held.
func (k *keepsakes) trim() (err error) {
	if len(k.files) <= k.maxFiles && k.bytes <= k.maxBytes {
		return nil
	}
	older := func(a, b string) int { return k.files[a].made.Compare(k.files[b].made) }
	for _, name := range slices.SortedFunc(maps.Keys(k.files), older) {
		if len(k.files) <= k.maxFiles*9/10 && k.bytes <= k.maxBytes/10*9 {
			break
		}
		if gone := os.Remove(filepath.Join(k.dir, name)); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
			continue
		}
		k.forget(name)
	}
	return err
}
