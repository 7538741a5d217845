// Package live holds the runs on the screen: the run that the user started and
// those that its model started by calls. It knows which run is under way, which
// one the plan pane shows, and the requests to the models of each.
//
// Start with [Runs]; [Run] is one of them.
//
// It imports the core and planning only. It draws nothing and knows no pane.
package live
