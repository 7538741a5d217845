// Package store holds the files that replan keeps on disk and the queries on them. They
// hold runs, conversations and plans, durations of tools, the input history, and clean-up.
// [Store] implements the interface that a session of replan/agent/runner needs.
//
// Subpackages implement the file formats: replan/agent/store/journal for journals
// of events, replan/agent/store/plans for plan files, and
// replan/agent/store/instructions for a project's instructions.
//
// It imports the core (replan/agent and its session), planning and
// internal/wholefile; it knows no screen, no model and no tool. Start reading at
// store.go.
package store
