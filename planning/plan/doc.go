// Package plan holds the plan of a run as data: plans and steps, the tools they name, and
// their JSON. It has validation, variables, the graph of dependencies, and the difference
// between two revisions.
//
// Start with [Plan] and [Step], then [Validate] for the rules a plan must keep and
// [NewGraph] for the order of its steps. The JSON form, the codes of faults and
// the rules for variables are the contract with other programs.
//
// Everything here is a pure value. The package imports only planning/expression and
// packages of internal; every other room may import it. Package layout, below it, computes
// where the steps of a plan are drawn.
package plan
