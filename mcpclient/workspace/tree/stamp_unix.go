//go:build unix

package tree

import (
	"os"

	"golang.org/x/sys/unix"
)

// stampsIn is [stampIn] for many files of a folder, in two thirds of the time. Call done in the end.
func stampsIn(in *os.Root) (stamp func(in *os.Root, name string) (Stamp, error), done func()) {
	dir, err := in.Open(".")
	if err != nil {
		return stampIn, func() {}
	}
	fd := int(dir.Fd())
	return func(_ *os.Root, name string) (Stamp, error) {
			var st unix.Stat_t
			if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				return Stamp{}, err
			}
			return Stamp{st.Size, st.Mtim.Nano()}, nil
		}, func() {
			_ = dir.Close() // it was only read
		}
}
