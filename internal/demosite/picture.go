package demosite

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
)

// landscape draws three rows of hills under a sky, in colours that the number chooses.
func landscape(number, scale int) []byte {
	width, height := 320*scale, 180*scale
	chance := mix(500, uint64(number))
	hue := uint8(chance % 120)
	palette := color.Palette{
		color.RGBA{200 - hue, 215, 235, 255},
		color.RGBA{110, 150 - hue/3, 120 + hue, 255},
		color.RGBA{80, 115 - hue/4, 90 + hue/2, 255},
		color.RGBA{45, 70, 55 + hue/4, 255},
		color.RGBA{250, 225, 140 + hue, 255},
	}
	img := image.NewPaletted(image.Rect(0, 0, width, height), palette)
	disc(img, width*int(10+chance>>8%80)/100, height/4, height/9, 4)
	for row := range 3 {
		hills(img, uint8(row+1), height*(45+row*17)/100, int(chance>>(16+8*row)%97)*scale, scale)
	}
	return encode(img)
}

// hills fills everything below a zigzag with one colour.
func hills(img *image.Paletted, colour uint8, base, shift, scale int) {
	period := (70 + int(colour)*25) * scale
	for x := range img.Rect.Dx() {
		height := (x + shift) % period
		height = min(height, period-height) / 2
		for y := max(base-height, 0); y < img.Rect.Dy(); y++ {
			img.SetColorIndex(x, y, colour)
		}
	}
}

// disc fills a circle with one colour.
func disc(img *image.Paletted, cx, cy, radius int, colour uint8) {
	for y := cy - radius; y <= cy+radius; y++ {
		for x := cx - radius; x <= cx+radius; x++ {
			if (x-cx)*(x-cx)+(y-cy)*(y-cy) <= radius*radius {
				img.SetColorIndex(x, y, colour)
			}
		}
	}
}

// emblem is the paper's logo: a lighthouse beam in a disc.
func emblem() []byte {
	img := image.NewPaletted(image.Rect(0, 0, 48, 48), color.Palette{
		color.RGBA{0, 0, 0, 0}, color.RGBA{28, 58, 94, 255}, color.RGBA{250, 225, 140, 255},
	})
	disc(img, 24, 24, 22, 1)
	for y := 12; y < 36; y++ {
		for x := 24 - (y-8)/3; x <= 24+(y-8)/3; x++ {
			img.SetColorIndex(x, y, 2)
		}
	}
	return encode(img)
}

// paper is the texture behind every page.
func paper() []byte {
	img := image.NewPaletted(image.Rect(0, 0, 64, 64), color.Palette{
		color.RGBA{252, 251, 247, 255}, color.RGBA{248, 246, 240, 255},
	})
	for i := range img.Pix {
		img.Pix[i] = uint8(mix(600, uint64(i)) % 5 / 4)
	}
	return encode(img)
}

// encode writes a PNG. Encoding into memory an image of a size of our own cannot fail.
func encode(img image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic("arcrawl/demosite: encode picture: " + err.Error())
	}
	return b.Bytes()
}
