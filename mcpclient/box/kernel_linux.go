package box

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// self is this very program, even after an update has replaced its file.
const self = "/proc/self/exe"

// lock locks a folder until the file is closed or this program ends, unless another
// one has locked it.
func lock(folder string) (*os.File, error) {
	held, err := os.OpenFile(folder, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0) // #nosec G304 -- only locked
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil { // #nosec G115 -- a descriptor
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}

// share locks a file as one of several users, until it is closed.
func share(path string) (*os.File, error) {
	held, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0) // #nosec G304 -- only locked
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(held.Fd()), unix.LOCK_SH); err != nil { // #nosec G115 -- a descriptor
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}

// lastUser reports whether no other process shares a locked file, and keeps others from it.
func lastUser(held *os.File) (bool, error) {
	err := unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB) // #nosec G115 -- a descriptor
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// leastABI is the first version of Landlock that holds all changes of files.
const leastABI = 3

// Supported returns the version of Landlock that this kernel has, or an error if
// there can be no box.
func Supported() (abi int, err error) {
	abi, err = ll.LandlockGetABIVersion()
	if err != nil || abi < leastABI {
		return max(abi, 0), fmt.Errorf("a box needs Landlock with ABI %d (Linux 6.2 or later), and this kernel has %s", leastABI, describe(abi, err))
	}
	return abi, nil
}

func describe(abi int, err error) string {
	switch {
	case errors.Is(err, syscall.EOPNOTSUPP):
		return "it switched off (add landlock to the kernel's parameter lsm=)"
	case err != nil:
		return "none"
	default:
		return fmt.Sprintf("ABI %d", abi)
	}
}

// namespaces says how a child gets namespaces of its own.
type namespaces int

const (
	noNamespaces   namespaces = iota
	ownNamespaces             // as the administrator
	userNamespaces            // with a user namespace, in which the child may mount
)

// findNamespaces tries which namespaces this kernel allows.
func (b *Box) findNamespaces() namespaces {
	try := []namespaces{userNamespaces}
	if os.Geteuid() == 0 {
		try = []namespaces{ownNamespaces, userNamespaces}
	}
	for _, n := range try {
		probe, o := Box{names: n}, b.orders
		o.Mounts = true
		cmd := exec.Command(self)
		if probe.prepare(cmd, o) == nil && cmd.Run() == nil {
			return n
		}
	}
	return noNamespaces
}

// join gives a command namespaces of its own.
func (n namespaces) join(cmd *exec.Cmd, network bool) {
	if n == noNamespaces {
		return
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	attr := cmd.SysProcAttr
	attr.Cloneflags |= unix.CLONE_NEWNS
	if !network {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	if n == userNamespaces {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN}
	}
}

// enter restricts this process and becomes the program of the orders. It returns
// nil only if they name none.
func enter(o orders) error {
	runtime.LockOSThread() // never unlocked: the restrictions hold for this thread, and for the program
	if o.Mounts {
		if err := mounts(o); err != nil {
			return err
		}
		if !o.Network {
			if err := loopback(); err != nil {
				return err
			}
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := restrictFiles(o); err != nil {
		return err
	}
	if err := filterCalls(o.Network || o.Mounts); err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	// What others left open for this program is not for the next one.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close files: %w", err)
	}
	if o.Program == "" {
		return nil
	}
	return fmt.Errorf("execute it: %w", syscall.Exec(o.Program, os.Args, o.environ())) // #nosec G204 G702 -- running it is the purpose
}

// mounts hides folders and makes others fixed, in the mount namespace of this
// process. Landlock then forbids to mount.
func mounts(o orders) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to the box: %w", err)
	}
	for _, folder := range above(o.Write, slices.Concat(o.Fixed, o.Hidden)) {
		// What is mounted on cannot be renamed, to put another in its place.
		if err := unix.Mount(folder, folder, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("hold %s in place: %w", folder, err)
		}
	}
	for _, path := range o.Fixed {
		if err := fix(path); err != nil {
			return fmt.Errorf("keep %s as it is: %w", path, err)
		}
	}
	for _, folder := range o.Hidden {
		if err := unix.Mount("none", folder, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "size=4k,mode=755"); err != nil {
			return fmt.Errorf("hide %s: %w", folder, err)
		}
	}
	// The working folder may still be what lies below a mount.
	var buf [unix.PathMax]byte
	n, err := unix.Getcwd(buf[:])
	if err != nil {
		return fmt.Errorf("find the working folder: %w", err)
	}
	return os.Chdir(string(bytes.TrimRight(buf[:n], "\x00")))
}

