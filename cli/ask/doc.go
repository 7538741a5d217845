// Package ask asks whoever sits at a terminal without the full screen, line by
// line: about gates, steps in doubt or failed, and plans that are held. One
// question is open at a time; what was typed before it was put answers nothing.
//
// It imports the core, agent/runner for commands, and tui/plain for words. Start
// reading at [Questions].
package ask
