// Package tui implements the full-screen interface: one Bubble Tea model that
// applies the events of a session to the same [agent.Run] as the engine. It
// draws the run in panes (chat, plan, step) and sends commands back. It imports
// the core, agent/runner, planning and themes, but no model server and no tool
// server; both reach it as events.
//
// Start with [Model] in model.go and the contract of panes in pane.go. route.go
// passes keys and the mouse to the panes, actions.go has the actions of the screen
// as a whole. Panes and dialogs are packages of their own.
package tui
