package box_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"replan/mcpclient/box"
)

// target is what an attempt aims at, outside the box.
type target struct {
	Name            string
	Home, Dir       string
	Private         string // folder of the program
	Victim, Parent  int    // processes outside
	File            int    // descriptor of the parent that may write to a file in Home
	Socket, Named   string // of a server in the file system, and of an abstract one
	TCP, TCP6, UDP  string // addresses of servers that answer
	Terminal        string // its path
	TerminalFile    int    // descriptor of the parent for it
	PrivateWasThere string // text of a private file
}

func (t target) outside(name string) string { return filepath.Join(t.Home, name) }

// attempt is one way out of the box: try returns nil if it led out. Where alone says
// so, it cannot be shown to work without the box on every machine; where mounts says
// so, only a mount namespace holds it.
type attempt struct {
	name          string
	try           func(t target) error
	alone, mounts bool
}

func writeTo(path string) error {
	return os.WriteFile(path, []byte("escaped\n"), 0o644)
}

func open(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o644)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

func script(text string) func(target) error {
	return func(t target) error {
		cmd := exec.Command("sh", "-ec", text)
		cmd.Dir = t.Dir
		cmd.Env = append(os.Environ(), "OUT="+t.Home, "PRIVATE="+t.Private)
		return cmd.Run()
	}
}

func on(name string, do func(path string) error) func(target) error {
	return func(t target) error { return do(t.outside(name)) }
}

