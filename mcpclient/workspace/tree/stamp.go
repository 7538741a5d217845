package tree

import (
	"io/fs"
	"os"
	"time"
)

// Stamp is the same for a file as long as it has not changed.
type Stamp struct {
	size    int64
	changed int64 // nanoseconds since 1970
}

// StampOf returns the stamp of a file. It is settled if each change after now would make it
// another; now is a time before the look at the file.
func StampOf(info fs.FileInfo, now time.Time) (s Stamp, settled bool) {
	return Stamp{info.Size(), info.ModTime().UnixNano()}, now.Sub(info.ModTime()) > settles
}

// stampIn returns the stamp of a file in an open folder. It does not follow a link.
func stampIn(in *os.Root, name string) (Stamp, error) {
	info, err := in.Lstat(name)
	if err != nil {
		return Stamp{}, err
	}
	s, _ := StampOf(info, time.Time{})
	return s, nil
}
