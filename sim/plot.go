package sim

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// The plot's measures in pixels.
const (
	plotWidth, plotHeight = 760.0, 460.0
	plotLeft, plotTop     = 60.0, 20.0
	legendLine            = 20.0
)

var plotColours = [...]string{"#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#b07aa1", "#9c755f", "#bab0ac"}

// Plot writes a page, complete in itself, that shows each policy's share of captured versions over the budget.
func Plot(w io.Writer, title string, results []Result) error {
	var policies []string
	lines := map[string][]Result{}
	most, least := 1.0, 1.0
	for _, r := range results {
		if _, ok := lines[r.Policy]; !ok {
			policies = append(policies, r.Policy)
		}
		lines[r.Policy] = append(lines[r.Policy], r)
		if r.Budget > 0 {
			most, least = math.Max(most, r.Budget), math.Min(least, r.Budget)
		}
	}
	most = math.Max(most, 2*least)
	x := func(budget float64) float64 {
		return plotLeft + plotWidth*math.Log(math.Max(budget, least)/least)/math.Log(most/least)
	}
	y := func(share float64) float64 { return plotTop + plotHeight*(1-share) }
	var b strings.Builder
	height := plotTop + plotHeight + 50 + legendLine*float64(len(policies))
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>%[1]s</title>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0[2]f\" height=\"%.0[3]f\" font-family=\"sans-serif\" font-size=\"13\">\n", html.EscapeString(title), plotLeft+plotWidth+40, height)
	for share := 0.0; share < 1.01; share += 0.1 {
		fmt.Fprintf(&b, "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"20\" y=\"%.1f\">%.1f</text>\n", plotLeft, plotLeft+plotWidth, y(share), y(share), y(share)+4, share)
	}
	for i, p := range policies {
		colour := plotColours[i%len(plotColours)]
		var points []string
		for _, r := range lines[p] {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(r.Budget), y(r.Share)))
			fmt.Fprintf(&b, "<line x1=\"%.1[1]f\" x2=\"%.1[1]f\" y1=\"%.1[2]f\" y2=\"%.1[3]f\" stroke=\"%[4]s\"/><circle cx=\"%.1[1]f\" cy=\"%.1[5]f\" r=\"4\" fill=\"%[4]s\"><title>%[6]s at %.3[7]g×: %.3[8]f</title></circle><text x=\"%.1[1]f\" y=\"%.0[9]f\" text-anchor=\"middle\">%.3[7]g×</text>\n",
				x(r.Budget), y(r.Low), y(r.High), colour, y(r.Share), html.EscapeString(p), r.Budget, r.Share, plotTop+plotHeight+20)
		}
		at := plotTop + plotHeight + 50 + legendLine*float64(i)
		fmt.Fprintf(&b, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/><rect x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%.0f\" y=\"%.0f\">%s</text>\n",
			strings.Join(points, " "), colour, plotLeft, at-11, colour, plotLeft+20, at, html.EscapeString(p))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