// fileAttempts change files outside by their names.
func fileAttempts() []attempt {
	return []attempt{
		{name: "write", try: on(".bashrc", writeTo)},
		{name: "append", try: on(".bashrc", func(p string) error { return open(p, unix.O_WRONLY|unix.O_APPEND) })},
		{name: "open to read and write", try: on(".bashrc", func(p string) error { return open(p, unix.O_RDWR) })},
		{name: "create", try: on("new", writeTo)},
		{name: "create upwards", try: func(target) error { return writeTo("../new") }},
		{name: "truncate", try: on(".bashrc", func(p string) error { return unix.Truncate(p, 0) })},
		{name: "truncate while opening to read", try: on(".bashrc", func(p string) error { return open(p, unix.O_RDONLY|unix.O_TRUNC) })},
		{name: "remove", try: on(".bashrc", unix.Unlink)},
		{name: "remove a folder", try: on("empty", unix.Rmdir)},
		{name: "make a folder", try: on("new", func(p string) error { return unix.Mkdir(p, 0o755) })},
		{name: "make a link", try: on("new", func(p string) error { return unix.Symlink("/etc/passwd", p) })},
		{name: "make a pipe", try: on("new", func(p string) error { return unix.Mkfifo(p, 0o644) })},
		{name: "make a node", try: on("new", func(p string) error { return unix.Mknod(p, unix.S_IFREG|0o644, 0) })},
		{name: "make a socket", try: on("new", func(p string) error {
			l, err := net.Listen("unix", p)
			if err == nil {
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				_ = l.Close()
			}
			return err
		})},
		{name: "make a device in the folder", alone: true, try: func(target) error { return unix.Mknod("dev", unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))) }},
		{name: "make a disk in the folder", alone: true, try: func(target) error { return unix.Mknod("disk", unix.S_IFBLK|0o666, int(unix.Mkdev(7, 0))) }},
		{name: "write behind a hard link", try: func(t target) error {
			if err := unix.Link(t.outside(".bashrc"), "linked"); err != nil {
				return err
			}
			return writeTo("linked")
		}},
		{name: "link a file out", try: func(t target) error { return unix.Link("inside.txt", t.outside("new")) }},
		{name: "move a file in", try: func(t target) error { return unix.Rename(t.outside(".bashrc"), "taken") }},
		{name: "move a file out", try: func(t target) error { return unix.Rename("inside.txt", t.outside(".bashrc")) }},
		{name: "move a folder in", try: func(t target) error { return unix.Rename(t.outside(".ssh"), "ssh") }},
		{name: "exchange files", try: func(t target) error {
			return unix.Renameat2(unix.AT_FDCWD, "inside.txt", unix.AT_FDCWD, t.outside(".bashrc"), unix.RENAME_EXCHANGE)
		}},
		{name: "move a file out without replacing", try: func(t target) error {
			return unix.Renameat2(unix.AT_FDCWD, "inside.txt", unix.AT_FDCWD, t.outside("new"), unix.RENAME_NOREPLACE)
		}},
		{name: "write behind a link", try: func(t target) error {
			_ = os.Symlink(t.outside(".bashrc"), "soft")
			return writeTo("soft")
		}},
		{name: "create behind a linked folder", try: func(t target) error {
			_ = os.Symlink(t.Home, "home")
			return writeTo("home/new")
		}},
		{name: "create from another working folder", try: func(t target) error { return errors.Join(os.Chdir(t.Home), writeTo("new")) }},
		{name: "unnamed file", try: func(t target) error { return open(t.Home, unix.O_TMPFILE|unix.O_RDWR) }},
		{name: "cache of the go command", try: on(".cache/go-build/00/x-d", writeTo)},
		{name: "key of ssh", try: on(".ssh/authorized_keys", writeTo)},
		{name: "shared temporary folder", try: func(target) error { return open("/tmp", unix.O_TMPFILE|unix.O_RDWR) }, alone: true},
		{name: "other temporary folder", try: func(target) error { return open("/var/tmp", unix.O_TMPFILE|unix.O_RDWR) }, alone: true},
		{name: "shared memory", try: func(target) error { return open("/dev/shm", unix.O_TMPFILE|unix.O_RDWR) }, alone: true},
		{name: "setting of the kernel", try: func(target) error { return open("/proc/sys/kernel/core_pattern", unix.O_WRONLY) }, alone: true},
		{name: "from a shell", try: script(`echo escaped > "$OUT/.bashrc"`)},
		{name: "from a session of its own", try: script(`mkfifo done; setsid sh -c 'echo escaped > "$OUT/new"; echo x > done' & cat done; test -e "$OUT/new"`)},
		{name: "from another thread", try: func(t target) error {
			done := make(chan error)
			go func() { runtime.LockOSThread(); done <- writeTo(t.outside("new")) }()
			return <-done
		}},
		{name: "from a program in memory", try: func(t target) error {
			fd, err := unix.MemfdCreate("x", 0)
			if err != nil {
				return err
			}
			if _, err := unix.Write(fd, []byte("#!/bin/sh\necho escaped > "+t.outside("new")+"\n")); err != nil {
				return err
			}
			return exec.Command("/proc/" + strconv.Itoa(os.Getpid()) + "/fd/" + strconv.Itoa(fd)).Run()
		}, alone: true},
		{name: "from a box with wider orders", try: func(t target) error {
			cmd := exec.Command("/proc/self/exe", "-c", `echo escaped > "`+t.outside("new")+`"`)
			cmd.Args[0] = "sh"
			cmd.Env = append(os.Environ(), box.EnvOrders+`={"Program":"/bin/sh","Write":["/"],"Network":true}`)
			return cmd.Run()
		}},
	}
}

