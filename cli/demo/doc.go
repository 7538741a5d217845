// Package demo provides a complete session that needs nothing installed but Go. It has a
// small project with a failing test, and a scripted model that speaks Ollama's own
// protocol. Only the model's words are scripted. In the second act they are those of a
// real model, recorded.
//
// It imports agent/ollama/ollamatest, which plays the model. Start reading at
// [Start].
package demo
