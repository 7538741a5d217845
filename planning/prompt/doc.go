// Package prompt writes the requests to models: of the three phases, of repairs
// and replans, of steps, of the synthesis and of the chat.
//
// Start with [Request], the value a runner sends, and [Brief], the common source
// of all requests of a run. A prompt has its stable part first, so that a server
// with a prompt cache reads it once. It is shortened on purpose to the context
// window of the model. The texts are the templates in prompts/.
//
// The package does no I/O. It imports plan, reply and packages of internal.
package prompt
