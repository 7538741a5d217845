// Package tui implements the full-screen interface: one Bubble Tea model that
// applies the events of a session to the same [agent.Run] as the engine. It
// draws the run in panes (chat, plan, step) and sends commands back. It imports
// the core, agent/runner, planning and themes, but no model server and no tool
// server; both reach it as events.
//
// Start with [Model] in model.go, and the contract of panes in requests.go. route.go and
// mouse.go pass keys and clicks to the parts, requests.go carries out what they ask,
// actions.go joins the table of actions, and states.go says what each part is told. The
// other files are parts with data of their own, such as view.go and session.go. Panes and
// dialogs are packages.
package tui
