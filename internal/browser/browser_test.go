package browser_test

import (
	"image/color"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/arcrawl/arcrawl/internal/browser"
)

func TestABrowserShowsAPage(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<body style="margin:0;background:rgb(1,2,3)"><p id=p>waiting</p><script>setTimeout(() => p.textContent = "done", 50)</script>`)
	}))
	defer site.Close()
	p := browser.Open(t, 200, 100)
	p.Go(site.URL)
	p.Wait(`document.getElementById("p").textContent == "done"`)
	if got := p.Eval(`Promise.resolve(document.body.innerText)`); got != `"done"` {
		t.Errorf("the page says %q", got)
	}
	shot := p.Screenshot()
	if size := shot.Bounds().Size(); size.X != 200 || size.Y != 100 {
		t.Errorf("the screenshot has %v pixels", size)
	}
	if r, g, b, _ := shot.At(199, 99).RGBA(); r>>8 != 1 || g>>8 != 2 || b>>8 != 3 {
		t.Errorf("its corner is %v", color.RGBAModel.Convert(shot.At(199, 99)))
	}
}
