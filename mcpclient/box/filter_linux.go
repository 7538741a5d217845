package box

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in what a filter sees of a system call: struct seccomp_data.
const (
	callNumber = 0
	callArch   = 4
	firstArg   = 16 // its low half on a little-endian machine
)

// Kinds of machines as the filter sees them, of linux/audit.h.
var auditArch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64, "riscv64": unix.AUDIT_ARCH_RISCV64, "loong64": unix.AUDIT_ARCH_LOONGARCH64}

// filterCalls refuses system calls that reach other programs of the user although
// Landlock holds files. These are sockets in the file system, behind which desktops,
// containers and terminals take orders. They are also limits of other processes,
// keys, and io_uring, which hides such calls. Without a network it refuses all
// sockets.
func filterCalls(network bool) error {
	arch, known := auditArch[runtime.GOARCH]
	if !known {
		return unix.ENOTSUP
	}
	// A jump goes over as many instructions as it says.
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	unless := func(k uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: skip}
	}
	result := func(k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k}
	}
	refuse := func(errno uint32) unix.SockFilter { return result(unix.SECCOMP_RET_ERRNO | errno) }
	allow := result(unix.SECCOMP_RET_ALLOW)

	p := []unix.SockFilter{
		load(callArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: arch, Jt: 1},
		result(unix.SECCOMP_RET_KILL_PROCESS), // numbers of another machine mean other calls
		load(callNumber),
		{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: 0x40000000, Jf: 1}, // x32
		refuse(uint32(unix.ENOSYS)),
	}
	for _, call := range []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY} {
		p = append(p, unless(call, 1), refuse(uint32(unix.ENOSYS)))
	}
	p = append(p, unless(unix.SYS_PRLIMIT64, 4), load(firstArg), unless(0, 1), allow, refuse(uint32(unix.EPERM)))
	p = append(p, unless(unix.SYS_SOCKET, 255), load(firstArg))
	socket := len(p) - 2
	families := []uint32{unix.AF_NETLINK}
	if network {
		families = append(families, unix.AF_INET, unix.AF_INET6)
	}
	for _, family := range families {
		p = append(p, unless(family, 1), allow)
	}
	p = append(p, refuse(uint32(unix.EACCES)), allow)
	p[socket].Jf = uint8(len(p) - 2 - socket) // #nosec G115 -- few instructions

	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}                                                                 // #nosec G115 -- as above
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog))) // #nosec G103 -- the kernel reads it
	if errno != 0 {
		return errno
	}
	return nil
}
