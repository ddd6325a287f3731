// Package panics turns panics of parsers into errors, so that one document cannot end the process.
package panics

import (
	"fmt"
	"runtime/debug"
)

// Error is a panic as an error.
type Error struct {
	Value any
	Stack []byte // of the goroutine
}

// Error returns the value of the panic.
func (p *Error) Error() string { return fmt.Sprintf("the program panicked: %v", p.Value) }

// Catch calls a step and returns its results, or a panic of the step as an [Error]. The step must not hold a lock that
// a panic would leave locked.
func Catch[T any](step func() (T, error)) (result T, err error) {
	defer Recover(&err)
	return step()
}

// Recover stores a panic as an [Error] in err. A function that must not end the process defers it: defer
// panics.Recover(&err). The function must not hold a lock that a panic would leave locked.
func Recover(err *error) {
	if value := recover(); value != nil {
		*err = &Error{Value: value, Stack: debug.Stack()}
	}
}
