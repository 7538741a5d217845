// Package doctor checks what replan needs from this machine: Ollama and its models,
// tool servers, language servers, git, the terminal, folders and the configuration.
// Each finding names its fix.
//
// It is a part of the command line and may import every room. Start reading at
// [Report] in report.go; each other file holds the checks of one subject.
package doctor