// fix makes a file or folder read-only.
func fix(path string) error {
	if err := unix.Mount(path, path, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	var now unix.Statfs_t
	if err := unix.Statfs(path, &now); err != nil {
		return err
	}
	// What holds for the file system already must stay in a user namespace.
	kept := uintptr(now.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME) // #nosec G115 -- bits
	if now.Flags&unix.ST_RELATIME != 0 {
		kept |= unix.MS_RELATIME
	}
	return unix.Mount("", path, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|kept, "")
}

// above returns the folders between those that may be changed and the paths below
// them, outer ones first.
func above(roots, paths []string) []string {
	var out []string
	for _, path := range paths {
		for _, root := range roots {
			if !within(path, root) || path == root {
				continue
			}
			for folder := filepath.Dir(path); folder != root; folder = filepath.Dir(folder) {
				out = append(out, folder)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// loopback starts the loopback of the network namespace, for tests that serve
// themselves.
func loopback() error {
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("start the loopback: %w", err)
	}
	defer unix.Close(socket) //nolint:errcheck // nothing was written
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("start the loopback: %w", err)
	}
	return nil
}

// keptCapabilities are those of the administrator that act on files and own processes
// alone. Users have none.
var keptCapabilities = []uintptr{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_KILL, unix.CAP_NET_BIND_SERVICE,
}

// dropCapabilities takes from the program all capabilities but the kept ones.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	for c := uintptr(0); unix.Prctl(unix.PR_CAPBSET_READ, c, 0, 0, 0) == nil; c++ {
		if slices.Contains(keptCapabilities, c) {
			continue
		}
		// A user without capabilities may not do so, and can gain none either.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && (!errors.Is(err, unix.EPERM) || os.Geteuid() == 0) {
			return fmt.Errorf("drop the capability %d: %w", c, err)
		}
	}
	return nil
}

// devices are the files in /dev that programs may read and write. Terminals are not
// among them: they give the user's keys, and what is written there acts on the screen.
// Neither are keyboards, cameras, microphones and disks.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// Access rights. Devices are left out of what can be made.
const (
	reads   landlock.AccessFSSet = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir
	changes landlock.AccessFSSet = reads | ll.AccessFSWriteFile | ll.AccessFSTruncate
	makes   landlock.AccessFSSet = changes | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir |
		ll.AccessFSMakeReg | ll.AccessFSMakeFifo | ll.AccessFSMakeSym | ll.AccessFSRefer
	fileRights landlock.AccessFSSet = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
)

// restrictFiles lets this thread change only what the orders name, and send signals only
// into its box. Without a network that the namespace holds back, it can connect to
// nothing.
func restrictFiles(o orders) error {
	rules, err := readable()
	if err != nil {
		return err
	}
	for _, path := range o.Write {
		rights := makes
		if info, err := os.Stat(path); err != nil {
			return fmt.Errorf("the folder %s: %w", path, err)
		} else if !info.IsDir() {
			rights = changes & fileRights
		}
		rules = append(rules, landlock.PathAccess(rights, path))
	}
	for _, path := range devices {
		rules = append(rules, landlock.PathAccess(changes&fileRights, path).IgnoreIfMissing())
	}
	// The version has been checked; later ones hold more.
	all := landlock.V7
	cfg := landlock.Config{HandledAccessFS: all.HandledAccessFS, Scoped: all.Scoped}.BestEffort()
	if !o.Network && !o.Mounts {
		cfg.HandledAccessNet = all.HandledAccessNet
	}
	fd, flags, err := cfg.NewRulesetFD(rules...)
	if err == nil && fd < 0 {
		err = errors.New("the kernel has none")
	}
	if err == nil {
		err = ll.LandlockRestrictSelf(fd, flags)
	}
	if err != nil {
		return fmt.Errorf("restrict it with Landlock: %w", err)
	}
	return nil
}

// readable lets this thread read everything but what is in /dev.
func readable() ([]landlock.Rule, error) {
	top, err := os.ReadDir("/")
	if err != nil {
		return nil, fmt.Errorf("find what programs may read: %w", err)
	}
	rules := []landlock.Rule{landlock.PathAccess(ll.AccessFSReadDir, "/")}
	for _, entry := range top {
		path := "/" + entry.Name()
		info, err := os.Stat(path)
		switch {
		case path == "/dev" || err != nil:
		case info.IsDir():
			rules = append(rules, landlock.PathAccess(reads, path).IgnoreIfMissing())
		default:
			rules = append(rules, landlock.PathAccess(reads&fileRights, path).IgnoreIfMissing())
		}
	}
	return rules, nil
}

// Description says in a few words what this kernel has for a box.
func Description() (detail string, missing []string, err error) {
	abi, err := Supported()
	if err != nil {
		return "", nil, err
	}
	mounts := (&Box{}).findNamespaces() != noNamespaces
	detail = fmt.Sprintf("Landlock ABI %d", abi)
	if mounts {
		detail += ", namespaces"
	}
	return detail, gaps(abi, mounts), nil
}
