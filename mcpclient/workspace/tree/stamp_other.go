//go:build !unix

package tree

import "os"

// stampsIn is [stampIn] for many files of a folder. Call done in the end.
func stampsIn(*os.Root) (stamp func(in *os.Root, name string) (Stamp, error), done func()) {
	return stampIn, func() {}
}
