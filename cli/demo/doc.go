// Package demo is a whole session with nothing installed but Go: a small
// project with a failing test, and a scripted model that speaks Ollama's own
// protocol. The model's words are all that is scripted.
//
// It imports agent/ollama/ollamatest, which plays the model. Start reading at [Start].
package demo
