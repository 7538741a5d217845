package workcopy

import (
	"io/fs"
	"os"
)

// stamp identifies the state of a file without reading it. The zero stamp is that of
// a missing file.
type stamp struct {
	Mode     fs.FileMode
	Size     int64
	Modified int64 // in ns
	Changed  int64 // in ns; no program can set it
	Inode    uint64
	Link     string // the target of a link
}

// pair is the state of a file and of its copy when they were last equal.
type pair struct{ Folder, Copy stamp }

// stampOf returns the stamp of an entry. It is zero for a missing one, and for what
// is no file, folder or link.
func stampOf(root *os.Root, at string, info fs.FileInfo) stamp {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return stamp{Mode: mode & (fs.ModeDir | fs.ModePerm)}
	case mode&fs.ModeSymlink != 0:
		target, err := root.Readlink(at)
		if err != nil {
			return stamp{}
		}
		return stamp{Mode: fs.ModeSymlink, Link: target}
	case mode.IsRegular():
		s := stamp{Mode: mode.Perm(), Size: info.Size(), Modified: info.ModTime().UnixNano()}
		s.Changed, s.Inode = changed(info)
		return s
	default:
		return stamp{}
	}
}

func (s stamp) exists() bool { return s != stamp{} }
func (s stamp) isDir() bool  { return s.Mode.IsDir() }
func (s stamp) isLink() bool { return s.Mode&fs.ModeSymlink != 0 }

// look returns the stamp of a path.
func look(root *os.Root, at string) stamp {
	info, err := root.Lstat(at)
	if err != nil {
		return stamp{}
	}
	return stampOf(root, at, info)
}
