package curator

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// pngOf returns a PNG that says it has a size, and has only the beginning of its pixels.
func pngOf(width, height uint32, depth, kind, interlaced byte) []byte {
	out := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(name string, data []byte) {
		body := append([]byte(name), data...)
		out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
		out = append(out, body...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	chunk("IHDR", append(head, depth, kind, 0, 0, interlaced))
	chunk("IDAT", []byte("\x78\x9c\x62\x00\x00"))
	chunk("IEND", nil)
	return out
}

// TestHostilePicturesAreRefusedWithWords makes small pictures of attacks. Each is refused, needs little memory, and is
// read once.
func TestHostilePicturesAreRefusedWithWords(t *testing.T) {
	var whole bytes.Buffer
	must(t, png.Encode(&whole, image.NewGray(image.Rect(0, 0, 1280, 10_000))))
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"a bomb":            {pngOf(100_000, 100_000, 8, 2, 0), "100000 × 100000 pixels, more than 26 million"},
		"a long bomb":       {pngOf(1, 1<<31-1, 8, 2, 0), "more than 26 million"},
		"16 bits":           {pngOf(5000, 5000, 16, 6, 0), "5000 × 5000 pixels"},
		"no size":           {pngOf(0, 0, 8, 2, 0), "no whole PNG"},
		"cut":               {whole.Bytes()[:whole.Len()/2], "no whole PNG"},
		"no pixels":         {pngOf(1280, 16_384, 8, 2, 0), "no whole PNG"},
		"HTML":              {[]byte("<!doctype html><script>alert(1)</script>"), "no whole PNG"},
		"empty":             {nil, "no whole PNG"},
		"a GIF":             {[]byte("GIF89a"), "no whole PNG"},
		"only its first 20": {whole.Bytes()[:20], "no whole PNG"},
	} {
		s, reads := newShots(t.TempDir(), time.Now), 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 3 {
			_, err := s.Small(t.Context(), thumbSize, "x", func() ([]byte, error) { reads++; return c.content, nil })
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %q", name, err, c.says)
			}
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; reads != 1 || used > maxDecoded+maxDecoded/8 {
			t.Errorf("%s: read %d times, with %d bytes", name, reads, used)
		}
	}
	s := newShots(t.TempDir(), time.Now)
	small, err := s.Small(t.Context(), thumbSize, "tall", func() ([]byte, error) { return whole.Bytes(), nil })
	if err != nil || len(small) > 20_000 {
		t.Errorf("a tall picture: %d bytes, %v", len(small), err)
	}
}

// TestSmallPicturesShowWhatTheLargeOneDoes compares pixels of pictures of several kinds.
func TestSmallPicturesShowWhatTheLargeOneDoes(t *testing.T) {
	t.Parallel()
	red, half := color.NRGBA{200, 0, 0, 255}, color.NRGBA{0, 0, 0, 128}
	rgba, nrgba := image.NewRGBA(image.Rect(0, 0, 800, 100)), image.NewNRGBA(image.Rect(0, 0, 800, 100))
	paletted := image.NewPaletted(image.Rect(0, 0, 800, 100), color.Palette{red, half})
	for x := range 800 {
		for y := range 100 {
			c := red
			if x >= 400 {
				c = half
			}
			rgba.Set(x, y, red)
			nrgba.Set(x, y, c)
			paletted.Set(x, y, c)
		}
	}
	for name, m := range map[string]image.Image{"RGBA": rgba, "NRGBA": nrgba, "paletted": paletted} {
		got := shrink(m, 400, 540)
		want := color.RGBA{127, 127, 127, 255}
		if name == "RGBA" {
			want = color.RGBA{200, 0, 0, 255}
		}
		left, right := got.RGBAAt(10, 10), got.RGBAAt(300, 49)
		if got.Bounds() != image.Rect(0, 0, 400, 50) || left != (color.RGBA{200, 0, 0, 255}) || right != want {
			t.Errorf("%s: %v, %v and %v", name, got.Bounds(), left, right)
		}
	}
	for _, size := range []image.Point{{1, 1}, {1, 5000}, {5000, 1}, {399, 7}, {1279, 3001}} {
		got := shrink(image.NewRGBA(image.Rectangle{Max: size}), 400, 540).Bounds()
		if got.Empty() || !got.In(image.Rect(0, 0, 400, 540)) {
			t.Errorf("%v becomes %v", size, got)
		}
	}
}

// TestKeptPicturesAreBoundedAndMadeAgain keeps more pictures than fit, restarts, and removes one behind its back.
func TestKeptPicturesAreBoundedAndMadeAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	now := func() time.Time { at = at.Add(time.Second); return at }
	k := &keepsakes{dir: dir, maxFiles: 10, maxBytes: 1000, now: now}
	for i := range 100 {
		must(t, k.Put(fmt.Sprint(i), make([]byte, 50)))
	}
	for i, size := range []int{300, 300, 300} {
		must(t, k.Put(fmt.Sprint("large", i), make([]byte, size)))
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) > 10 || len(files) != len(k.files) || k.bytes > 1000 {
		t.Errorf("%d files, %d known, %d bytes, %v", len(files), len(k.files), k.bytes, err)
	}
	if k.Has("0") || !k.Has("large2") {
		t.Error("the oldest are kept, or the newest is not")
	}
	k = &keepsakes{dir: dir, maxFiles: 10, maxBytes: 1000, now: now}
	if _, ok := k.Get("large2"); !ok {
		t.Error("after a restart a picture is not known")
	}
	must(t, os.Remove(filepath.Join(dir, "large2")))
	if _, ok := k.Get("large2"); ok || k.Has("large2") {
		t.Error("a picture that was removed is known")
	}
	s, made := newShots(t.TempDir(), time.Now), 0
	read := func() ([]byte, error) { made++; return newspapers[0].front(1, 8), nil }
	for range 2 {
		_, err := s.Small(t.Context(), thumbSize, "x", read)
		must(t, err)
	}
	must(t, os.RemoveAll(s.small.dir))
	if _, err := s.Small(t.Context(), thumbSize, "x", read); err != nil || made != 2 {
		t.Errorf("made %d times, want once, and again when it was gone (%v)", made, err)
	}
	gone := errors.New("gone")
	if _, err := s.Small(t.Context(), sheetSize, "x", func() ([]byte, error) { return nil, gone }); !errors.Is(err, gone) {
		t.Errorf("without the record: %v", err)
	}
}
