// Package ollamatest is a scripted model behind a real HTTP server with Ollama's
// API, wire format and error shapes. The demo uses it where no Ollama is
// installed, and the tests use it too. The server does not interpret text; the
// script chooses replies by the header that says what each request is for.
//
// A [Recording] holds the replies of a real model in place of a script.
//
// It imports planning/prompt alone. Start with [Script].
package ollamatest
