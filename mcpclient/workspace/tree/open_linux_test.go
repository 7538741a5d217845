package tree

import (
	"errors"
	"os"
	"testing"
)

// A read of /proc/kmsg never returns.
func TestKernelFilesAreNotOpened(t *testing.T) {
	root, err := os.OpenRoot("/proc")
	if err != nil {
		t.Skip(err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	if _, err := readRegular(root, "version"); !errors.Is(err, errKernel) {
		t.Errorf("got %v", err)
	}
}