// ownAttempts change or read files of the program itself, or files that git runs.
func ownAttempts() []attempt {
	return []attempt{
		{name: "configuration", try: func(t target) error { return writeTo(filepath.Join(t.Private, "config.toml")) }},
		{name: "new private file", try: func(t target) error { return writeTo(filepath.Join(t.Private, "mcp.json")) }},
		{name: "read the configuration", mounts: true, try: func(t target) error {
			text, err := os.ReadFile(filepath.Join(t.Private, "config.toml"))
			if err == nil && string(text) != t.PrivateWasThere {
				return errors.New("it is another file")
			}
			return err
		}},
		{name: "move private folder", try: func(t target) error { return unix.Rename(t.Private, filepath.Join(t.Dir, "private")) }},
		{name: "replace folder above private one", try: script(`mv "$OUT/.config" "$OUT/.config2"`)},
		{name: "configuration of git", mounts: true, try: func(target) error { return writeTo(".git/config") }},
		{name: "configuration of git from its folder", mounts: true, try: script(`cd .git && echo escaped > config`)},
		{name: "another configuration in its place", mounts: true, try: script(`echo escaped > .git/c && mv -f .git/c .git/config`)},
		{name: "remove configuration of git", mounts: true, try: func(target) error { return unix.Unlink(".git/config") }},
		{name: "write behind a hard link to it", mounts: true, try: script(`ln .git/config .git/linked && echo escaped > .git/linked`)},
		{name: "hook", mounts: true, try: func(target) error { return writeTo(".git/hooks/pre-commit") }},
		{name: "other folder of hooks", mounts: true, try: script(`mv .git/hooks .git/h`)},
		{name: "other repository in its place", mounts: true, try: script(`mv .git git && mkdir .git && echo escaped > .git/config`)},
		{name: "another folder for configuration of git", mounts: true, try: script(`mkdir .evil && cp .git/config .evil && echo ../.evil > .git/commondir && grep evil .git/commondir`)},
		{name: "configuration of the worktree", mounts: true, try: script(`echo escaped > .git/config.worktree`)},
		{name: "hook of a deep submodule", mounts: true, try: script(`mkdir -p .git/modules/a/b/c/d/hooks && echo escaped > .git/modules/a/b/c/d/hooks/post-checkout`)},
		{name: "other folder over its name", mounts: true, try: script(`mkdir other && mv -T other .git`), alone: true},
	}
}

