//go:build !unix

package postgrestest

import (
	"fmt"
	"os/exec"
)

func runUnprivileged(*exec.Cmd, []string) error {
	return fmt.Errorf("tests start a server on Unix alone: %w", exec.ErrNotFound)
}
