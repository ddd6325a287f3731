package render_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/render/chromium"
	"github.com/arcrawl/arcrawl/uri"
)

// banners hold, for each preset, a page with the markup that the tool documents. YES is what the button does that is
// wanted, and NO what the others do.
var banners = map[string]string{
	"complianz": `<div id="cmplz-cookiebanner-container"><div class="cmplz-cookiebanner banner-1 optin"><div class="cmplz-buttons">
		<button class="cmplz-btn cmplz-deny" NO>Deny</button><button class="cmplz-btn cmplz-accept" YES>Accept</button></div></div></div>`,
	"consentmanager": `<div id="cmpbox"><div class="cmpboxbtns"><span id="cmpwelcomebtnno"><a class="cmpboxbtn cmpboxbtnno" href="#" NO>Reject</a></span>
		<span id="cmpwelcomebtnyes"><a class="cmpboxbtn cmpboxbtnyes" href="#" YES>Accept all</a></span></div></div>`,
	"cookiebot": `<div id="CybotCookiebotDialog"><div id="CybotCookiebotDialogBodyButtons">
		<button id="CybotCookiebotDialogBodyButtonDecline" NO>Deny</button>
		<button id="CybotCookiebotDialogBodyLevelButtonLevelOptinAllowSelection" NO>Allow selection</button>
		<button id="CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll" YES>Allow all</button></div></div>`,
	"cookiefirst": `<div class="cookiefirst-root"><button data-cookiefirst-action="reject" NO>Reject</button>
		<button data-cookiefirst-action="accept" YES>Accept all</button></div>`,
	"cookieinformation": `<div id="coiOverlay"><div id="coi-banner-wrapper"><button class="coi-banner__lastpage" id="declineButton" NO>Kun nødvendige</button>
		<button class="coi-banner__accept" YES>Accepter alle</button></div></div>`,
	"cookieyes": `<div class="cky-consent-container"><div class="cky-consent-bar"><button class="cky-btn cky-btn-reject" data-cky-tag="reject-button" NO>Reject</button>
		<button class="cky-btn cky-btn-accept" data-cky-tag="accept-button" YES>Accept</button></div></div>`,
	"didomi": `<div id="didomi-host"><div id="didomi-popup"><div class="didomi-popup-notice"><button id="didomi-notice-learn-more-button" NO>More</button>
		<button id="didomi-notice-disagree-button" NO>Disagree</button><button id="didomi-notice-agree-button" YES>Agree</button></div></div></div>`,
	"inmobi": `<div class="qc-cmp2-container" id="qc-cmp2-container"><div id="qc-cmp2-ui"><div class="qc-cmp2-summary-buttons">
		<button mode="secondary" size="large" NO>MORE OPTIONS</button><button mode="primary" size="large" YES>AGREE</button></div></div></div>`,
	"iubenda": `<div id="iubenda-cs-banner"><div class="iubenda-cs-opt-group"><button class="iubenda-cs-customize-btn" NO>Learn more</button>
		<button class="iubenda-cs-reject-btn" NO>Reject</button><button class="iubenda-cs-accept-btn iubenda-cs-btn-primary" YES>Accept</button></div></div>`,
	"klaro": `<div id="klaro"><div class="klaro"><div class="cookie-notice"><button class="cm-btn cm-btn-danger cn-decline" NO>I decline</button>
		<button class="cm-btn cm-btn-success" YES>That's ok</button></div></div></div>`,
	"onetrust": `<div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk"><div id="onetrust-button-group"><button id="onetrust-pc-btn-handler" NO>Settings</button>
		<button id="onetrust-reject-all-handler" NO>Reject All</button><button id="onetrust-accept-btn-handler" YES>Accept All</button></div></div></div>`,
	"osano": `<div class="osano-cm-window"><div class="osano-cm-dialog"><button class="osano-cm-denyAll osano-cm-button" NO>Reject</button>
		<button class="osano-cm-accept-all osano-cm-button" YES>Accept</button></div></div>`,
	"sourcepoint": `<div id="sp_message_container_1"><iframe id="sp_message_iframe_1" src="/message.html"></iframe></div>`,
	"termly": `<div id="termly-code-snippet-support"><div><button data-tid="banner-decline" NO>Decline</button>
		<button data-tid="banner-accept" YES>Accept</button></div></div>`,
	"trustarc": `<div id="truste-consent-track"><div id="truste-consent-buttons"><button id="truste-show-consent" NO>Cookie settings</button>
		<button id="truste-consent-required" NO>Required only</button><button id="truste-consent-button" YES>Accept all</button></div></div>`,
	"usercentrics": `<div id="usercentrics-root"></div><script>
		document.getElementById("usercentrics-root").attachShadow({mode: "open"}).innerHTML = '<div data-testid="uc-default-wall">' +
			'<button data-testid="uc-deny-all-button" NO>Deny</button><button data-testid="uc-accept-all-button" YES>Accept All</button></div>'</script>`,
	"load-more": `<a href="/next.html">Read more news</a><div class="feed"><button YES><span>Vis flere</span> <b>(12)</b></button></div>`,
}

