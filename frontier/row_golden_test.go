package frontier

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// The format of stored rows never changes. Each row is read and written again with the same
// bytes, and its export has the same text.
func TestRowsAreReadAndWrittenByteForByte(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/rows-format-1.txt")
	noErr(t, err)
	defer file.Close()
	rows := map[string]int{}
	in := bufio.NewScanner(file)
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		if strings.HasPrefix(in.Text(), "#") {
			continue
		}
		kind, rest, _ := strings.Cut(in.Text(), " ")
		digits, export, _ := strings.Cut(rest, " ")
		row, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		switch kind {
		case "uri":
			err = checkGoldenURI(row, export)
		case "host":
			err = checkGoldenHost(row)
		case "robots":
			err = checkGoldenRobots(row)
		default:
			err = fmt.Errorf("unknown kind %q", kind)
		}
		if err != nil {
			t.Errorf("line %d: %v", n, err)
		}
		rows[kind]++
	}
	if err := in.Err(); err != nil || rows["uri"] < 90 || rows["host"] < 40 || rows["robots"] < 20 {
		t.Errorf("read %v, %v", rows, err)
	}
}

// checkGoldenURI reads a row in three ways: with the generated code, by the tags, and from the export.
func checkGoldenURI(row []byte, export string) error {
	var direct, byTags uriRow
	if !direct.read(row) {
		return fmt.Errorf("row %x was not read", row)
	}
	if err := cbor.Unmarshal(row, &byTags); err != nil {
		return err
	}
	var imported Entry
	if err := json.Unmarshal([]byte(export), &imported); err != nil {
		return err
	}
	fromExport := newURIRow(imported.Record, direct.Due)
	fromExport.Held, fromExport.Forbidden = imported.Held, imported.Forbidden
	for _, w := range []uriRow{direct, byTags, fromExport} {
		r, err := w.record()
		if err != nil {
			return err
		}
		again := newURIRow(r, w.Due)
		again.Held, again.Forbidden = w.Held, w.Forbidden
		if got, _ := again.appendTo(nil); !bytes.Equal(got, row) {
			return fmt.Errorf("wrote %x, want %x", got, row)
		}
		text, err := json.Marshal(Entry{Record: r, Held: w.Held, Forbidden: w.Forbidden})
		if err != nil {
			return err
		}
		if string(text) != export {
			return fmt.Errorf("exported %s, want %s", text, export)
		}
	}
	return nil
}

func checkGoldenHost(row []byte) error {
	var direct, byTags hostRow
	if !direct.read(row) {
		return fmt.Errorf("row %x was not read", row)
	}
	if err := cbor.Unmarshal(row, &byTags); err != nil {
		return err
	}
	for _, w := range []hostRow{direct, byTags} {
		if got, _ := w.appendTo(nil); !bytes.Equal(got, row) {
			return fmt.Errorf("wrote %x, want %x", got, row)
		}
	}
	return nil
}

func checkGoldenRobots(row []byte) error {
	var w robotsRow
	if err := cbor.Unmarshal(row, &w); err != nil {
		return err
	}
	got, err := cbor.Marshal(newRobotsRow(w.copy()))
	if err != nil || !bytes.Equal(got, row) {
		return fmt.Errorf("wrote %x, %v; want %x", got, err, row)
	}
	return nil
}
