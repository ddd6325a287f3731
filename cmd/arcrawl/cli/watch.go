package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"
)

// Watch shows page after page until ctx ends, at an interval.
func Watch(ctx context.Context, out io.Writer, every time.Duration, write func(io.Writer) error) error {
	if every < 100*time.Millisecond {
		return Usage(fmt.Errorf("--every %v is too short; the minimum is 100ms", every))
	}
	live := IsTerminal(out)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		var page bytes.Buffer
		err := write(&page)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		text := page.Bytes()
		if live {
			lines := bytes.ReplaceAll(Escaped(text), []byte("\n"), []byte(ClearLine+"\n"))
			text = append([]byte(Home), lines...)
			text = append(text, ClearRest...)
		}
		if _, err := Unescaped(out).Write(text); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
