// Package expression evaluates the conditions that a plan writes about results:
// "result.failed == 0".
//
// Start with [Compile], which reports every mistake that can be found before a run,
// then [Expression.Holds], which answers and says which values it saw. The language
// is that of github.com/expr-lang/expr without its clock, without functions whose
// order or size is not fixed, and without let and semicolons. A field that is not
// there is an error and never null, so that a mistyped name cannot make a condition hold.
//
// Everything here is pure: the same expression gives the same answer for the same values. It
// ends after a number of operations that does not depend on the machine. The package imports
// only packages of internal; planning/plan and the core may import it.
package expression
