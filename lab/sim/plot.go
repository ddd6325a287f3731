package sim

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// The measures of the plot in pixels.
const (
	plotWidth, plotHeight = 640.0, 440.0
	plotLeft, plotTop     = 80.0, 60.0
	plotBelow             = 60.0 // for the numbers and the title of the axis
	legendWidth           = 300.0
	legendLine            = 24.0
	aside                 = 7.0 // from one policy's interval to the next, so that none hides another
)

// The looks of a policy. Marks and dashes differ too, for readers who print in grey or do not see the colours.
var (
	plotColours = [...]string{"#1f4e8c", "#d95f02", "#1b7f5c", "#a6246b", "#6a51a3", "#7a5c00", "#444444"}
	plotDashes  = [...]string{"", "8 4", "2 3", "10 3 2 3", "4 2"}
	plotMarks   = [...]string{
		"M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z", "M-5-5H5V5H-5Z", "M0-6L6 5H-6Z", "M0-7L6 0L0 7L-6 0Z",
		"M-6-5H6L0 6Z", "M-6-2H-2V-6H2V-2H6V2H2V6H-2V2H-6Z",
	}
)

// Plot writes an HTML page without references: the picture that [Picture] draws, and its figures as a table.
func Plot(w io.Writer, title string, results []Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>%s</title>\n<style>body{font:14px sans-serif;margin:1em}svg{max-width:100%%;height:auto}"+
		"table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;text-align:right;border-bottom:1px solid #ccc}td:first-child,th:first-child{text-align:left}</style>\n", html.EscapeString(title))
	draw(&b, title, results)
	b.WriteString("<table>\n<tr><th>policy</th><th>budget</th><th>captured</th><th>95&#160;%</th><th>versions</th><th>requests</th><th>wasted</th><th>mean delay</th><th>mean overdue</th></tr>\n")
	for _, r := range results {
		t := r.Total
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%.2f×</td><td>%.1f&#160;%%</td><td>%.1f–%.1f&#160;%%</td><td>%d</td><td>%d</td><td>%d</td><td>%s</td><td>%s</td></tr>\n",
			html.EscapeString(r.Policy), r.Budget, 100*r.Share, 100*r.Low, 100*r.High, t.Versions,
			t.Requests, t.Wasted(), t.MeanDelay(), t.MeanLate())
	}
	b.WriteString("</table>\n<p>A request is wasted if it found nothing new. The delay is the time from a change to its capture. A visit is overdue from its due time until it is made.</p>\n</html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Picture writes an SVG of each policy's share of captured versions over the budget, with its interval.
func Picture(w io.Writer, title string, results []Result) error {
	var b strings.Builder
	draw(&b, title, results)
	_, err := io.WriteString(w, b.String())
	return err
}

// MeanDelay returns the mean time from a change to its capture, to the second.
func (t Tally) MeanDelay() time.Duration {
	return (t.Delay / time.Duration(max(t.Captured, 1))).Round(time.Second)
}

// MeanLate returns the mean time from a due time to the visit, to the second.
func (t Tally) MeanLate() time.Duration {
	return (t.Late / time.Duration(max(t.Requests, 1))).Round(time.Second)
}

// curve is one policy in the picture.
type curve struct {
	name               string
	points             []Result // by budget
	colour, dash, mark string
}

func curves(results []Result) []curve {
	var all []curve
	at := map[string]int{}
	for _, r := range results {
		i, ok := at[r.Policy]
		if !ok {
			i = len(all)
			at[r.Policy] = i
			all = append(all, curve{
				name: r.Policy, colour: plotColours[i%len(plotColours)],
				dash: plotDashes[i%len(plotDashes)], mark: plotMarks[i%len(plotMarks)],
			})
		}
		all[i].points = append(all[i].points, r)
	}
	for _, c := range all {
		slices.SortStableFunc(c.points, func(a, b Result) int { return cmp.Compare(a.Budget, b.Budget) })
	}
	return all
}

// octaves returns the powers of two between which all budgets are.
func octaves(results []Result) (low, high int) {
	low, high = math.MaxInt32, math.MinInt32
	for _, r := range results {
		if r.Budget > 0 {
			octave := math.Log2(r.Budget)
			low, high = min(low, int(math.Floor(octave+0.01))), max(high, int(math.Ceil(octave-0.01)))
		}
	}
	if low > high {
		return 0, 1
	}
	return low, max(high, low+1)
}

func draw(b *strings.Builder, title string, results []Result) {
	low, high := octaves(results)
	x := func(budget float64) float64 {
		octave := math.Log2(math.Max(budget, math.Exp2(float64(low))))
		return plotLeft + 30 + (plotWidth-60)*(octave-float64(low))/float64(high-low)
	}
	y := func(share float64) float64 { return plotTop + plotHeight*(1-share) }
	all := curves(results)
	width := plotLeft + plotWidth + legendWidth
	height := max(plotTop+plotHeight+plotBelow, plotTop+legendLine*float64(len(all)+2))
	fmt.Fprintf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0[1]f\" height=\"%.0[2]f\" viewBox=\"0 0 %.0[1]f %.0[2]f\" font-family=\"sans-serif\" font-size=\"13\">\n", width, height)
	fmt.Fprintf(b, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n<text x=\"%.0f\" y=\"30\" font-size=\"17\">%s</text>\n", width, height, plotLeft, html.EscapeString(title))
	for percent := 0; percent <= 100; percent += 10 {
		at := y(float64(percent) / 100)
		fmt.Fprintf(b, "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%d&#160;%%</text>\n", plotLeft, plotLeft+plotWidth, at, at, plotLeft-8, at+4, percent)
	}
	for octave := low; octave <= high; octave++ {
		budget := math.Exp2(float64(octave))
		fmt.Fprintf(b, "<line x1=\"%.1[1]f\" x2=\"%.1[1]f\" y1=\"%.1[2]f\" y2=\"%.1[3]f\" stroke=\"#ddd\"/><text x=\"%.1[1]f\" y=\"%.1[4]f\" text-anchor=\"middle\">%.3[5]g×</text>\n",
			x(budget), plotTop, plotTop+plotHeight, plotTop+plotHeight+20, budget)
	}
	fmt.Fprintf(b, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">requests, as a multiple of what Heritrix’s rule makes with its defaults</text>\n", plotLeft+plotWidth/2, plotTop+plotHeight+45)
	fmt.Fprintf(b, "<text transform=\"translate(22 %.0f) rotate(-90)\" text-anchor=\"middle\">share of the versions that was captured</text>\n", plotTop+plotHeight/2)
	for i, c := range all {
		shift := aside * (float64(i) - float64(len(all)-1)/2)
		c.draw(b, func(budget float64) float64 { return x(budget) + shift }, y)
		c.legend(b, plotTop+legendLine*(float64(i)+0.5))
	}
	fmt.Fprintf(b, "<text x=\"%.0f\" y=\"%.0f\" font-size=\"12\" fill=\"#444\">upright lines: 95&#160;%% intervals</text>\n</svg>\n", plotLeft+plotWidth+20, plotTop+legendLine*(float64(len(all))+0.7))
}

