// Package runner is the only part of the engine that does I/O. The screen and the
// command line talk to a [Session]: it takes commands, carries out effects of the
// run with a model and tools, and returns the results as one ordered stream of
// events. With the same engine, [Run] executes a single run for a Go program that
// brings its own tools.
//
// It imports the core, agent/policy and planning, and no store, screen, MCP or
// Ollama. Start with [Session] in session.go, then engine.go.
package runner
