package config

import (
	"replan/agent/store"
)

// Folders are where a command works, and where replan keeps its files.
type Folders struct {
	Workspace string // absolute path
	Dirs      store.Dirs
}