func (c curve) draw(b *strings.Builder, x, y func(float64) float64) {
	points := make([]string, len(c.points))
	for i, r := range c.points {
		points[i] = fmt.Sprintf("%.1f,%.1f", x(r.Budget), y(r.Share))
	}
	fmt.Fprintf(b, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n", strings.Join(points, " "), c.colour, c.dash)
	for _, r := range c.points {
		at := x(r.Budget)
		fmt.Fprintf(b, "<path d=\"M%.1[1]f %.1[2]fh6M%.1[3]f %.1[2]fV%.1[4]fM%.1[1]f %.1[4]fh6\" stroke=\"%[5]s\" stroke-width=\"1\"/>", at-3, y(r.Low), at, y(r.High), c.colour)
		fmt.Fprintf(b, "<path transform=\"translate(%.1f %.1f)\" d=\"%s\" fill=\"%s\"><title>%s at %.3g×: %.1f&#160;%% (%.1f–%.1f&#160;%%)</title></path>\n",
			at, y(r.Share), c.mark, c.colour, html.EscapeString(c.name), r.Budget, 100*r.Share, 100*r.Low, 100*r.High)
	}
}

// legend writes the name of the policy next to the picture. A long name, such as a path, is cut at its
// beginning.
func (c curve) legend(b *strings.Builder, at float64) {
	const maxName = 36
	name := []rune(c.name)
	if len(name) > maxName {
		name = append([]rune("…"), name[len(name)-maxName+1:]...)
	}
	left := plotLeft + plotWidth + 20
	fmt.Fprintf(b, "<line x1=\"%.0[1]f\" x2=\"%.0[2]f\" y1=\"%.1[3]f\" y2=\"%.1[3]f\" stroke=\"%[4]s\" stroke-width=\"2\" stroke-dasharray=\"%[5]s\"/><path transform=\"translate(%.0[6]f %.1[3]f)\" d=\"%[7]s\" fill=\"%[4]s\"/><text x=\"%.0[8]f\" y=\"%.1[9]f\">%[10]s</text>\n",
		left, left+36, at, c.colour, c.dash, left+18, c.mark, left+44, at+4, html.EscapeString(string(name)))
}
