package warcout

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/internal/slow"
)

// torn describes a file as left by a crash: an .open file with three visits, and the ends of its records.
type torn struct {
	name string // name of the .open file
	data []byte
	ends []int64
}

// leave writes three visits and returns the state of the file before Close.
func leave(t testing.TB, o Options) torn {
	t.Helper()
	o.Dir = t.TempDir()
	w, _ := opened(t, o)
	for i := range 3 {
		mustWrite(t, w, start, visit(address(i), noise(i, 40)))
	}
	var c torn
	c.name = namesIn(t, o.Dir)[0]
	path := filepath.Join(o.Dir, c.name)
	data, err := os.ReadFile(path)
	must(t, err)
	c.data = data
	records, err := readFile(path)
	must(t, err)
	for _, k := range records {
		c.ends = append(c.ends, k.offset+k.length)
	}
	if len(c.ends) != 10 {
		t.Fatalf("%d records, want 10", len(c.ends))
	}
	return c
}

// whole returns the number of records in the first n bytes.
func (c torn) whole(n int) (records int) {
	for _, end := range c.ends {
		if end <= int64(n) {
			records++
		}
	}
	return records
}

func TestFileCutAtAnyByteIsRepairedToItsWholeRecords(t *testing.T) {
	t.Parallel()
	c := leave(t, Options{})
	dir := memoryDir(t)
	step := 1
	if slow.Reduced() {
		step = 7
	}
	for n := 0; n <= len(c.data); n += step {
		put(t, dir, cutName(n)+openSuffix, string(c.data[:n]))
	}
	opened(t, Options{Dir: dir, Prefix: "cut"})
	for n := 0; n <= len(c.data); n += step {
		path := filepath.Join(dir, cutName(n))
		if _, err := os.Stat(path + openSuffix); err == nil {
			t.Errorf("cut at %d: the .open file is still there", n)
		}
		want := c.whole(n)
		if want <= 1 { // a file with only a warcinfo is removed
			if _, err := os.Stat(path); err == nil {
				t.Errorf("cut at %d: a file without visits was kept", n)
			}
			continue
		}
		if records, err := readFile(path); err != nil || len(records) != want {
			t.Errorf("cut at %d: %d records, %v; want %d", n, len(records), err, want)
		}
	}
}

// memoryDir returns a folder in memory if the system has one, because thousands of syncs take a minute on a disk.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "warcout-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func cutName(n int) string { return naming{prefix: "cut", host: "c1"}.name("", start, n) }