// kernelAttempts go through processes, descriptors, mounts and namespaces.
func kernelAttempts() []attempt {
	proc := func(pid func(target) int, what string) func(target) error {
		return func(t target) error { return writeTo(fmt.Sprintf("/proc/%d/%s%s", pid(t), what, t.outside("new"))) }
	}
	self := func(target) int { return os.Getpid() }
	parent := func(t target) int { return t.Parent }
	victim := func(do func(pid int) error) func(target) error { return func(t target) error { return do(t.Victim) } }
	unshared := func(text string) func(target) error {
		return script(`unshare -Urm --propagation unchanged sh -ec '` + text + `'`)
	}
	return []attempt{
		{name: "own root in /proc", try: proc(self, "root")},
		{name: "root of the parent", try: proc(parent, "root")},
		{name: "root of another process", try: func(t target) error { return proc(func(target) int { return t.Victim }, "root")(t) }},
		{name: "working folder of the parent", try: func(t target) error { return writeTo(fmt.Sprintf("/proc/%d/cwd/escaped-test", t.Parent)) }},
		{name: "own working folder in /proc", try: func(t target) error { return writeTo("/proc/self/cwd/../new") }},
		{name: "descriptor of the parent", try: func(t target) error { return open(fmt.Sprintf("/proc/%d/fd/%d", t.Parent, t.File), unix.O_WRONLY) }},
		{name: "take a descriptor of the parent", alone: true, try: func(t target) error {
			fd, err := unix.PidfdOpen(t.Parent, 0)
			if err != nil {
				return err
			}
			_, err = unix.PidfdGetfd(fd, t.File, 0)
			return err
		}},
		{name: "inherited descriptor", try: func(t target) error {
			if to, err := os.Readlink("/proc/self/fd/3"); err != nil || to != t.outside(".bashrc") {
				return fmt.Errorf("it is %q: %w", to, errors.Join(err, unix.EBADF))
			}
			_, err := unix.Write(3, []byte("escaped"))
			return err
		}},
		{name: "reopen a descriptor", try: func(t target) error {
			fd, err := unix.Open(t.outside(".bashrc"), unix.O_PATH, 0)
			if err != nil {
				return err
			}
			return open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_WRONLY)
		}},
		{name: "open below a descriptor", try: func(t target) error {
			fd, err := unix.Open(t.Home, unix.O_PATH|unix.O_DIRECTORY, 0)
			if err != nil {
				return err
			}
			_, err = unix.Openat2(fd, ".bashrc", &unix.OpenHow{Flags: unix.O_WRONLY, Resolve: unix.RESOLVE_BENEATH})
			return err
		}},
		{name: "open by handle", alone: true, try: func(t target) error {
			handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, t.outside(".bashrc"), 0)
			if err != nil {
				return err
			}
			at, err := unix.Open(t.Home, unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			_, err = unix.OpenByHandleAt(at, handle, unix.O_WRONLY)
			return err
		}},
		{name: "chroot", alone: true, try: func(t target) error { return errors.Join(unix.Chroot(t.Home), writeTo("/new")) }},
		{name: "bind mount", alone: true, try: func(t target) error {
			return errors.Join(os.MkdirAll("m", 0o755), unix.Mount(t.Home, "m", "", unix.MS_BIND, ""), writeTo("m/new"))
		}},
		{name: "new file system", alone: true, try: func(t target) error { return unix.Mount("none", t.Private, "tmpfs", 0, "") }},
		{name: "unmount what hides", alone: true, try: func(t target) error { return unix.Unmount(t.Private, unix.MNT_DETACH) }},
		{name: "make the configuration of git writable", alone: true, try: func(target) error {
			return unix.Mount("", ".git/config", "", unix.MS_REMOUNT|unix.MS_BIND, "")
		}},
		{name: "clone a tree of mounts", alone: true, try: func(t target) error {
			fd, err := unix.OpenTree(unix.AT_FDCWD, t.Home, unix.OPEN_TREE_CLONE)
			if err != nil {
				return err
			}
			return errors.Join(os.MkdirAll("m", 0o755), unix.MoveMount(fd, "", unix.AT_FDCWD, "m", unix.MOVE_MOUNT_F_EMPTY_PATH))
		}},
		{name: "turn the root", alone: true, try: func(t target) error {
			return errors.Join(os.MkdirAll("old", 0o755), unix.PivotRoot(t.Dir, filepath.Join(t.Dir, "old")))
		}},
		{name: "bind mount in a user namespace", alone: true, try: unshared(`mkdir -p m; mount --bind "$OUT" m; echo escaped > m/new`)},
		{name: "unmount in a user namespace", alone: true, try: unshared(`umount "$PRIVATE"; cat "$PRIVATE/config.toml"`)},
		{name: "write in a user namespace", alone: true, try: unshared(`echo escaped > "$OUT/new"`)},
		{name: "mounts of the parent", alone: true, try: func(t target) error {
			fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/mnt", t.Parent), unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			runtime.LockOSThread()
			return errors.Join(unix.Unshare(unix.CLONE_FS), unix.Setns(fd, unix.CLONE_NEWNS))
		}},
		{name: "take back that nothing is gained", alone: true, try: func(target) error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) }},
		{name: "kill", try: victim(func(pid int) error { return unix.Kill(pid, unix.SIGKILL) })},
		{name: "stop the parent", try: func(t target) error { return unix.Kill(t.Parent, unix.SIGCONT) }},
		{name: "kill a thread", try: victim(func(pid int) error { return unix.Tgkill(pid, pid, unix.SIGKILL) })},
		{name: "kill by descriptor", try: victim(func(pid int) error {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return err
			}
			return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		})},
		{name: "debug", alone: true, try: victim(func(pid int) error { runtime.LockOSThread(); return unix.PtraceAttach(pid) })},
		{name: "seize", alone: true, try: victim(func(pid int) error { runtime.LockOSThread(); return unix.PtraceSeize(pid) })},
		{name: "read memory", alone: true, try: victim(func(pid int) error { return open(fmt.Sprintf("/proc/%d/mem", pid), unix.O_RDONLY) })},
		{name: "read its environment", alone: true, try: victim(func(pid int) error {
			_, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			return err
		})},
		{name: "write memory", alone: true, try: victim(func(pid int) error { return open(fmt.Sprintf("/proc/%d/mem", pid), unix.O_RDWR) })},
		{name: "write memory by call", alone: true, try: victim(func(pid int) error {
			b := []byte("x")
			_, err := unix.ProcessVMWritev(pid, []unix.Iovec{{Base: &b[0], Len: 1}}, []unix.RemoteIovec{{Base: 0x1000, Len: 1}}, 0)
			if errors.Is(err, unix.EFAULT) { // it was allowed, but nothing is there
				return nil
			}
			return err
		})},
		{name: "limits of another process", try: victim(func(pid int) error {
			return unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
		})},
		{name: "let another process be killed first", try: victim(func(pid int) error {
			return os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0)
		})},
		{name: "calls unseen by filters", alone: true, try: func(target) error {
			var params [120]byte
			_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params[0])), 0)
			return problem(errno)
		}},
		{name: "keys", alone: true, try: func(target) error {
			_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true)
			return err
		}},
		{name: "write to a terminal", try: func(t target) error { return open(t.Terminal, unix.O_WRONLY|unix.O_NOCTTY) }},
		{name: "read a terminal", try: func(t target) error { return open(t.Terminal, unix.O_RDONLY|unix.O_NOCTTY) }},
		{name: "read a terminal through its owner", try: func(t target) error {
			return open(fmt.Sprintf("/proc/%d/fd/%d", t.Parent, t.TerminalFile), unix.O_RDONLY|unix.O_NOCTTY)
		}},
		{name: "list the terminals", mounts: true, try: func(t target) error { _, err := os.Lstat(t.Terminal); return err }},
		{name: "type into a terminal", alone: true, try: func(t target) error {
			fd, err := unix.Open(t.Terminal, unix.O_RDWR|unix.O_NOCTTY, 0)
			if err != nil {
				return err
			}
			letter := byte('x')
			_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&letter)))
			return problem(errno)
		}},
		{name: "read the console", alone: true, try: func(target) error { return open("/dev/console", unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK) }},
		{name: "read a virtual terminal", alone: true, try: func(target) error { return open("/dev/tty1", unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK) }},
		{name: "read a serial line", alone: true, try: func(target) error { return open("/dev/ttyS0", unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK) }},
		{name: "read the screen", alone: true, try: func(target) error { return open("/dev/vcs", unix.O_RDONLY) }},
		{name: "read a disk", alone: true, try: func(target) error { return open("/dev/vda", unix.O_RDONLY) }},
		{name: "make a terminal", alone: true, try: func(target) error { return open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY) }},
		{name: "the terminal", alone: true, try: func(target) error { return open("/dev/tty", unix.O_WRONLY) }},
	}
}

