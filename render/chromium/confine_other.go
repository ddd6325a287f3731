//go:build !linux

package chromium

import (
	"os/exec"
	"syscall"
)

// namespaces says that the system has no network namespaces.
const namespaces = false

func userOf(string) (*struct{}, error) { return nil, nil }

func confine(c *exec.Cmd, _ *struct{}, _ bool) { c.SysProcAttr = &syscall.SysProcAttr{} }

func isDenied(error) bool { return false }
