// Package policy decides which calls wait at a gate, and how a gate is answered
// if no user can press a key. It reads the rules of flags and configuration,
// defines the built-in ones, and creates and saves the rule behind an answer of
// always. [rule.Decide] picks the rule for a call.
//
// It imports the events and rules of agent, and planning. Start with [Rules] and [BuiltIn].
package policy
