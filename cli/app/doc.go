// Package app opens what the commands need: settings in force, output, the store, the
// model, tools and sessions. Commands know it by its methods alone.
//
// It imports agent, mcpclient and the parts of cli below the commands; it knows no
// command. Start at [App], then read services.go, which opens a session.
package app
