//go:build !linux

package box

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
)

const self = ""

// Supported returns an error: there are boxes only on Linux.
func Supported() (abi int, err error) {
	return 0, errors.New("a box needs Landlock, which only Linux has, not " + runtime.GOOS)
}

func lock(string) (*os.File, error) { _, err := Supported(); return nil, err }

func share(string) (*os.File, error) { _, err := Supported(); return nil, err }

func lastUser(*os.File) (bool, error) { return false, nil }

type namespaces int

const noNamespaces namespaces = 0

func (b *Box) findNamespaces() namespaces { return noNamespaces }

func (n namespaces) join(*exec.Cmd, bool) {}

func enter(orders) error { _, err := Supported(); return err }

// Description returns an error: there are boxes only on Linux.
func Description() (detail string, missing []string, err error) {
	_, err = Supported()
	return "", nil, err
}
