// Package plans holds the commands of replan plan, which are /plan in the chat: they
// create, list, show, check, run and change plans.
//
// It imports cli/app, cli/check and cli/host. Start at [New]; each file holds the
// commands of its name.
package plans
