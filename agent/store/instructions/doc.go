// Package instructions finds the AGENTS.md that applies to a folder: the nearest
// one, if only the user can have written it. It imports nothing of replan. Start
// reading at [Find].
package instructions
