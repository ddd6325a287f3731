// This file says what moved and what changed from one picture of a page to another. A browser draws the same content as
// the same pixels, so rows of pixels are compared, not what they look like: what only moved down is found again.

package curator

import (
	"cmp"
	"context"
	"encoding/binary"
	"image"
	"net/http"
	"slices"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	columns  = 16  // of a picture; each is compared by itself
	band     = 16  // rows that are judged together, in pixels
	gap      = 3   // bands without content between parts that belong together
	window   = 24  // rows by which what moved is found again
	maxAreas = 200 // in an answer: the largest
)

// pixelPrint holds a number for each row of each column of a picture. Rows of one colour have an odd number, others an
// even one.
type pixelPrint struct {
	width, height int
	rows          [columns][]uint64
}

// printOf returns the print of a picture.
func printOf(m image.Image) *pixelPrint {
	b := m.Bounds()
	p := &pixelPrint{width: b.Dx(), height: b.Dy()}
	row := make([]byte, 4*b.Dx())
	for y := range b.Dy() {
		rowOf(m, b.Min.Y+y, row)
		for c := range columns {
			part := row[4*(c*b.Dx()/columns) : 4*((c+1)*b.Dx()/columns)]
			hash, blank := uint64(14695981039346656037), uint64(1)
			for i := 0; i+4 <= len(part); i += 4 {
				pixel := binary.LittleEndian.Uint32(part[i:])
				hash = (hash ^ uint64(pixel)) * 1099511628211
				if i > 0 && pixel != binary.LittleEndian.Uint32(part[i-4:]) {
					blank = 0
				}
			}
			p.rows[c] = append(p.rows[c], hash&^1|blank)
		}
	}
	return p
}

// isNew marks a row that is not in the earlier picture.
const isNew = 1 << 30

// windows returns a number for the rows from each row on, [window] of them together; 0 if they are empty space.
func windows(rows []uint64) []uint64 {
	list := make([]uint64, max(0, len(rows)-window+1))
	equal := 0 // rows before this one that are equal
	for y, row := range rows {
		if equal++; y > 0 && rows[y-1] != row {
			equal = 1
		}
		from := y - window + 1
		if from < 0 || equal >= window && row&1 == 1 {
			continue
		}
		sum := uint64(1)
		for _, r := range rows[from : y+1] {
			sum = (sum ^ r) * 1099511628211
		}
		list[from] = sum | 1
	}
	return list
}

// moves returns for each row of a column how far it moved down: 0 stayed, isNew is new.
func moves(before, after []uint64) []int {
	by := make([]int, len(after))
	blank := map[uint64]bool{} // the empty space of the earlier picture
	for _, row := range before {
		blank[row] = blank[row] || row&1 == 1
	}
	for y, row := range after {
		if y >= len(before) || before[y] != row {
			by[y] = isNew
		}
	}
	type place struct{ times, y int }
	places, often := map[uint64]place{}, map[uint64]int{}
	for y, w := range windows(before) {
		places[w] = place{places[w].times + 1, y}
	}
	found := windows(after)
	for _, w := range found {
		often[w]++
	}
	for y, w := range found {
		if by[y] == isNew && w != 0 && often[w] == 1 && places[w].times == 1 {
			extend(before, after, by, y, y-places[w].y)
		}
	}
	for y, row := range after {
		if by[y] == isNew && blank[row] {
			by[y] = 0
		}
	}
	return by
}

// extend notes that a row moved, with the rows next to it that moved with it.
func extend(before, after []uint64, by []int, y, d int) {
	same := func(y int) bool {
		return y >= 0 && y < len(after) && y-d >= 0 && y-d < len(before) && by[y] == isNew && after[y] == before[y-d]
	}
	for from := y - 1; same(from); from-- {
		by[from] = d
	}
	for ; same(y); y++ {
		by[y] = d
	}
}

// areasOf returns the areas of the later picture that are new or moved, and how much of it is so, in hundredths.
func areasOf(before, after *pixelPrint) (out Moved) {
	out = Moved{Width: after.width, Height: after.height, Areas: []MovedArea{}}
	var last, all []MovedArea // of the column before; of all columns
	changed, moved := 0, 0
	for c := range columns {
		by := moves(before.rows[c], after.rows[c])
		for _, d := range by {
			if d == isNew {
				changed++
			} else if d != 0 {
				moved++
			}
		}
		left, right := c*after.width/columns, (c+1)*after.width/columns
		parts := partsOf(by, left, right-left)
		all, last = joinParts(all, last, parts)
	}
	all = append(all, last...)
	slices.SortStableFunc(all, func(a, b MovedArea) int { return b.Width*b.Height - a.Width*a.Height })
	out.Areas = append(out.Areas, joinOverlaps(all[:min(len(all), maxAreas)])...)
	slices.SortStableFunc(out.Areas, func(a, b MovedArea) int { return cmp.Or(a.Y-b.Y, a.X-b.X) })
	total := max(1, columns*after.height)
	out.Changed, out.Moved = (100*changed+total/2)/total, (100*moved+total/2)/total
	return out
}

