package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	systemd "github.com/coreos/go-systemd/v22/journal"
	"github.com/rs/zerolog"
)

// NewLogger returns a logger that writes to w: lines for people if w is a terminal or leads to systemd's journal, and
// JSON lines otherwise.
func NewLogger(w io.Writer, terminal bool) zerolog.Logger {
	if toJournal(w) {
		return zerolog.New(journalWriter{w})
	}
	if terminal {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(w).With().Timestamp().Logger()
}

// PrintError prints why the program failed. In systemd's journal, each line is marked as an error.
func PrintError(w io.Writer, text string) {
	if toJournal(w) {
		mark := fmt.Sprintf("<%d>", priorities[zerolog.ErrorLevel])
		text = mark + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+mark) + "\n"
	}
	fmt.Fprint(w, text)
}

// toJournal reports whether w is the standard error of a service, and leads to systemd's journal.
func toJournal(w io.Writer) bool {
	if w != os.Stderr {
		return false
	}
	is, err := systemd.StderrIsJournalStream()
	return err == nil && is
}

// priorities maps the levels of the log to the numbers of syslog.
var priorities = map[zerolog.Level]int{
	zerolog.DebugLevel: 7, zerolog.InfoLevel: 6, zerolog.WarnLevel: 4, zerolog.ErrorLevel: 3,
	zerolog.FatalLevel: 2, zerolog.PanicLevel: 0,
}

// journalWriter writes each event in the form of the journal: one line for people with its priority before it, and
// without the time, which the journal adds.
type journalWriter struct{ out io.Writer }

var _ zerolog.LevelWriter = journalWriter{}

// Write writes an event without a level.
func (w journalWriter) Write(event []byte) (int, error) {
	return w.WriteLevel(zerolog.InfoLevel, event)
}

// WriteLevel writes an event with one call of Write, so that the lines of two goroutines are not mixed.
func (w journalWriter) WriteLevel(l zerolog.Level, event []byte) (int, error) {
	priority, ok := priorities[l]
	if !ok {
		priority = priorities[zerolog.InfoLevel]
	}
	var line bytes.Buffer
	fmt.Fprintf(&line, "<%d>", priority)
	people := zerolog.ConsoleWriter{
		Out: &line, NoColor: true, PartsExclude: []string{zerolog.TimestampFieldName, zerolog.LevelFieldName},
	}
	if _, err := people.Write(event); err != nil {
		return 0, err
	}
	if _, err := w.out.Write(line.Bytes()); err != nil {
		return 0, err
	}
	return len(event), nil
}
