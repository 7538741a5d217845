// Package tests implements the operators test.*: they find projects, run their
// tests and linters, and parse the reports of the runners.
//
// Of the workspace it imports op and tree. Start reading at run.go, which
// finds the runner of a project.
package tests
