package tree

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// errKernel means that the kernel makes the file up: a read of it may never return.
var errKernel = errors.New("it is a file of the kernel")

// OpenRegular opens a regular file for reading. It never blocks on a pipe, and
// refuses files that the kernel makes up.
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

// readRegular reads at most [MaxFile]+1 bytes of a file, so that callers notice
// larger ones.
func readRegular(root *os.Root, name string) ([]byte, error) {
	f, err := OpenRegular(root, name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	return data, errors.Join(err, f.Close())
}
