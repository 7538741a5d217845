// Package store holds what replan keeps on disk and what can be asked of it:
// which runs, conversations and plans there are, how long tools took, what the
// user has typed, and what a clean-up removes. [Store] implements what a session
// of replan/agent/runner needs of it.
//
// The formats of single files live below it: journals of events in
// replan/agent/store/journal, plan files in replan/agent/store/plans, and the
// instructions of a project in replan/agent/store/instructions.
//
// It imports the core (replan/agent and its session), planning and internal/wholefile; it knows
// no screen, no model and no tool. Start reading at store.go.
package store
