package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
)

// isTerminal reports whether a reader or writer is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// progressEvery is the time between two updates of the progress line.
const progressEvery = 500 * time.Millisecond

// showLine shows a line on a terminal and updates it until stop is called. It does nothing if w is not a terminal.
func showLine(w io.Writer, line func() string) (stop func()) {
	if !isTerminal(w) {
		return func() {}
	}
	end := make(chan struct{})
	var showing sync.WaitGroup
	showing.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-end:
				fmt.Fprint(w, "\r\x1b[K")
				return
			case <-tick.C:
				fmt.Fprint(w, "\r\x1b[K", line())
			}
		}
	})
	return func() {
		close(end)
		showing.Wait()
	}
}
