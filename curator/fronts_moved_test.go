package curator

import (
	"image"
	"image/color"
	"image/draw"
	"net/url"
	"testing"
)

// drawn returns a picture of parts that look different, one below the other: each has a color and a height.
func drawn(width int, parts ...[2]int) image.Image {
	height := 0
	for _, p := range parts {
		height += p[1]
	}
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(m, m.Bounds(), image.White, image.Point{}, draw.Src)
	y := 0
	for _, p := range parts {
		for row := range p[1] {
			for x := 0; p[0] > 0 && x < width; x += 5 {
				m.Set(x, y+row, color.RGBA{uint8(p[0]), uint8(row), uint8(row >> 8), 255})
			}
		}
		y += p[1]
	}
	return m
}

// TestWhatMovedIsFoundAgain compares pictures whose parts stayed, moved, changed, came or went.
func TestWhatMovedIsFoundAgain(t *testing.T) {
	t.Parallel()
	whole := func(kind string, y, height, by int) MovedArea {
		return MovedArea{Kind: kind, Y: y, Width: 320, Height: height, By: by}
	}
	white := func(height int) [2]int { return [2]int{0, height} }
	for name, c := range map[string]struct {
		before, after  image.Image
		want           []MovedArea
		changed, moved int
	}{
		"the same":   {drawn(320, [2]int{1, 160}), drawn(320, [2]int{1, 160}), nil, 0, 0},
		"all new":    {drawn(320, [2]int{1, 160}), drawn(320, [2]int{2, 160}), []MovedArea{whole("changed", 0, 160, 0)}, 100, 0},
		"one on top": {drawn(320, [2]int{1, 240}), drawn(320, [2]int{2, 80}, [2]int{1, 240}), []MovedArea{whole("changed", 0, 80, 0), whole("moved", 80, 240, 80)}, 25, 75},
		"one above is gone": {
			drawn(320, [2]int{2, 80}, [2]int{1, 240}), drawn(320, [2]int{1, 240}),
			[]MovedArea{whole("moved", 0, 240, -80)},
			0, 100,
		},
		"two changed places": {
			drawn(320, [2]int{1, 160}, [2]int{2, 160}), drawn(320, [2]int{2, 160}, [2]int{1, 160}),
			[]MovedArea{whole("moved", 0, 160, -160), whole("moved", 160, 160, 160)},
			0, 100,
		},
		"more empty space": {drawn(320, [2]int{1, 160}, white(40)), drawn(320, [2]int{1, 160}, white(640)), nil, 0, 0},
		"from nothing":     {drawn(320, white(1)), drawn(320, white(320)), nil, 0, 0},
	} {
		got := areasOf(printOf(c.before), printOf(c.after))
		same := len(got.Areas) == len(c.want) && got.Changed == c.changed && got.Moved == c.moved
		for i := range c.want {
			same = same && got.Areas[i] == c.want[i]
		}
		if !same {
			t.Errorf("%s: %+v, want %+v, %d %% new and %d %% moved", name, got, c.want, c.changed, c.moved)
		}
	}
}

// TestAreasAreFewAndInThePicture compares pictures that have hardly anything in common, or odd sizes.
func TestAreasAreFewAndInThePicture(t *testing.T) {
	t.Parallel()
	noise := func(width, height, seed int) image.Image {
		m := image.NewRGBA(image.Rect(0, 0, width, height))
		for i := range m.Pix {
			seed = seed*1103515245 + 12345
			m.Pix[i] = uint8(seed >> 16 & 0xc0)
		}
		return m
	}
	for _, size := range []image.Point{{1, 1}, {3, 900}, {17, 2000}, {640, 3000}, {641, 33}} {
		got := areasOf(printOf(noise(640, 999, 7)), printOf(noise(size.X, size.Y, 9)))
		if len(got.Areas) > maxAreas || got.Changed > 100 || got.Moved > 100 {
			t.Errorf("%v: %d areas, %d %% and %d %%", size, len(got.Areas), got.Changed, got.Moved)
		}
		for _, a := range got.Areas {
			if !image.Rect(a.X, a.Y, a.X+a.Width, a.Y+a.Height).In(image.Rectangle{Max: size}) {
				t.Errorf("%v has the area %+v", size, a)
			}
		}
	}
}

// TestWhatMovedIsAnswered asks for two pictures of a newspaper, and for one that is not there.
func TestWhatMovedIsAnswered(t *testing.T) {
	t.Parallel()
	w := frontsWorld(t, frontsOf(t, 8).live)
	u := url.QueryEscape(newspapers[0].uri)
	got := get[Moved](w, "/api/v1/fronts/moved?uri="+u+"&before=20261129040018&at=20261129050018")
	if got.Width != 160 || got.Height != 425 || got.Changed == 0 || len(got.Areas) == 0 || got.Problem != "" {
		t.Errorf("%+v", got)
	}
	if status := w.Ask("GET", "/api/v1/fronts/moved?late=true&uri="+u+"&before=20261129040018&at=20261129050018", nil, nil); status != 404 {
		t.Errorf("a picture that was never made: %d, want 404", status)
	}
}
