package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/rs/zerolog"
)

// toJournal reports whether w is the standard error of a service whose lines go to systemd's journal.
func toJournal(w io.Writer) bool {
	if w != os.Stderr {
		return false
	}
	is, err := journal.StderrIsJournalStream()
	return err == nil && is
}

// priorities are syslog's numbers for the levels of the log.
var priorities = map[zerolog.Level]int{
	zerolog.DebugLevel: 7, zerolog.InfoLevel: 6, zerolog.WarnLevel: 4, zerolog.ErrorLevel: 3, zerolog.FatalLevel: 2, zerolog.PanicLevel: 0,
}

// journalWriter writes events as the journal likes them: one line for people with its priority in front, and without the
// time, which the journal notes itself.
type journalWriter struct{ out io.Writer }

var _ zerolog.LevelWriter = journalWriter{}

// Write writes an event without a level.
func (w journalWriter) Write(event []byte) (int, error) {
	return w.WriteLevel(zerolog.InfoLevel, event)
}

// WriteLevel writes an event.
func (w journalWriter) WriteLevel(l zerolog.Level, event []byte) (int, error) {
	priority, ok := priorities[l]
	if !ok {
		priority = priorities[zerolog.InfoLevel]
	}
	var line bytes.Buffer
	fmt.Fprintf(&line, "<%d>", priority)
	people := zerolog.ConsoleWriter{Out: &line, NoColor: true, PartsExclude: []string{zerolog.TimestampFieldName, zerolog.LevelFieldName}}
	if _, err := people.Write(event); err != nil {
		return 0, err
	}
	// One write, so that the lines of two goroutines stay apart.
	if _, err := w.out.Write(line.Bytes()); err != nil {
		return 0, err
	}
	return len(event), nil
}

// complain prints why the command failed. In the journal each line of it is marked as an error.
func complain(w io.Writer, text string) {
	if toJournal(w) {
		mark := fmt.Sprintf("<%d>", priorities[zerolog.ErrorLevel])
		text = mark + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+mark) + "\n"
	}
	fmt.Fprint(w, text)
}
