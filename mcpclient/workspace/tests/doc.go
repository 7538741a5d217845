// Package tests holds the operators test.*: they find projects, run their tests and
// their linters, and read what the runners report.
//
// Of the workspace it imports op and tree. Start reading at run.go, which finds the
// runner of a project.
package tests
