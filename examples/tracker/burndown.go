package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
)

var palette = color.Palette{
	color.White,
	color.RGBA{0xe2, 0xe8, 0xf0, 0xff}, // a line for every issue
	color.RGBA{0x90, 0xcd, 0xf4, 0xff}, // open issues
	color.RGBA{0x2b, 0x6c, 0xb0, 0xff}, // their edge
}

const width, height, margin = 480, 200, 10

// drawBurndown draws one column a day, as high as its count.
func drawBurndown(counts []int) ([]byte, error) {
	img := image.NewPaletted(image.Rect(0, 0, width, height), palette)
	most := 1
	for _, n := range counts {
		most = max(most, n)
	}
	y := func(n int) int { return height - margin - n*(height-2*margin)/most }
	x := func(day int) int { return margin + day*(width-2*margin)/len(counts) }
	fill := func(r image.Rectangle, shade int) {
		draw.Draw(img, r, image.NewUniform(palette[shade]), image.Point{}, draw.Src)
	}
	for n := range most + 1 {
		fill(image.Rect(margin, y(n), width-margin, y(n)+1), 1)
	}
	for day, n := range counts {
		fill(image.Rect(x(day), y(n), x(day+1), y(0)), 2)
		fill(image.Rect(x(day), y(n), x(day+1), y(n)+2), 3)
	}
	var out bytes.Buffer
	err := png.Encode(&out, img)
	return out.Bytes(), err
}
