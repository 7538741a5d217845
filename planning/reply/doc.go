// Package reply reads the replies of models: the analysis of phase 1, plans in
// JSON, in Markdown or in prose, and steps while a reply still streams. It repairs
// nearly valid JSON, and settles names and arguments with small mistakes.
//
// Start with [Reply], then [ReadProposal] for plans, [ReadAnalysis] for phase 1
// and [StepStream] for streams.
//
// The package calls nobody. It imports plan and packages of internal.
package reply
