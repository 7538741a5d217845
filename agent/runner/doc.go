// Package runner is the only part of the engine that does I/O. The screen and the
// command line talk to a [Session]. It takes commands, carries out effects of the
// run with a model and tools, and returns the results as one ordered stream of
// events. With the same engine, [Run] executes a single run for a Go program that
// brings its own tools.
//
// A session routes; its parts own their data. A goal goes from runner/intake through a
// preparation (preparation.go) and the starter (starter.go) to the runs (runs.go), whose
// engine (engine.go) carries them out. Answers to gates and questions go straight to a run
// (answers.go). What the session shows of itself is its overview (overview.go).
//
// It imports the core, agent/policy and planning, and no store, screen, MCP or
// Ollama. Start with [Session] in session.go, then engine.go.
package runner
