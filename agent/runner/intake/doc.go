// Package intake holds the goals and other jobs of a session on their way to a run.
// An [Intake] is one value that moves through states, as a planner is: it says what
// to do next, and takes what came of it.
//
// It imports agent/event, agent/session and planning, starts nothing and waits for
// nothing. Start with [Intake] in intake.go.
package intake
