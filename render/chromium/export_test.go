package chromium

import "github.com/chromedp/chromedp"

// PID returns the id of the running process.
func (b *Browser) PID() int { return chromedp.FromContext(b.proc.ctx).Browser.Process().Pid }
