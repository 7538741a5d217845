// Package tests implements the operators test.*: they find projects, run their
// tests and linters, and parse the reports of the runners.
//
// Of the workspace it imports op and tree. Start reading at projects.go, which
// finds the projects and their commands, then run.go.
package tests
