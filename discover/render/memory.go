package render

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// pageSize is the size of a page of memory that /proc counts. A larger one of the system makes the bound tighter.
const pageSize = 4096

// memoryOf returns the private resident memory of a process and of all that descend from it, in bytes.
func memoryOf(proc string, pid int) (sum int64) {
	folders, err := filepath.Glob(filepath.Join(proc, "[0-9]*"))
	if err != nil {
		return 0
	}
	children := map[int][]int{}
	for _, dir := range folders {
		id, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue // it has ended
		}
		// The name of the program is in parentheses and may contain anything. State and parent follow it.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], id)
		}
	}
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		todo = append(todo, children[todo[0]]...)
		statm, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(todo[0]), "statm"))
		if err != nil {
			continue
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
