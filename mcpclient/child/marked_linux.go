package child

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// killMarked kills all processes with a mark, of whatever group and session. It
// does not see those that dropped the variable from their environment.
func killMarked(mark string) error {
	if mark == "" {
		return nil
	}
	entry := []byte("\x00" + MarkName + "=" + mark + "\x00")
	killed := map[int]bool{os.Getpid(): true}
	var failed error
	for found := true; found; { // until none has been forked meanwhile
		found = false
		processes, err := os.ReadDir("/proc")
		if err != nil {
			return fmt.Errorf("look for the processes of a server: %w", err)
		}
		for _, p := range processes {
			pid, err := strconv.Atoi(p.Name())
			if err != nil || killed[pid] {
				continue
			}
			environ, err := os.ReadFile("/proc/" + p.Name() + "/environ")
			if err != nil || !bytes.Contains(append([]byte{0}, environ...), entry) {
				continue // it has ended, or is another user's
			}
			killed[pid], found = true, true
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				failed = errors.Join(failed, fmt.Errorf("kill the process %d of a server: %w", pid, err))
			}
		}
	}
	return failed
}
