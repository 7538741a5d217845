// Package tui implements the full-screen interface: one Bubble Tea model that
// applies the events of a session to the same [agent.Run] as the engine. It
// draws the run in panes (chat, plan, step) and sends commands back. It imports
// the core, agent/runner, planning and themes, but no model server and no tool
// server; both reach it as events.
//
// Start with [Model] in model.go, which routes. model_keys.go passes keys and clicks to the
// parts, and model_requests.go carries out what the parts ask. model_actions.go joins the
// table of actions, and model_states.go says what each part is told. The contract of panes
// is in model_requests.go. The other files are parts with data of their own. focus.go knows
// what has the keys, and pointer.go is the mouse. view.go draws the screen, and footer.go
// its last line. waiting.go is what waits for the user. session.go hears the session, and
// jobs.go what the session does beside its runs. Panes and dialogs are packages.
package tui
