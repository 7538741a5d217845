// Package reply reads what a model answers: the analysis of phase 1, plans in
// JSON, in Markdown or in prose, and steps while the reply still streams. It
// repairs JSON that is nearly right and settles names and arguments that are
// written nearly as they should be.
//
// Start with [Reply], then [ReadProposal] for plans, [ReadAnalysis] for phase 1 and
// [StepStream] for streams.
//
// The package calls nobody. It imports package plan.
package reply
