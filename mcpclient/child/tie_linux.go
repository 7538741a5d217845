package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// tie lets the kernel kill cmd when this program ends, however that ends. The
// signal comes when the thread that started cmd ends, so tie keeps the calling
// goroutine on its thread until the returned function is called.
func tie(cmd *exec.Cmd) func() {
	runtime.LockOSThread()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return runtime.UnlockOSThread
}
