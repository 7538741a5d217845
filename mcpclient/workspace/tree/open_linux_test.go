package tree_test

import (
	"strings"
	"testing"

	"replan/mcpclient/workspace/tree"
)

// A read of /proc/kmsg never returns.
func TestKernelFilesAreNotOpened(t *testing.T) {
	proc, err := tree.Open("/proc", nil, nil)
	if err != nil {
		t.Skip(err)
	}
	defer proc.Close() //nolint:errcheck // it was only read
	if _, err := proc.Load("version"); err == nil || !strings.Contains(err.Error(), "it is a file of the kernel") {
		t.Errorf("got %v", err)
	}
}