func problem(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// socketAttempts talk to servers of the same user.
func socketAttempts() []attempt {
	return []attempt{
		{name: "server in the file system", try: func(t target) error { return answers("unix", t.Socket) }},
		{name: "abstract server", try: func(t target) error { return answers("unix", "@"+t.Named) }},
		{name: "message to a socket", try: func(t target) error {
			c, err := net.Dial("unixgram", t.Socket)
			if err == nil {
				_ = c.Close()
			}
			if errors.Is(err, unix.EPROTOTYPE) { // it was allowed, but is of another type
				return nil
			}
			return err
		}},
	}
}

// networkAttempts use the network.
func networkAttempts() []attempt {
	socket := func(family, kind, protocol int) func(target) error {
		return func(target) error { _, err := unix.Socket(family, kind, protocol); return err }
	}
	return []attempt{
		{name: "TCP", try: func(t target) error { return answers("tcp", t.TCP) }},
		{name: "TCP by IPv6", try: func(t target) error { return answers("tcp", t.TCP6) }, alone: true},
		{name: "TCP over several paths", alone: true, try: func(t target) error {
			d := net.Dialer{Timeout: time.Second}
			d.SetMultipathTCP(true)
			c, err := d.Dial("tcp", t.TCP)
			if err == nil {
				_ = c.Close()
			}
			return err
		}},
		{name: "UDP", try: func(t target) error { return answers("udp", t.UDP) }},
		{name: "packets", try: socket(unix.AF_PACKET, unix.SOCK_RAW, 0), alone: true},
		{name: "host of a virtual machine", try: socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0), alone: true},
		{name: "network of the parent", alone: true, try: func(t target) error {
			fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/net", t.Parent), unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			runtime.LockOSThread()
			return unix.Setns(fd, unix.CLONE_NEWNET)
		}},
	}
}

// answers connects to a server outside and waits for its answer.
func answers(network, address string) error {
	c, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is lost
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := c.Write([]byte("hello")); err != nil {
		return err
	}
	_, err = io.ReadFull(c, make([]byte, 5))
	return err
}