func TestRepairs(t *testing.T) {
	t.Parallel()
	c := leave(t, Options{})
	size := int64(len(c.data))
	final := strings.TrimSuffix(c.name, openSuffix)
	stem := "arcrawl-20261121090000123-00001-localhost.warc.gz"
	damaged := bytes.Clone(c.data)
	copy(damaged[c.ends[3]:], make([]byte, 30))
	tests := []struct {
		name    string
		files   map[string]string
		journal []string // lines after the version
		want    []Repair
		after   []string // names and sizes
	}{
		{
			name:  "a whole file is sealed",
			files: map[string]string{c.name: string(c.data)},
			want:  []Repair{{File: c.name, Before: size, After: size, Kind: Whole, Sealed: final}},
			after: []string{final},
		},
		{
			name:  "a torn tail is cut off",
			files: map[string]string{c.name: string(c.data[:size-1])},
			want:  []Repair{{File: c.name, Before: size - 1, After: c.ends[8], Kind: Cut, Sealed: final}},
			after: []string{final},
		},
		{
			name:  "zeros that a power cut left are cut off",
			files: map[string]string{c.name: string(c.data) + strings.Repeat("\x00", 5000)},
			want:  []Repair{{File: c.name, Before: size + 5000, After: size, Kind: Cut, Sealed: final}},
			after: []string{final},
		},
		{
			name:  "an empty file is removed",
			files: map[string]string{c.name: ""},
			want:  []Repair{{File: c.name, Kind: Removed}},
		},
		{
			name:  "a file from another host name of ours is repaired too",
			files: map[string]string{"arcrawl-20200101000000000-00001-pod-7.warc.gz.open": string(c.data)},
			want: []Repair{{
				File: "arcrawl-20200101000000000-00001-pod-7.warc.gz.open", Before: size, After: size, Kind: Whole,
				Sealed: "arcrawl-20200101000000000-00001-pod-7.warc.gz",
			}},
			after: []string{"arcrawl-20200101000000000-00001-pod-7.warc.gz"},
		},
		{
			name:  "a taken name is not overwritten",
			files: map[string]string{c.name: string(c.data), final: "other"},
			want:  []Repair{{File: c.name, Before: size, After: size, Kind: Whole, Sealed: strings.Replace(final, "-00001-", "-00002-", 1)}},
			after: []string{final, strings.Replace(final, "-00001-", "-00002-", 1)},
		},
		{
			name: "foreign files are left alone",
			files: map[string]string{
				"heritrix-20261121090000123-00001-localhost.warc.gz.open": "x", "arcrawl-1-00001-localhost.warc.gz.open": "x",
				"notes.open": "x", "arcrawl-20261121090000123-00001-localhost.warc.gz.open.bak": "x", ".open": "x",
			},
			after: []string{
				".open", "arcrawl-1-00001-localhost.warc.gz.open", "arcrawl-20261121090000123-00001-localhost.warc.gz.open.bak",
				"heritrix-20261121090000123-00001-localhost.warc.gz.open", "notes.open",
			},
		},
		{
			name:    "what the journal vouches for is not read again",
			files:   map[string]string{c.name: string(damaged)},
			journal: []string{"checkpoint " + final + " " + decimal(c.ends[4]) + " 5"},
			want:    []Repair{{File: c.name, Before: size, After: size, Kind: Whole, Sealed: final}},
			after:   []string{final},
		},
		{
			name:    "a file shorter than what was synced is reported as such",
			files:   map[string]string{c.name: string(c.data[:c.ends[3]])},
			journal: []string{"checkpoint " + final + " " + decimal(size) + " 10"},
			want:    []Repair{{File: c.name, Before: size, After: c.ends[3], Kind: Short, Sealed: final}},
			after:   []string{final},
		},
		{
			name:    "a crash between the journal and the renaming is nothing to speak of",
			files:   map[string]string{c.name: string(c.data)},
			journal: []string{"opened " + final + " 100 1", "sealed " + final + " " + decimal(size) + " 10"},
			want:    []Repair{{File: c.name, Before: size, After: size, Kind: Whole, Sealed: final}},
			after:   []string{final},
		},
		{
			name:    "a sealed file cut between two records is found by its size",
			files:   map[string]string{final: string(c.data[:c.ends[5]])},
			journal: []string{"sealed " + final + " " + decimal(size) + " 10"},
			want:    []Repair{{File: final, Before: size, After: c.ends[5], Kind: Differs}},
			after:   []string{final},
		},
		{
			name:    "a sealed file that was moved away is no finding",
			journal: []string{"sealed " + final + " " + decimal(size) + " 10", "removed " + stem + " 0 0"},
		},
		{
			name:    "damaged lines of the journal are counted and skipped",
			files:   map[string]string{final: "x"},
			journal: []string{"sealed " + final + " 5 1", "sealed ../x 5 1", "sealed " + final, "", strings.Repeat("x", 10000)},
			want: []Repair{
				{File: final, Before: 5, After: 1, Kind: Differs},
				{File: "journal", Before: 4, After: 4, Kind: DamagedJournal},
			},
			after: []string{final},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, home := t.TempDir(), t.TempDir()
			for name, content := range tt.files {
				put(t, dir, name, content)
			}
			o := Options{Dir: dir}
			if tt.journal != nil {
				o.Journal = filepath.Join(home, "journal")
				text := journalVersion
				for _, line := range tt.journal {
					text += "2026-11-21T09:00:00.000000Z " + line + "\n"
				}
				put(t, home, "journal", text+"2026-11-21T09:00:00.000000Z sealed torn")
			}
			_, got := opened(t, o)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("repairs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.after, namesIn(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			for name, content := range tt.files {
				if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil && string(b) != content {
					t.Errorf("%s was changed", name)
				}
			}
		})
	}
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func TestDamageBeforeWholeRecordsIsKept(t *testing.T) {
	t.Parallel()
	c := leave(t, Options{})
	damaged := bytes.Clone(c.data)
	copy(damaged[c.ends[3]:], make([]byte, 30))
	dir := t.TempDir()
	put(t, dir, c.name, string(damaged))
	_, repairs := opened(t, Options{Dir: dir})
	if len(repairs) != 1 || repairs[0].Kind != Cut || repairs[0].After != c.ends[3] || repairs[0].Tail == "" {
		t.Fatalf("repairs %v, want a cut at %d that keeps the tail", repairs, c.ends[3])
	}
	tail, err := os.ReadFile(filepath.Join(dir, repairs[0].Tail))
	if err != nil || !bytes.Equal(tail, damaged[c.ends[3]:]) {
		t.Errorf("the tail has %d bytes, %v; want the %d that were cut off", len(tail), err, len(damaged)-int(c.ends[3]))
	}
	if records := readDir(t, dir); len(records) != 4 {
		t.Errorf("%d records are left, want 4", len(records))
	}
}

