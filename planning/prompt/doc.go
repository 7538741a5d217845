// Package prompt writes what a model is asked: the requests of the three phases,
// of repairs and replans, of steps, of the synthesis and of the chat.
//
// Start with [Request], the value that a runner sends, and [Brief], from which
// every request of a run is made. A prompt keeps its stable part first, so that a
// server which caches prompts reads that part once, and it is shortened knowingly
// to the context window of the model. The texts are the templates in prompts/.
//
// The package calls nobody. It imports packages plan and reply.
package prompt
