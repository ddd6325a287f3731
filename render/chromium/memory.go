package chromium

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// pageSize is the size of a page of memory that /proc counts. A larger one of the system makes the bound tighter.
const pageSize = 4096

// lookAgain is the number of looks after which it is read again which process started which.
const lookAgain = 20

// meter measures the memory of a process and of all that descend from it. A machine has hundreds of processes, and most
// of them are others: which process started one is read when it appears.
type meter struct {
	proc string // the folder /proc
	root int

	parents map[int]int // of the processes that the last look found
	looks   int
}

// memory returns the private resident memory in bytes.
func (m *meter) memory() (sum int64) {
	for id := range m.descendants() {
		statm, err := os.ReadFile(m.file(id, "statm"))
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(statm))
		if len(fields) < 3 {
			continue
		}
		resident, _ := strconv.ParseInt(fields[1], 10, 64)
		shared, _ := strconv.ParseInt(fields[2], 10, 64)
		sum += (resident - shared) * pageSize
	}
	return sum
}

// kill ends all these processes. Those that remain would take more memory until they notice that the others have ended.
func (m *meter) kill() {
	for id := range m.descendants() {
		if p, err := os.FindProcess(id); err == nil {
			_ = p.Kill() // it may have ended
		}
	}
}

func (m *meter) file(id int, name string) string {
	return filepath.Join(m.proc, strconv.Itoa(id), name)
}

// descendants returns the process and all that descend from it.
func (m *meter) descendants() map[int]bool {
	m.list()
	children := map[int][]int{}
	for id, parent := range m.parents {
		children[parent] = append(children[parent], id)
	}
	all := map[int]bool{m.root: true}
	for todo := []int{m.root}; len(todo) > 0; todo = todo[1:] {
		for _, id := range children[todo[0]] {
			if !all[id] {
				all[id] = true
				todo = append(todo, id)
			}
		}
	}
	return all
}

// list lists the processes of the machine.
func (m *meter) list() {
	before := m.parents
	if m.looks++; m.looks%lookAgain == 0 {
		before = nil // a number may belong to another process, and a process to another parent
	}
	m.parents = make(map[int]int, len(before))
	dir, err := os.Open(m.proc)
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1) // without the rest, the memory is only a minimum
	_ = dir.Close()                  // it was only read
	for _, name := range names {
		id, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		parent, known := before[id]
		if !known {
			parent, known = m.parentOf(id)
		}
		if known {
			m.parents[id] = parent
		}
	}
}

// parentOf returns which process started another one.
func (m *meter) parentOf(id int) (parent int, ok bool) {
	stat, err := os.ReadFile(m.file(id, "stat"))
	if err != nil {
		return 0, false // it has ended
	}
	// The name of the program is in parentheses and may contain anything. State and parent follow it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return parent, err == nil
}
