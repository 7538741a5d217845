// Package ollama sends requests to the models of an Ollama server. It guards against cases
// that the server's own client does not handle. These are a stream that ends early, a
// prompt that is too long, and a changing context window. Another one is a model that
// thinks instead of answering.
//
// It imports planning's packages and packages of internal. Start with [Client].
package ollama
