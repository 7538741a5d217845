package instructions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Who can write to a file besides its owner, as bits of its mode.
const (
	writableByAll    fs.FileMode = 0o002
	writableByOthers fs.FileMode = 0o022 // that is, by the group too
)

// Why a file above the workspace is not the user's own word.
var (
	errNotOwned       = errors.New("it or its folder belongs to somebody else")
	errOthersMayWrite = errors.New("others may write to it or to its folder")
)

// holder is to whom a file belongs, or who runs the program.
type holder struct{ user, group int }

// me is who runs the program.
func me() holder { return holder{os.Geteuid(), os.Getegid()} }

// owned reports whether a file belongs to the user or to root. It does where
// files have no owners.
func owned(info fs.FileInfo) bool {
	of, known := holderOf(info)
	return !known || of.ownedBy(me())
}

func (h holder) ownedBy(user holder) bool { return h.user == user.user || h.user == 0 }

// private reports whether the user's group is theirs alone, as many systems make
// one for each user: then all that they write may be written by the group.
func (h holder) private() bool { return h.user == h.group && h.user != 0 }

// ownWord says why what lies in a folder above the workspace may be somebody
// else's word: who can put a file there has nothing to say here.
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

// speaksFor says why a file of this holder and mode may be somebody else's word.
// Within a repository of the user's own, those who share it have a say as well.
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