// partsOf returns the parts of a column that are new or moved, from the top.
func partsOf(by []int, x, width int) (parts []MovedArea) {
	open := map[int]int{} // the last part of each kind
	for y := 0; y < len(by); y += band {
		rows := by[y:min(y+band, len(by))]
		counts := map[int]int{}
		for _, d := range rows {
			counts[d]++
		}
		kind := 0
		for d, n := range counts {
			if d != 0 && n >= 2 && (n > counts[kind] || kind == 0 || n == counts[kind] && d < kind) {
				kind = d
			}
		}
		if kind == 0 {
			continue
		}
		if i, ok := open[kind]; ok && y-parts[i].Y-parts[i].Height <= gap*band {
			parts[i].Height = y + len(rows) - parts[i].Y
			continue
		}
		open[kind] = len(parts)
		area := MovedArea{Kind: "changed", X: x, Y: y, Width: width, Height: len(rows)}
		if kind != isNew {
			area.Kind, area.By = "moved", kind
		}
		parts = append(parts, area)
	}
	return parts
}

// joinParts joins the parts of a column with those that end at its left and are of the same kind. Parts that end there
// are added to done.
func joinParts(done, left, parts []MovedArea) (ended, open []MovedArea) {
	for _, p := range parts {
		rest := left[:0:0]
		for _, l := range left {
			if l.Kind != p.Kind || l.By != p.By || l.Y > p.Y+p.Height || p.Y > l.Y+l.Height {
				rest = append(rest, l)
				continue
			}
			bottom := max(p.Y+p.Height, l.Y+l.Height)
			p.Width, p.X = p.X+p.Width-min(l.X, p.X), min(l.X, p.X)
			p.Y = min(p.Y, l.Y)
			p.Height = bottom - p.Y
		}
		left = rest
		open = append(open, p)
	}
	return append(done, left...), open
}

// joinOverlaps joins areas of the same kind that overlap.
func joinOverlaps(list []MovedArea) []MovedArea {
	rect := func(a MovedArea) image.Rectangle { return image.Rect(a.X, a.Y, a.X+a.Width, a.Y+a.Height) }
	for i := 0; i < len(list); i++ {
		for j := len(list) - 1; j > i; j-- {
			a, b := list[i], list[j]
			if a.Kind != b.Kind || a.By != b.By || !rect(a).Overlaps(rect(b)) {
				continue
			}
			both := rect(a).Union(rect(b))
			list[i].X, list[i].Y, list[i].Width, list[i].Height = both.Min.X, both.Min.Y, both.Dx(), both.Dy()
			list = slices.Delete(list, j, j+1)
			j = len(list) // the larger area may overlap with others
		}
	}
	return list
}

// moved compares two pictures.
func (c *curation) moved(r *http.Request, u uri.URI) (out Moved, err error) {
	role := access.CallerOf(r.Context()).Role
	after := shotAsked{page: u, at: r.FormValue("at"), rendered: true, late: r.FormValue("late") == "true"}
	before := shotAsked{page: u, at: r.FormValue("before"), rendered: true, late: r.FormValue("before_late") == "true"}
	if text := r.FormValue("before_uri"); text != "" {
		if before.page, err = admin.ParseURI(text); err != nil {
			return out, err
		}
	}
	leave, err := c.shots.enter(r.Context())
	if err != nil {
		return out, err
	}
	defer leave()
	var prints [2]*pixelPrint
	for i, q := range []shotAsked{before, after} {
		if prints[i], out.Problem, err = c.printOf(r.Context(), q, role); err != nil || out.Problem != "" {
			out.Areas = []MovedArea{}
			return out, err
		}
	}
	return areasOf(prints[0], prints[1]), nil
}

// printOf returns the print of a picture, or why it cannot be compared.
func (c *curation) printOf(
	ctx context.Context, q shotAsked, role access.Role,
) (p *pixelPrint, problem string, err error) {
	content, _, err := c.large(ctx, q, role)
	if err != nil {
		return nil, "", err
	}
	m, bad := decode(content)
	if bad != nil {
		return nil, bad.Error(), nil
	}
	return printOf(m), "", nil
}
