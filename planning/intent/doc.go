// Package intent reads a user's intent from a few words, without a model. Parse
// names the intent, Route the operators for it, Compose makes a graph and a plan,
// and Answer reports the results. It is pure and knows the English of short orders
// and questions. Everything else is unknown, and left to a planner. It imports
// plan, prompt and packages of internal. Start reading at [Parse].
package intent
