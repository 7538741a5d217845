package tree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// watch is told by the kernel which files of its folders are written to.
type watch struct {
	fd      int
	folders map[int32]*folderListing
	lost    bool // the kernel told of too much at once
}

// mostWatched bounds the folders that are watched: the kernel has a limit for all programs of
// a user together.
const mostWatched = 8 << 10

// local are the file systems that only this machine writes to. So its kernel knows of each
// write: ext, XFS, Btrfs, tmpfs, F2FS, ZFS and overlays of these.
var local = []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC, 0x2fc12fc1, unix.OVERLAYFS_SUPER_MAGIC}

// newWatch watches folders below dir; nil if it cannot. Writes are known from now on.
func newWatch(dir string, folders map[string]*folderListing) *watch {
	if len(folders) > mostWatched {
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	w := &watch{fd: fd, folders: make(map[int32]*folderListing, len(folders))}
	for at, f := range folders {
		name := filepath.Join(dir, filepath.FromSlash(at))
		var system unix.Statfs_t
		if unix.Statfs(name, &system) != nil || !slices.Contains(local, int64(system.Type)) { //nolint:unconvert // narrower elsewhere
			continue
		}
		n, err := unix.InotifyAddWatch(fd, name, unix.IN_MODIFY|unix.IN_CLOSE_WRITE|unix.IN_ONLYDIR|unix.IN_DONT_FOLLOW)
		id := int32(n) //nolint:gosec // the kernel counts from 1
		if twice := w.folders[id]; err != nil || twice != nil {
			continue // twice is the same folder, mounted in two places: the kernel names one of them
		}
		w.folders[id] = f
		f.watch(w)
	}
	return w
}

// take marks the files that were written to since the last call, and reports whether all are known.
func (w *watch) take() bool {
	if w == nil || w.lost {
		return false
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(w.fd, buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return true
		case err != nil || n == 0:
			w.lost = true
			return false
		}
		for events := buf[:n]; len(events) >= unix.SizeofInotifyEvent; {
			id, kind := binary.NativeEndian.Uint32(events), binary.NativeEndian.Uint32(events[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
			if kind&unix.IN_Q_OVERFLOW != 0 {
				w.lost = true
				return false
			}
			name, _, _ := bytes.Cut(events[unix.SizeofInotifyEvent:end], []byte{0})
			w.folders[int32(id)].written(string(name)) //nolint:gosec // the kernel's own number
			events = events[end:]
		}
	}
}

// end stops the watch.
func (w *watch) end() {
	if w != nil {
		_ = unix.Close(w.fd) // nothing was written
	}
}
