package tree

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// errKernel says that a file is none: a read of it may wait for ever.
var errKernel = errors.New("it is a window into the kernel, not a file")

// OpenRegular opens a file to be read. It waits neither for a pipe that took the
// place of a file nor for what the kernel has to say.
func OpenRegular(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|NonBlocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a folder, not a file", name)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", name)
	case ofKernel(f):
		err = fmt.Errorf("%s is not opened: %w", name, errKernel)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readRegular reads a file of at most [MaxFile] bytes, and one byte of a larger one
// more.
func readRegular(root *os.Root, name string) ([]byte, error) {
	f, err := OpenRegular(root, name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	return data, errors.Join(err, f.Close())
}
