package warcout

import (
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestIDsOfAFileDifferOnlyInTheirNumber writes two files, with a failed visit between other visits.
func TestIDsOfAFileDifferOnlyInTheirNumber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	mustWrite(t, w, start, visit(address(1), page("x")))
	short := page("x")
	short.Size++
	if _, err := w.Write(start, visit(address(2), short)); err == nil {
		t.Error("a response that is not as long as announced is written")
	}
	mustWrite(t, w, start, visit(address(3), page("y")))
	if err := w.Seal(start); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, w, start, visit(address(4), page("z")))
	if err := w.Close(start); err != nil {
		t.Fatal(err)
	}
	var numbers []string
	files := map[string]bool{}
	for _, k := range readDir(t, dir) {
		id := strings.Trim(k.id(), "<>")
		u, err := uuid.Parse(id)
		if err != nil || u.URN() != id || u.Version() != 8 || u.Variant() != uuid.RFC4122 {
			t.Errorf("id %s is version %d, variant %s: %v", id, u.Version(), u.Variant(), err)
		}
		files[id[:len(id)-8]] = true
		numbers = append(numbers, id[len(id)-8:])
	}
	want := "00000000 00000010 00000011 00000012 00000030 00000031 00000032 " + "00000000 00000010 00000011 00000012"
	if got := strings.Join(numbers, " "); got != want || len(files) != 2 {
		t.Errorf("the numbers of the records are %s, want %s; they begin in %d ways", got, want, len(files))
	}
}

func TestAFileEndsWithItsLastNumber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	first := mustWrite(t, w, start, visit(address(1), page("x")))
	w.current[""].visits = maxVisits - 1
	last := mustWrite(t, w, start, visit(address(2), page("y")))
	next := mustWrite(t, w, start, visit(address(3), page("z")))
	if err := w.Close(start); err != nil {
		t.Fatal(err)
	}
	if first.Origin.File != last.Origin.File || next.Origin.File == last.Origin.File || !strings.HasSuffix(last.Origin.RecordID, "fffffff0") {
		t.Errorf("the last number of a file is %s, followed by %+v", last.Origin.RecordID, next.Origin)
	}
}
