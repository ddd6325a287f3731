package browser

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestAWaitForWhatNeverComesEnds waits for what a page never shows, and for a script that takes longer than the wait.
func TestAWaitForWhatNeverComesEnds(t *testing.T) {
	t.Parallel()
	p := Open(t, 200, 100)
	p.Eval(`document.body.innerHTML = "<p>waiting</p><p hidden>secret</p>"`)
	if err := p.within(time.Minute, `document.body.innerText.includes("waiting")`); err != nil {
		t.Errorf("it is true at once: %v", err)
	}
	err := p.within(200*time.Millisecond, `window.done`)
	if err == nil {
		t.Fatal("a wait for what never comes succeeds")
	}
	for _, want := range []string{"wait for window.done: ", "deadline exceeded", "about:blank says waiting"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %q does not say %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error %q says what nobody sees", err)
	}
	busy := `(() => { for (const end = Date.now() + 500; Date.now() < end;); return false })()`
	if err := p.within(100*time.Millisecond, busy); err == nil {
		t.Error("a wait for a script that takes longer succeeds")
	}
}

// TestAPageThatIsNeverLoadedIsOpenedAgain opens a page with a picture that the server never sends the first time, and
// one with a picture that it never sends.
func TestAPageThatIsNeverLoadedIsOpenedAgain(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	ends := make(chan struct{}) // Chromium may ask again when its connection is closed
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/never.png", r.URL.Path == "/late.png" && asked.Add(1) == 1:
			select {
			case <-r.Context().Done():
			case <-ends:
			}
		case strings.HasSuffix(r.URL.Path, ".png"):
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<p>here</p><img src="`+r.URL.Path+`.png">`)
		}
	}))
	defer site.Close()
	defer site.CloseClientConnections()
	defer close(ends)
	p := Open(t, 200, 100)
	if err := p.open(site.URL+"/late", 3*time.Second); err != nil || asked.Load() < 2 {
		t.Errorf("the picture was asked for %d times: %v", asked.Load(), err)
	}
	err := p.open(site.URL+"/never", 500*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "/never: context deadline exceeded; "+site.URL+"/never says here") {
		t.Errorf("a page that is never loaded: %v", err)
	}
}

// TestHostsAreFoundInANetworkLog finds them in URLs, origins and keys of groups, and in no other text.
func TestHostsAreFoundInANetworkLog(t *testing.T) {
	t.Parallel()
	const log = `{"url":"http://a.example:80/page?u=https://inside.example/"},{"params":{"group_id":"pm/ssl/https://b.example:443 <https://part.example>"}},` +
		`{"origin":"wss://c.example"},{"host":"https://d.example:8443"},{"referrer":"https://no.example/"},{"url":"ftp://no.example/"},{"url":"https:///"},` +
		`{"note":"see \"url\": http://no.example/"},{"url":"http://a.example:80/"},"cut":"https://no.example`
	want := []string{"a.example:80", "b.example:443 <https:", "c.example", "d.example:8443", "a.example:80"}
	if got := hostsIn([]byte(log)); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	old := regexp.MustCompile(`"(?:url|group_id|origin|host)":"(?:[a-z/_]*(?:https?|wss?)://)([^/"]+)`)
	var same []string
	for _, found := range old.FindAllStringSubmatch(log, -1) {
		same = append(same, found[1])
	}
	if !slices.Equal(same, want) {
		t.Errorf("one expression finds %q, want %q", same, want)
	}
}
