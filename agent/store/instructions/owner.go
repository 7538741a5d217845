package instructions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Mode bits for who can write to a file besides its owner.
const (
	writableByAll    fs.FileMode = 0o002
	writableByOthers fs.FileMode = 0o022 // including the group
)

// Reasons to distrust a file above the workspace.
var (
	errNotOwned       = errors.New("it or its folder belongs to somebody else")
	errOthersMayWrite = errors.New("others may write to it or to its folder")
)

// holder is the owner of a file or of the process.
type holder struct{ user, group int }

// me returns the owner of the process.
func me() holder { return holder{os.Geteuid(), os.Getegid()} }

// owned reports whether a file belongs to the user or to root. Where files have
// no owners, it returns true.
func owned(info fs.FileInfo) bool {
	of, known := holderOf(info)
	return !known || of.ownedBy(me())
}

func (h holder) ownedBy(user holder) bool { return h.user == user.user || h.user == 0 }

// private reports whether the user's group has no other members. Many systems
// create such a group for each user; group-writable files are then fine.
func (h holder) private() bool { return h.user == h.group && h.user != 0 }

// ownWord returns why a file in a folder above the workspace may belong to
// another user: others can put files there.
func ownWord(folder string, repository bool) error {
	for _, path := range []string{folder, filepath.Join(folder, instructionsName)} {
		info, err := os.Stat(path)
		if err != nil {
			continue // reading the file says why
		}
		if of, known := holderOf(info); known {
			if err := of.speaksFor(me(), info.Mode(), repository); err != nil {
				return err
			}
		}
	}
	return nil
}

// speaksFor returns why a file with this holder and mode may belong to another user.
// Within a repository of the user's own, those who share it are trusted too.
func (h holder) speaksFor(user holder, mode fs.FileMode, repository bool) error {
	others := writableByOthers
	if repository || user.private() && h == user {
		others = writableByAll
	}
	switch {
	case mode&others != 0:
		return errOthersMayWrite
	case !repository && !h.ownedBy(user):
		return errNotOwned
	}
	return nil
}