// message is the document of a frame of Sourcepoint.
const message = `<div class="message-row"><button class="message-button sp_choice_type_12" NO>Options</button>
	<button class="message-button sp_choice_type_13" NO>Reject</button>
	<button class="message-button sp_choice_type_11" YES>Accept</button></div>`

// TestPresetsClickWhatIsMeant does each preset on a page with the markup of its tool, and then the preset of all tools.
func TestPresetsClickWhatIsMeant(t *testing.T) {
	slow.Test(t)
	program, err := chromium.Find("")
	if err != nil {
		t.Skipf("run scripts/test-deps: %v", err)
	}
	b := chromium.NewBrowser(chromium.Options{Program: program, Memory: 3e9})
	t.Cleanup(b.Close)
	for name, html := range banners {
		steps := []string{name}
		if name != "load-more" {
			steps = append(steps, "consent")
		}
		for _, step := range steps {
			c := testcrawl.Load(t, t.TempDir(), "[operator]\nname = \"Test\"\ncontact = \"https://library.example/\"\n[seeds]\nuris = [\""+front+
				"\"]\n[render]\npages = \"changed\"\ndo = [{ preset = \""+step+"\" }]\n")
			s := c.For(config.About{URI: uri.FromCanonical(front), Now: time.Now()})
			if len(s.Render.Do) != 1 {
				t.Fatalf("%s has the steps %v", step, s.Render.Do)
			}
			click := strings.NewReplacer("YES", `onclick="fetch('/yes').catch(() => {}); this.remove()"`, "NO", `onclick="fetch('/no').catch(() => {})"`)
			if name == "usercentrics" {
				click = strings.NewReplacer("YES", `onclick="fetch(&quot;/yes&quot;); this.remove()"`, "NO", `onclick="fetch(&quot;/no&quot;)"`)
			}
			answer := func(_ context.Context, q chromium.Request) chromium.Answer {
				body := ""
				switch {
				case q.Main:
					body = html
				case strings.HasSuffix(q.URI, "/message.html"):
					body = message
				}
				return chromium.Answer{
					Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}},
					Body: []byte("<!DOCTYPE html><body>" + click.Replace(body)),
				}
			}
			r, err := b.Render(t.Context(), chromium.Job{
				URI: front, Answer: answer, Limit: time.Minute, Steps: []chromium.Step{chromium.Step(s.Render.Do[0])},
			})
			if err != nil {
				t.Fatalf("%s by %s: %v", name, step, err)
			}
			var asked []string
			for _, f := range r.Found {
				if path := strings.TrimPrefix(f.URI, front); path == "yes" || path == "no" {
					asked = append(asked, path)
				}
			}
			if len(asked) != 1 || asked[0] != "yes" || r.Steps[0].Times != 1 {
				t.Errorf("%s by %s: asked for %q: %+v", name, step, asked, r.Steps)
			}
		}
	}
}
