// Package reply reads the replies of models: the analysis of phase 1, and plans in
// JSON, in Markdown or in prose. It also reads steps while a reply still streams,
// and calls that models write as text. It repairs nearly valid JSON, and settles
// names and arguments with small mistakes.
//
// Start with [Reply], then [ReadProposal] for plans, [ReadAnalysis] for phase 1,
// [StepStream] for streams, and [ReadCalls] for calls.
//
// The package does no I/O. It imports plan and packages of internal.
package reply