func TestOpenFileOfAnotherWriterIsNotRepaired(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, _ := opened(t, Options{Dir: dir})
	mustWrite(t, one, start, visit(address(1), page("x")))
	two, repairs := opened(t, Options{Dir: dir})
	if len(repairs) != 0 {
		t.Errorf("repairs %v of a file that is being written", repairs)
	}
	mustWrite(t, one, start, visit(address(2), page("x")))
	mustWrite(t, two, start, visit(address(3), page("x")))
	must(t, two.Close(start))
	checkKept(t, one, dir, map[string]bool{address(1): true, address(2): true, address(3): true})
}

func TestJournalLogsTheLifeOfEachFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(t.TempDir(), "warc.journal")
	w, _ := opened(t, Options{Dir: dir, Journal: path})
	mustWrite(t, w, start, visit(address(0), page("x")))
	w.current[""].logged -= checkpointEvery // as if these bytes had been written since the last journal line
	mustWrite(t, w, start, visit(address(1), page("x")))
	mustWrite(t, w, start.Add(time.Second), visit(address(2), page("x")))
	must(t, w.Close(start.Add(time.Minute)))
	records := readDir(t, dir)
	end := func(i int) string { return decimal(records[i].offset + records[i].length) }
	name := records[0].file
	want := journalVersion +
		"2026-11-21T09:00:00.123456Z opened " + name + " " + end(0) + " 1\n" +
		"2026-11-21T09:00:00.123456Z checkpoint " + name + " " + end(6) + " 7\n" +
		"2026-11-21T09:01:00.123456Z sealed " + name + " " + end(9) + " 10\n"
	got, err := os.ReadFile(path)
	must(t, err)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	_, repairs := opened(t, Options{Dir: dir, Journal: path})
	if len(repairs) != 0 {
		t.Errorf("the next start finds %v", repairs)
	}
}

func TestForeignJournalIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"arcrawl-warc-journal 2\n", "hello\n", "hello"} {
		dir := t.TempDir()
		put(t, dir, "j", text)
		if _, _, err := Open(Options{Dir: dir, Journal: filepath.Join(dir, "j")}, start); err == nil {
			t.Errorf("a journal that begins with %q was accepted", text)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "j")); err != nil || string(b) != text {
			t.Errorf("it holds %q now, %v", b, err)
		}
	}
}

func TestIncompleteFirstLineOfAJournalIsWrittenAgain(t *testing.T) {
	t.Parallel()
	for n := range len(journalVersion) {
		dir := t.TempDir()
		put(t, dir, "j", journalVersion[:n])
		w, _ := opened(t, Options{Dir: dir, Journal: filepath.Join(dir, "j")})
		must(t, w.Close(start))
		if b, err := os.ReadFile(filepath.Join(dir, "j")); err != nil || string(b) != journalVersion {
			t.Errorf("from %q came %q, %v", journalVersion[:n], b, err)
		}
	}
}

func TestLostFrom(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		r    Repair
		from int64
		lost bool
	}{
		{"nothing of a whole one", Repair{Kind: Whole, Before: 100, After: 100}, 0, false},
		{"what was cut off", Repair{Kind: Cut, Before: 100, After: 80}, 80, true},
		{"what is behind the end of a short one", Repair{Kind: Short, Before: 100, After: 60}, 60, true},
		{"all of one that was removed", Repair{Kind: Removed, Before: 100}, 0, true},
		{"what is behind the end of a sealed one that shrank", Repair{Kind: Differs, Before: 100, After: 60}, 60, true},
		{"nothing that is known of a sealed one that grew", Repair{Kind: Differs, Before: 100, After: 160}, 0, false},
		{"all of one that is absent", Repair{Kind: Absent, Before: 100}, 0, true},
		{"nothing because of the journal", Repair{Kind: DamagedJournal, Before: 3, After: 3}, 0, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if from, lost := row.r.LostFrom(); from != row.from || lost != row.lost {
				t.Errorf("LostFrom = %d, %v; want %d, %v", from, lost, row.from, row.lost)
			}
		})
	}
	if got := (Repair{File: "a.warc.gz.open"}).Name(); got != "a.warc.gz" {
		t.Errorf("Name = %s", got)
	}
}
