package faultdisk

import (
	"debug/dwarf"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// lines finds the lines of a program by addresses in its text.
type lines struct {
	low, high uint64 // of the text
	table     *gosym.Table

	mu    sync.Mutex // guards the fields below
	known map[uint64]string
	debug *dwarf.Data
}

// linesOf reads the line table of a program. It must have been built with -trimpath.
func linesOf(program string) (*lines, error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, table := f.Section(".text"), f.Section(".gopclntab")
	if text == nil || table == nil {
		return nil, fmt.Errorf("%s has no line table", program)
	}
	data, err := table.Data()
	if err != nil {
		return nil, err
	}
	l := &lines{low: text.Addr, high: text.Addr + text.Size, known: map[uint64]string{}}
	if l.table, err = gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr)); err != nil {
		return nil, err
	}
	l.debug, err = f.DWARF()
	return l, err
}

// stackBytes is how much of a stack is read. Our own lines are near the call.
const stackBytes = 16 << 10

// stack returns the lines of our own code that have led to the call in which a thread waits, the innermost first.
//
// Each function keeps the address of its caller's frame and, behind it, where its caller continues. The register with
// the first frame is not known, so the first pair on the stack is taken from which such a chain begins.
func (l *lines) stack(thread int) (found []string) {
	var fields []string
	for range 1000 { // until the thread waits
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", thread))
		if fields = strings.Fields(string(text)); len(fields) > 1 {
			break
		}
		runtime.Gosched()
	}
	if len(fields) < 2 {
		return nil
	}
	sp, err := strconv.ParseUint(strings.TrimPrefix(fields[len(fields)-2], "0x"), 16, 64)
	if err != nil {
		return nil
	}
	const below = 16 // on arm64, the first pair begins below the stack pointer
	sp -= below
	memory := make([]byte, stackBytes)
	memory = memory[:read(uint32(thread), sp, memory)]
	word := func(at uint64) uint64 { // at is an address
		if at < sp || at-sp > uint64(len(memory)) || uint64(len(memory))-(at-sp) < 8 { // any number may be on the stack
			return 0
		}
		return binary.LittleEndian.Uint64(memory[at-sp:])
	}
	for first := sp; first < sp+uint64(len(memory)); first += 8 {
		var chain []uint64
		frame := first
		for frame != 0 && l.isText(word(frame+8)) {
			chain = append(chain, word(frame+8))
			if next := word(frame); next > frame {
				frame = next
			} else {
				frame = 0
			}
		}
		if len(chain) < 4 {
			continue
		}
		for _, pc := range chain {
			if at := l.at(pc - 1); strings.HasPrefix(at, module) {
				found = append(found, strings.TrimPrefix(at, module))
			}
		}
		return found
	}
	return nil
}

func (l *lines) isText(pc uint64) bool { return pc >= l.low && pc < l.high }

// at returns the line of an address. In a function of ours, it is the innermost line that is ours.
func (l *lines) at(pc uint64) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.known[pc]; ok {
		return at
	}
	file, line, fn := l.table.PCToLine(pc)
	if fn != nil && strings.HasPrefix(fn.Name, module) && !strings.HasPrefix(file, module) {
		file, line = l.caller(pc)
	}
	at := fmt.Sprintf("%s:%d", file, line)
	l.known[pc] = at
	return at
}

// caller returns the innermost line of ours that calls what is inlined at an address.
func (l *lines) caller(pc uint64) (file string, line int) {
	r := l.debug.Reader()
	unit, err := r.SeekPC(pc)
	if err != nil {
		return "", 0
	}
	names, err := l.debug.LineReader(unit)
	if err != nil {
		return "", 0
	}
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == dwarf.TagCompileUnit {
			return file, line
		}
		if e.Tag != dwarf.TagSubprogram && e.Tag != dwarf.TagInlinedSubroutine {
			continue
		}
		if !l.holds(e, pc) {
			r.SkipChildren()
			continue
		}
		number, _ := e.Val(dwarf.AttrCallFile).(int64)
		at, _ := e.Val(dwarf.AttrCallLine).(int64)
		if files := names.Files(); number > 0 && int(number) < len(files) && strings.HasPrefix(files[number].Name, module) {
			file, line = files[number].Name, int(at)
		}
	}
}

// holds reports whether an address is in a function.
func (l *lines) holds(e *dwarf.Entry, pc uint64) bool {
	ranges, _ := l.debug.Ranges(e)
	for _, r := range ranges {
		if r[0] <= pc && pc < r[1] {
			return true
		}
	}
	return false
}
