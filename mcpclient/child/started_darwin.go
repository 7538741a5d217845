package child

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// started returns the start time of a process, or "" if it has ended.
func started(pid int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	const zombie = 5 // SZOMB of <sys/proc.h>
	if err != nil || int(info.Proc.P_pid) != pid || info.Proc.P_stat == zombie {
		return ""
	}
	return fmt.Sprintf("%d.%06d", info.Proc.P_starttime.Sec, info.Proc.P_starttime.Usec)
}
