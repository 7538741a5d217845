// Package models holds the commands of replan models: they list the models of Ollama,
// pull and remove them.
//
// It imports cli/app, and agent/ollama, which talks to the server. Start reading at [New];
// pull.go draws the progress of a pull.
package models
